/* String instructions, repeated ones as one access of all their bytes, reads first.
   The number after an instruction is how many this thread executed before it; see string.expect. */
        .text
        .globl _start
_start:
        lea from(%rip), %rsi                            /* 0 */
        lea buf(%rip), %rdi                             /* 1 */
        cld                                             /* 2 */
        /* Single steps. */
        movsb                                           /* 3 */
        movsq                                           /* 4 */
        lodsl                                           /* 5 */
        stosw                                           /* 6 */

        /* A repeated instruction counts as one instruction. */
        lea from(%rip), %rsi                            /* 7 */
        lea buf+64(%rip), %rdi                          /* 8 */
        mov $37, %ecx                                   /* 9 */
        rep movsb                                       /* 10 */
        lea buf+128(%rip), %rdi                         /* 11 */
        mov $5, %ecx                                    /* 12 */
        rep stosq                                       /* 13 */
        /* No repetition, no access. */
        xor %ecx, %ecx                                  /* 14 */
        rep movsq                                       /* 15 */
        rep stosb                                       /* 16 */

        /* Compare: source, then destination; the sixth byte differs. */
        lea from(%rip), %rsi                            /* 17 */
        lea other(%rip), %rdi                           /* 18 */
        mov $16, %ecx                                   /* 19 */
        repe cmpsb                                      /* 20 */
        /* Equal all the way. */
        lea from(%rip), %rsi                            /* 21 */
        lea other(%rip), %rdi                           /* 22 */
        mov $4, %ecx                                    /* 23 */
        repe cmpsb                                      /* 24 */
        /* Scan: the byte 'c' is the third. */
        lea from(%rip), %rdi                            /* 25 */
        mov $'c', %eax                                  /* 26 */
        mov $16, %ecx                                   /* 27 */
        repne scasb                                     /* 28 */

        /* Downwards: the lowest address and all bytes. */
        std                                             /* 29 */
        lea buf+255(%rip), %rdi                         /* 30 */
        mov $16, %ecx                                   /* 31 */
        rep stosb                                       /* 32 */
        lea from+24(%rip), %rsi                         /* 33 */
        lea buf+312(%rip), %rdi                         /* 34 */
        mov $3, %ecx                                    /* 35 */
        rep movsq                                       /* 36 */
        cld                                             /* 37 */

        mov $60, %eax                                   /* 38 */
        xor %edi, %edi                                  /* 39 */
        syscall                                         /* 40 */

        .data
        .balign 64
        .globl from, other
from:   .ascii "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ+-"
other:  .ascii "abcdeXghijklmnop"

        .bss
        .balign 4096
        .globl buf
buf:    .skip 4096

        .section .note.GNU-stack, "", @progbits
