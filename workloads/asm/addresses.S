/* Accesses whose place depends on more than their operand says.
   The number after an instruction is how many this thread executed before it; see addresses.expect. */
        .text
        .globl _start
_start:
        /* The direction flag is set in one block and used in another. */
        lea buf+255(%rip), %rdi                         /* 0 */
        mov $16, %ecx                                   /* 1 */
        std                                             /* 2 */
        jmp 1f                                          /* 3 */
1:      rep stosb                                       /* 4 */
        cld                                             /* 5 */
        jmp 1f                                          /* 6 */
1:      lea buf+512(%rip), %rdi                         /* 7 */
        mov $8, %ecx                                    /* 8 */
        rep stosb                                       /* 9 */

        /* A pop computes its target's address with the stack pointer behind what it popped. */
        lea stack_top(%rip), %rsp                       /* 10 */
        push %rax                                       /* 11 */
        popq -24(%rsp)                                  /* 12 */
        push %rax                                       /* 13 */
        popw 2(%rsp)                                    /* 14 */
        lea stack_top(%rip), %rsp                       /* 15 */

        /* A bit's number may lead away from the operand, backwards too. */
        lea buf+1024(%rip), %rbx                        /* 16 */
        mov $63, %ecx                                   /* 17 */
        btq %rcx, (%rbx)                                /* 18 */
        mov $64, %ecx                                   /* 19 */
        btsq %rcx, (%rbx)                               /* 20 */
        mov $-1, %ecx                                   /* 21 */
        lock btrl %ecx, 8(%rbx)                         /* 22 */
        mov $0xffef, %ecx                               /* 23 */
        btcw %cx, (%rbx)                                /* 24 */
        btsl $9, (%rbx)                                 /* 25 */

        mov $60, %eax                                   /* 26 */
        xor %edi, %edi                                  /* 27 */
        syscall                                         /* 28 */

        .bss
        .balign 4096
        .globl buf, stack_top
buf:    .skip 4096
        .skip 4096
stack_top:
        .skip 64

        .section .note.GNU-stack, "", @progbits
