/* Direct stores.
   The number after an instruction is how many this thread executed before it; see movdir64b.expect. */
        .text
        .globl _start
_start:
        lea buf(%rip), %rbx                             /* 0 */
        lea from(%rip), %rsi                            /* 1 */
        mov $42, %eax                                   /* 2 */
        movdiri %eax, 64(%rbx)                          /* 3 */
        movdiri %rax, 72(%rbx)                          /* 4 */
        movdir64b (%rsi), %rbx                          /* 5 */
        sfence                                          /* 6 */

        mov $60, %eax                                   /* 7 */
        xor %edi, %edi                                  /* 8 */
        syscall                                         /* 9 */

        .data
        .balign 64
        .globl from
from:   .skip 64, 7

        .bss
        .balign 4096
        .globl buf
buf:    .skip 4096

        .section .note.GNU-stack, "", @progbits
