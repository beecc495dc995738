/* AVX-512: displacements of one byte, in units of what is accessed, where decoders' tables were wrong.
   The number after an instruction is how many this thread executed before it; see displacements.expect. */
        .text
        .globl _start
_start:
        lea buf(%rip), %rbx                                     /* 0 */
        /* vmovq 40(%rbx), %xmm17 and back, as some compilers make it. */
        .byte 0x62, 0xe1, 0xfe, 0x08, 0x7e, 0x4b, 0x05          /* 1 */
        .byte 0x62, 0xe1, 0xfd, 0x08, 0xd6, 0x4b, 0x06          /* 2 */
        vpmaddwd 64(%rbx), %zmm17, %zmm18                       /* 3 */
        vpmaddwd 96(%rbx), %ymm17, %ymm18                       /* 4 */
        vpmaddwd 48(%rbx), %xmm17, %xmm18                       /* 5 */
        vpermpd $27, 128(%rbx), %zmm18                          /* 6 */
        vpermpd $27, 96(%rbx), %ymm18                           /* 7 */
        vpermpd $27, 40(%rbx){1to8}, %zmm18                     /* 8 */
        vgf2p8affineqb $3, 40(%rbx){1to8}, %zmm17, %zmm18       /* 9 */
        vgf2p8affineinvqb $3, 72(%rbx){1to4}, %ymm17, %ymm18    /* 10 */
        vgf2p8affineqb $3, 64(%rbx), %zmm17, %zmm18             /* 11 */
        vinserti64x4 $1, 32(%rbx), %zmm17, %zmm18               /* 12 */
        vpsllw 16(%rbx), %zmm17, %zmm18                         /* 13 */
        vpsllw $3, 64(%rbx), %zmm18                             /* 14 */
        vmovddup 40(%rbx), %xmm18                               /* 15 */
        vmovddup 64(%rbx), %zmm18                               /* 16 */
        vzeroupper                                              /* 17 */

        mov $60, %eax                                           /* 18 */
        xor %edi, %edi                                          /* 19 */
        syscall                                                 /* 20 */

        .bss
        .balign 64
        .globl buf
buf:    .skip 256
