/* Four threads: the first starts three more with clone, all do work whose amount differs by thread, and the first waits
   for the others with one futex call each, so its instruction count does not depend on timing.
   A started thread's instruction 0 is the one after the system call that made it. See threads4.expect. */
        .set SYS_clone, 56
        .set SYS_exit, 60
        .set SYS_futex, 202
        .set SYS_exit_group, 231
        /* VM FS FILES SIGHAND THREAD SYSVSEM PARENT_SETTID CHILD_CLEARTID */
        .set CLONE_FLAGS, 0x350f00

        .text
        .globl _start
_start:
        /* r15 is the thread's number, here and in the threads started. */
        mov $1, %r15d                                   /* first thread: 0 */
spawn:
        mov $SYS_clone, %eax                            /* 1 + 14 (t - 1) */
        mov $CLONE_FLAGS, %edi                          /* 2 + 14 (t - 1) and so on */
        imul $4096, %r15, %rsi
        add $stacks, %rsi
        lea tids(,%r15,4), %rdx
        mov %rdx, %r10
        xor %r8d, %r8d
        syscall
        test %eax, %eax                                 /* first thread: 9 + 14 (t - 1); started thread: 0 */
        jz work                                         /* started thread: 1 */
        movl %eax, started(,%r15,4)                     /* 11 + 14 (t - 1) */
        inc %r15d
        cmp $4, %r15d
        jne spawn                                       /* 14 + 14 (t - 1) */
        xor %r15d, %r15d                                /* 43 */

        /* Thread t stores and loads 3 + t words of its own, then counts itself. */
work:
        imul $256, %r15, %rbx                           /* first thread: w = 44; started thread: w = 2 */
        add $buf, %rbx                                  /* w + 1 */
        lea 3(%r15), %ecx                               /* w + 2 */
word:
        movq %rcx, (%rbx)                               /* w + 3 + 5 i */
        movq (%rbx), %rax                               /* w + 4 + 5 i */
        add $8, %rbx                                    /* w + 5 + 5 i */
        dec %ecx                                        /* w + 6 + 5 i */
        jnz word                                        /* w + 7 + 5 i */
        mfence                                          /* e = w + 3 + 5 (3 + t) */
        lock incl counter(%rip)                         /* e + 1 */
        test %r15d, %r15d                               /* e + 2 */
        jz join                                         /* e + 3 */
        mov $SYS_exit, %eax                             /* e + 4 */
        xor %edi, %edi                                  /* e + 5 */
        syscall                                         /* e + 6 */

join:
        mov $1, %r15d                                   /* 66 */
wait:
        mov $SYS_futex, %eax                            /* 67 + 9 (t - 1) */
        lea tids(,%r15,4), %rdi
        /* FUTEX_WAIT; returns at once if the thread has ended already. */
        xor %esi, %esi
        movl started(,%r15,4), %edx                     /* 70 + 9 (t - 1) */
        xor %r10d, %r10d
        syscall
        inc %r15d
        cmp $4, %r15d
        jne wait                                        /* 75 + 9 (t - 1) */
        mov $SYS_exit_group, %eax                       /* 94 */
        xor %edi, %edi                                  /* 95 */
        syscall                                         /* 96 */

        .bss
        .balign 4096
        .globl buf, tids, started, counter
buf:    .skip 4096
tids:   .skip 16
started: .skip 16
counter: .skip 64
        .balign 4096
        .skip 4096
stacks: .skip 3 * 4096

        .section .note.GNU-stack, "", @progbits
