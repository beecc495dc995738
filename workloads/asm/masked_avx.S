/* AVX masked moves and AVX2 gathers: only the active lanes are accessed.
   The number after an instruction is how many this thread executed before it; see masked_avx.expect. */
        .text
        .globl _start
_start:
        lea buf(%rip), %rbx                             /* 0 */
        /* Lanes 0, 1, 4 and 7. */
        vmovdqu mask(%rip), %ymm1                       /* 1 */
        vmaskmovps %ymm0, %ymm1, (%rbx)                 /* 2 */
        vpmaskmovd (%rbx), %ymm1, %ymm2                 /* 3 */
        /* Lanes 1 and 2 of four, 8 bytes each. */
        vmovdqu mask_wide(%rip), %ymm3                  /* 4 */
        vmaskmovpd %ymm0, %ymm3, 64(%rbx)               /* 5 */
        vpxor %xmm4, %xmm4, %xmm4                       /* 6 */
        /* No lane at all. */
        vmaskmovps %xmm0, %xmm4, 128(%rbx)              /* 7 */
        /* A gather clears its mask, lane by lane. */
        vmovdqu index(%rip), %ymm5                      /* 8 */
        vpgatherdd %ymm1, (%rbx,%ymm5,4), %ymm6         /* 9 */
        vzeroupper                                      /* 10 */

        mov $60, %eax                                   /* 11 */
        xor %edi, %edi                                  /* 12 */
        syscall                                         /* 13 */

        .data
        .balign 64
        .globl mask, mask_wide, index
mask:   .long -1, -1, 0, 0, -1, 0, 0, -1
mask_wide: .quad 0, -1, -1, 0
index:  .long 10, 0, 5, 6, 100, 8, 9, 2

        .bss
        .balign 4096
        .globl buf
buf:    .skip 4096

        .section .note.GNU-stack, "", @progbits
