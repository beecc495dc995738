/* A byte-masked non-temporal store: an event for each run of selected bytes.
   The number after an instruction is how many this thread executed before it; see maskmovdqu.expect. */
        .text
        .globl _start
_start:
        lea buf(%rip), %rdi                             /* 0 */
        /* Bytes 1 to 3 and 8 to 15. */
        movdqa mask(%rip), %xmm1                        /* 1 */
        maskmovdqu %xmm1, %xmm0                         /* 2 */
        sfence                                          /* 3 */

        mov $60, %eax                                   /* 4 */
        xor %edi, %edi                                  /* 5 */
        syscall                                         /* 6 */

        .data
        .balign 64
        .globl mask
mask:   .byte 0, -1, -1, -1, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1

        .bss
        .balign 4096
        .globl buf
buf:    .skip 4096

        .section .note.GNU-stack, "", @progbits
