/* Addresses in rax where a block begins with live flags: what saves the flags must not be taken for the address.
   The number after an instruction is how many this thread executed before it; see flags.expect. */
        .text
        .globl _start
_start:
        lea buf(%rip), %rax                             /* 0 */
        xor %ecx, %ecx                                  /* 1 */
        cmp $1, %ecx                                    /* 2: carry is set, zero is not */
        jmp 1f                                          /* 3 */
1:      movl $7, 8(%rax)                                /* 4 */
        movl %ecx, 16(%rax)                             /* 5 */
        jc 2f                                           /* 6 */
        movl $1, 24(%rax)
2:      mov 8(%rax), %edx                               /* 7 */
        adc %rcx, 32(%rax)                              /* 8 */
        mov $60, %eax                                   /* 9 */
        xor %edi, %edi                                  /* 10 */
        syscall                                         /* 11 */

        .bss
        .balign 4096
        .globl buf
buf:    .skip 4096

        .section .note.GNU-stack, "", @progbits
