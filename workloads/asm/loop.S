/* A loop of 100 trips with strided stores: instructions 2 to 601 are its trips, six each; see loop.expect. */
        .text
        .globl _start
_start:
        lea buf(%rip), %rdx                             /* 0 */
        xor %ecx, %ecx                                  /* 1 */
trip:
        movq %rcx, (%rdx)                               /* 2 + 6 i */
        movl 4(%rdx), %eax                              /* 3 + 6 i */
        add $24, %rdx                                   /* 4 + 6 i */
        inc %ecx                                        /* 5 + 6 i */
        cmp $100, %ecx                                  /* 6 + 6 i */
        jne trip                                        /* 7 + 6 i */

        mov $60, %eax                                   /* 602 */
        xor %edi, %edi                                  /* 603 */
        syscall                                         /* 604 */

        .bss
        .balign 4096
        .globl buf
buf:    .skip 4096

        .section .note.GNU-stack, "", @progbits
