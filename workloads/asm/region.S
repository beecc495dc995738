/* Source region markers, nested; a NOP with another displacement is none.
   The number after an instruction is how many this thread executed before it; see region.expect. */
/* The markers of prestore_region.h: nopl disp32(%rax). */
        .macro LONG_NOP displacement
        .byte 0x0f, 0x1f, 0x80
        .long \displacement
        .endm
        .macro REGION_BEGIN id
        LONG_NOP 0x50530000 | 1 << 12 | \id
        .endm
        .macro REGION_END id
        LONG_NOP 0x50530000 | 2 << 12 | \id
        .endm

        .text
        .globl _start
_start:
        lea buf(%rip), %rbx                             /* 0 */
        movl $1, (%rbx)                                 /* 1 */
        REGION_BEGIN 1                                  /* 2 */
        movl $2, 4(%rbx)                                /* 3 */
        REGION_BEGIN 4095                               /* 4 */
        movl $3, 8(%rbx)                                /* 5 */
        REGION_END 4095                                 /* 6 */
        REGION_END 1                                    /* 7 */
        /* Neither a begin nor an end. */
        LONG_NOP 0x50530001                             /* 8 */
        LONG_NOP 0x12341001                             /* 9 */
        REGION_BEGIN 0                                  /* 10 */
        REGION_END 0                                    /* 11 */
        movl $4, 12(%rbx)                               /* 12 */

        mov $60, %eax                                   /* 13 */
        xor %edi, %edi                                  /* 14 */
        syscall                                         /* 15 */

        .bss
        .balign 4096
        .globl buf
buf:    .skip 4096

        .section .note.GNU-stack, "", @progbits
