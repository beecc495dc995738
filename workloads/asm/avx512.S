/* AVX-512: full, masked, scattered, gathered, compressed, expanded, broadcast.
   The number after an instruction is how many this thread executed before it; see avx512.expect. */
        .text
        .globl _start
_start:
        lea buf(%rip), %rbx                             /* 0 */
        vmovdqu64 %zmm0, 64(%rbx)                       /* 1 */
        vmovdqu64 60(%rbx), %zmm0                       /* 2 */
        vmovntdq %zmm0, 128(%rbx)                       /* 3 */
        vaddps 64(%rbx){1to16}, %zmm0, %zmm1            /* 4 */

        /* Masked stores: lanes 4 to 11; 0, 5, 10 and 15; 0 to 3 and 12 to 15; none. */
        mov $0x0ff0, %eax                               /* 5 */
        kmovw %eax, %k1                                 /* 6 */
        vmovdqu32 %zmm0, (%rbx){%k1}                    /* 7 */
        mov $0x8421, %eax                               /* 8 */
        kmovw %eax, %k2                                 /* 9 */
        vmovdqu32 %zmm0, (%rbx){%k2}                    /* 10 */
        mov $0xf00f, %eax                               /* 11 */
        kmovw %eax, %k3                                 /* 12 */
        vmovups %zmm0, 256(%rbx){%k3}                   /* 13 */
        kxorw %k4, %k4, %k4                             /* 14 */
        vmovdqu32 %zmm0, (%rbx){%k4}                    /* 15 */
        /* Lanes 0 to 3 and 12 to 15 of 32 bytes. */
        vmovdqu8 %ymm0, 512(%rbx){%k3}                  /* 16 */
        /* Lanes 0 and 5 of 8, 8 bytes each. */
        vmovapd %zmm0, 576(%rbx){%k2}                   /* 17 */
        /* Masked loads. */
        vmovdqu32 (%rbx), %zmm2{%k1}{z}                 /* 18 */
        vmovdqu32 (%rbx), %zmm2{%k2}                    /* 19 */
        vmovdqu32 (%rbx), %zmm2{%k4}                    /* 20 */

        /* Scatters and gathers: a lane at a time, active ones only; each clears its mask. */
        vmovdqu32 index(%rip), %zmm3                    /* 21 */
        vpscatterdd %zmm0, (%rbx,%zmm3,4){%k2}          /* 22 */
        mov $0x8003, %eax                               /* 23 */
        kmovw %eax, %k2                                 /* 24 */
        vpgatherdd 8(%rbx,%zmm3,4), %zmm4{%k2}          /* 25 */
        mov $0x81, %eax                                 /* 26 */
        kmovw %eax, %k2                                 /* 27 */
        vpscatterdq %zmm0, (%rbx,%ymm3,8){%k2}          /* 28 */

        /* Contiguous bytes for the active lanes. */
        vpcompressd %zmm0, 1024(%rbx){%k3}              /* 29 */
        vpexpandd 1024(%rbx), %zmm5{%k1}{z}             /* 30 */
        vpcompressd %zmm0, 1024(%rbx){%k4}              /* 31 */
        /* Narrowing: 16 lanes, a byte each. */
        vpmovdb %zmm0, 1100(%rbx)                       /* 32 */
        vzeroupper                                      /* 33 */

        mov $60, %eax                                   /* 34 */
        xor %edi, %edi                                  /* 35 */
        syscall                                         /* 36 */

        .data
        .balign 64
        .globl index
/* Lanes 0, 5, 10 and 15 are 100, 5, 201 and 3. */
index:  .long 100, 2, 7, 7, 7, 5, 7, 257, 7, 7, 201, 7, 7, 7, 7, 3

        .bss
        .balign 4096
        .globl buf
buf:    .skip 4096

        .section .note.GNU-stack, "", @progbits
