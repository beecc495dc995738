/* How many bytes are accessed where decoders' tables were wrong: SSE, MMX and AVX2.
   The number after an instruction is how many this thread executed before it; see sizes.expect. */
        .text
        .globl _start
_start:
        lea buf(%rip), %rbx                     /* 0 */
        punpcklwd 4(%rbx), %mm1                 /* 1 */
        punpckldq 8(%rbx), %mm1                 /* 2 */
        punpcklwd 16(%rbx), %xmm1               /* 3 */
        cvttps2pi 24(%rbx), %mm2                /* 4 */
        emms                                    /* 5 */
        vpslld 16(%rbx), %ymm1, %ymm2           /* 6 */
        vpsrlq 32(%rbx), %xmm1, %xmm2           /* 7 */
        vmovddup 40(%rbx), %xmm2                /* 8 */
        vmovddup 64(%rbx), %ymm2                /* 9 */
        vzeroupper                              /* 10 */
        mov %ds, 6(%rbx)                        /* 11 */

        mov $60, %eax                           /* 12 */
        xor %edi, %edi                          /* 13 */
        syscall                                 /* 14 */

        .bss
        .balign 64
        .globl buf
buf:    .skip 128
