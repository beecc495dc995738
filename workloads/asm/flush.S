/* Write-backs, demotion and fences.
   The number after an instruction is how many this thread executed before it; see flush.expect. */
        .text
        .globl _start
_start:
        lea buf(%rip), %rbx                             /* 0 */
        movq $1, (%rbx)                                 /* 1 */
        clflush (%rbx)                                  /* 2 */
        movq $2, 64(%rbx)                               /* 3 */
        clflushopt 64(%rbx)                             /* 4 */
        movq $3, 128(%rbx)                              /* 5 */
        clwb 128(%rbx)                                  /* 6 */
        sfence                                          /* 7 */
        movq $4, 192(%rbx)                              /* 8 */
        /* A NOP on processors that lack it. */
        cldemote 192(%rbx)                              /* 9 */
        mfence                                          /* 10 */
        movq 192(%rbx), %rax                            /* 11 */
        lfence                                          /* 12 */
        pause                                           /* 13 */

        mov $60, %eax                                   /* 14 */
        xor %edi, %edi                                  /* 15 */
        syscall                                         /* 16 */

        .bss
        .balign 4096
        .globl buf
buf:    .skip 4096

        .section .note.GNU-stack, "", @progbits
