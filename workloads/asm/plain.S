/* Scalar loads and stores, stack operations, read-modify-writes, atomics.
   The number after an instruction is how many this thread executed before it; see plain.expect. */
        .text
        .globl _start
_start:
        lea stack_top(%rip), %rsp                       /* 0 */
        lea buf(%rip), %rbx                             /* 1 */

        /* Stores, then loads, of 1, 2, 4 and 8 bytes. */
        movb $1, (%rbx)                                 /* 2 */
        movw $2, 2(%rbx)                                /* 3 */
        movl $3, 4(%rbx)                                /* 4 */
        movq $4, 8(%rbx)                                /* 5 */
        movb (%rbx), %al                                /* 6 */
        movzwl 2(%rbx), %ecx                            /* 7 */
        movl 4(%rbx), %edx                              /* 8 */
        movq 8(%rbx), %rsi                              /* 9 */
        movabs buf, %eax                                /* 10 */
        /* Across a line boundary: still one event. */
        movq %rsi, 60(%rbx)                             /* 11 */
        /* Address operands that are not accesses. */
        lea 100(%rbx), %rdi                             /* 12 */
        nopl 64(%rbx)                                   /* 13 */
        prefetcht0 (%rbx)                               /* 14 */

        /* The stack. */
        push %rsi                                       /* 15 */
        pop %rdi                                        /* 16 */
        call leaf                                       /* 17 */
        push 8(%rbx)                                    /* 21 */
        pop 16(%rbx)                                    /* 22 */
        call *pointer(%rip)                             /* 23 */
        push %rbp                                       /* 27 */
        mov %rsp, %rbp                                  /* 28 */
        sub $64, %rsp                                   /* 29 */
        leave                                           /* 30 */

        /* Reads that write registers or flags only. */
        cmpq $0, 8(%rbx)                                /* 31 */
        testb $1, (%rbx)                                /* 32 */
        cmovz 8(%rbx), %rax                             /* 33 */
        setc 1(%rbx)                                    /* 34 */

        /* Read-modify-writes that are not atomic. */
        addl $5, 4(%rbx)                                /* 35 */
        incq 8(%rbx)                                    /* 36 */
        negb (%rbx)                                     /* 37 */
        xaddl %edx, 4(%rbx)                             /* 38 */

        /* Atomic ones: xchg needs no prefix, and a failed exchange is one too. */
        xchg %rax, 8(%rbx)                              /* 39 */
        lock addl $1, 4(%rbx)                           /* 40 */
        lock xaddw %cx, 2(%rbx)                         /* 41 */
        lock decb (%rbx)                                /* 42 */
        lock btsl $3, 4(%rbx)                           /* 43 */
        mov $-1, %rax                                   /* 44 */
        lock cmpxchgq %rcx, 16(%rbx)                    /* 45 */
        lock cmpxchg16b 32(%rbx)                        /* 46 */

        mov $60, %eax                                   /* 47 */
        xor %edi, %edi                                  /* 48 */
        syscall                                         /* 49 */


leaf:
        push $7
        add $8, %rsp
        ret

        .data
        .balign 8
        .globl pointer
pointer: .quad leaf

        .bss
        .balign 4096
        .globl buf
buf:    .skip 4096

        .globl stack_top
        .skip 4096
stack_top:

        .section .note.GNU-stack, "", @progbits
