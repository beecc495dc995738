/* SSE and AVX loads and stores, cached and non-temporal.
   The number after an instruction is how many this thread executed before it; see vector.expect. */
        .text
        .globl _start
_start:
        lea buf(%rip), %rbx                             /* 0 */

        /* 16 bytes and less. */
        movups %xmm0, 4(%rbx)                           /* 1 */
        movaps %xmm0, 16(%rbx)                          /* 2 */
        movdqu 4(%rbx), %xmm1                           /* 3 */
        movaps 16(%rbx), %xmm1                          /* 4 */
        movss %xmm0, 32(%rbx)                           /* 5 */
        movsd %xmm0, 40(%rbx)                           /* 6 */
        movss 32(%rbx), %xmm1                           /* 7 */
        movsd 40(%rbx), %xmm1                           /* 8 */
        movlps %xmm0, 48(%rbx)                          /* 9 */
        movhps %xmm0, 56(%rbx)                          /* 10 */
        movhps 56(%rbx), %xmm1                          /* 11 */
        movd %xmm0, 64(%rbx)                            /* 12 */
        movq %xmm0, 72(%rbx)                            /* 13 */
        addps 16(%rbx), %xmm0                           /* 14 */
        addsd 40(%rbx), %xmm0                           /* 15 */
        cvtsi2sdl 64(%rbx), %xmm0                       /* 16 */
        pinsrw $1, 2(%rbx), %xmm0                       /* 17 */
        pextrd $1, %xmm0, 80(%rbx)                      /* 18 */
        pmovzxbw 8(%rbx), %xmm0                         /* 19 */

        /* 32 bytes. */
        vmovups %ymm0, 100(%rbx)                        /* 20 */
        vmovaps %ymm0, 128(%rbx)                        /* 21 */
        vmovdqu 100(%rbx), %ymm1                        /* 22 */
        vaddps 128(%rbx), %ymm0, %ymm1                  /* 23 */
        vbroadcastss 4(%rbx), %ymm1                     /* 24 */
        vbroadcastf128 16(%rbx), %ymm1                  /* 25 */
        vextractf128 $1, %ymm1, 160(%rbx)               /* 26 */

        /* Non-temporal. */
        movnti %eax, 256(%rbx)                          /* 27 */
        movnti %rax, 264(%rbx)                          /* 28 */
        movntdq %xmm0, 272(%rbx)                        /* 29 */
        movntps %xmm0, 288(%rbx)                        /* 30 */
        vmovntdq %ymm0, 320(%rbx)                       /* 31 */
        movntdqa 16(%rbx), %xmm1                        /* 32 */
        vzeroupper                                      /* 33 */

        mov $60, %eax                                   /* 34 */
        xor %edi, %edi                                  /* 35 */
        syscall                                         /* 36 */

        .bss
        .balign 4096
        .globl buf
buf:    .skip 4096

        .section .note.GNU-stack, "", @progbits
