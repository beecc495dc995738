//! Blocks that once did something else recorded than natively, each with what was wrong.

#![allow(clippy::unwrap_used, clippy::panic)]

mod blocks;
mod common;

use blocks::{Features, Level, check_lines};

const NOTHING: [u8; 2] = [0, 0];
/// Recorded in each of these ways.
const OPTIONS: [&[&str]; 5] = [
    &[],
    &["values"],
    &["count"],
    &["count", "take=50", "period=90"],
    &["allocations", "take=50", "period=90"],
];

fn same(lines: &[&str]) {
    same_with(lines, NOTHING);
}

fn same_with(lines: &[&str], protect: [u8; 2]) {
    for options in OPTIONS {
        if let Err(failure) = check_lines(lines, protect, options) {
            panic!("{failure}");
        }
    }
}

/// Programs that leave gs alone have it at 0.
#[test]
fn gs_by_the_instruction_pointer() {
    same(&["xorl %gs:arena+12286(%rip), %r11d"]);
}

#[test]
fn gs_and_a_register() {
    same(&[
        "mov $arena+500, %edx",
        "mov %gs:7(%rdx), %rbx",
        "add %rbx, %gs:77(%rdx)",
    ]);
}

#[test]
fn gs_and_half_a_register() {
    same(&["mov $arena+500, %edx", "adcl %gs:-117(%edx), %ebp"]);
}

#[test]
fn gs_of_a_string_instruction() {
    same(&["mov $arena+500, %esi", "gs lodsw"]);
}

/// Thread storage by what a full register cannot be added to, or where all that hold its base are used.
#[test]
fn thread_storage_by_odd_addresses() {
    same(&["mov $16, %edx", "adcl %fs:8(%edx), %ebp"]);
    // The linker makes it 24 less where the next instruction is.
    same(&["xorl %fs:0(%rip), %r11d", ".reloc .-4, R_X86_64_PC32, 20"]);
    same(&["xor %esi, %esi", "lock cmpxchg16b %fs:local@tpoff(%rsi)"]);
}

/// A load that faults leaves its register alone, also where the recorder adds the segment's base.
#[test]
fn registers_of_loads_by_fs_that_fault() {
    same(&[
        ".pushsection skips, \"a\"; .quad 1f, 2f; .popsection",
        "movabs $0x8000123456789abc, %rdx",
        "1:",
        "mov %fs:8(%rdx), %rax",
        "2:",
    ]);
}

/// What the processor says of segments is of the program's.
#[test]
fn bases_of_segments() {
    if Features::at(Level::Sse).is_some_and(|f| f.has("fsgsbase")) {
        same(&["rdfsbase %rax", "sub %fs:0, %rax", "rdgsbase %rbx"]);
        same(&["rdfsbase %eax", "sub %fs:0, %eax", "rdgsbase %ebx"]);
    }
}

/// Whoever jumps to a trace trusts that it overwrites the flags; bit tests leave some alone.
#[test]
fn flags_behind_hot_jumps() {
    same(&["movabs $arena+16382, %rbx", "btr %r15w, -8970(%rbx)"]);
}

/// Where the bit lies is in a register: the operand's own address may be anybody's.
#[test]
fn bits_far_from_their_operand() {
    same(&[
        "movabs $arena+8191, %r12",
        "mov $-633, %rcx",
        "btr %cx, 8271(%r12)",
    ]);
    same(&[
        "mov $arena, %r12d",
        "mov $8000, %ecx",
        "lock bts %rcx, -992(%r12)",
    ]);
}

/// bt and its like leave the zero flag alone, and on processors there are the others too.
#[test]
fn flags_that_bit_tests_leave_alone() {
    same(&[
        "cmp %eax, %eax",
        "btl $1, arena(%rip)",
        "jmp 1f",
        "1:",
        "setz %al",
    ]);
    same(&[
        "cmp %eax, %eax",
        "mov arena(%rip), %rbx",
        "btc %r14d, %r13d",
    ]);
}

/// What comes behind may never run: flags that it overwrites are seen by the handler.
#[test]
fn flags_where_a_handler_sees_them() {
    let ud2 = [
        ".pushsection skips, \"a\"; .quad 1f, 2f; .popsection",
        "mov arena(%rip), %rbx",
        "1:",
        "ud2",
        "2:",
        "sub $16, %rsp",
    ];
    same(&ud2);
    let page = [
        "mov arena(%rip), %rbx",
        "mov %rcx, arena+8192(%rip)",
        "mov $1, %r11",
        "sub $16, %rsp",
    ];
    same_with(&page, [2, 0]);
}

/// A load that faults has not written its register yet, however its address was made.
#[test]
fn registers_of_loads_that_fault() {
    for load in ["cvttsd2si", "mov", "movslq"] {
        same_with(&[&format!("{load} arena+8192(%rip), %rbx")], [2, 0]);
        same_with(&[&format!("{load} arena+8192(%eip), %rbx")], [2, 0]);
    }
}

/// Half of the register counts, whatever is in the other.
#[test]
fn jumps_on_half_a_register() {
    same(&[
        "movabs $0x500000000, %rcx",
        "jecxz 1f",
        "lock notl arena(%rip)",
        "1:",
    ]);
    same(&[
        "movabs $0x500000000, %rcx",
        "jrcxz 1f",
        "lock notl arena(%rip)",
        "1:",
    ]);
    same(&[
        "movabs $0x700000003, %rcx",
        "1:",
        "incl arena+64(%rip)",
        "addr32 loop 1b",
    ]);
}

/// Scope count has no record for what is known only behind an instruction, in windows neither.
#[test]
fn counted_strings_that_end_early() {
    same(&[
        "mov $arena+6929, %edi",
        "mov $125, %ecx",
        "repe scasw",
        "lea 7(%rip), %rax",
        "fnstenv arena(%rip)",
    ]);
}

/// A system call leaves where it returns to, and the flags, in registers.
#[test]
fn registers_behind_system_calls() {
    same(&["mov $4000, %eax", "syscall", "mov %rcx, arena(%rip)"]);
}

/// What the processor says of itself is the same.
#[test]
fn processor_information() {
    same(&["xor %eax, %eax", "cpuid"]);
    same(&["xor %ecx, %ecx", "xgetbv"]);
}

/// Where the last x87 instruction lay is known to those who ask.
#[test]
fn address_of_the_last_x87_instruction() {
    same(&[
        "flds arena(%rip)",
        "fnstenv arena+64(%rip)",
        "fldenv arena+64(%rip)",
    ]);
}

/// They use the first four registers, and the address needs a fifth.
#[test]
fn stack_pointer_of_wide_exchanges_that_fault() {
    same_with(&["lock cmpxchg8b arena+8192(%rip)"], [2, 0]);
    same_with(&["lock cmpxchg16b arena+8192(%rip)"], [2, 0]);
}

/// Executed in a stub, where fs is the recorder's: the store goes astray.
#[test]
fn unknown_opcodes_by_fs() {
    if Features::at(Level::Avx512).is_some_and(|f| f.has("avx512_vbmi2")) {
        same(&["vpcompressb %zmm7, %fs:local@tpoff+64{%k5}"]);
    }
}

/// Encoded anew, they asked for a broadcast, which they do not have: an illegal instruction.
#[test]
fn wide_ciphers_by_the_instruction_pointer() {
    let Some(features) = Features::at(Level::Avx512) else {
        eprintln!("SKIPPED: this processor has no AVX-512");
        return;
    };
    if features.has("vaes") {
        same(&[
            "vaesenc arena+3648(%rip), %zmm21, %zmm3",
            "vaesenclast arena+200(%rip), %ymm21, %ymm30",
            "vaesdec arena+3648(%rip), %xmm4, %xmm17",
            "vaesdeclast arena+64(%rip), %zmm30, %zmm30",
        ]);
    }
    if features.has("vpclmulqdq") {
        same(&[
            "vpclmulqdq $0x11, arena+3617(%rip), %zmm25, %zmm19",
            "vpclmulqdq $1, arena+64(%rip), %ymm1, %ymm28",
        ]);
    }
}

/// The handler of a breakpoint is told of where the program is.
#[test]
fn breakpoints() {
    same(&[
        ".pushsection skips, \"a\"; .quad 1f, 1f; .popsection",
        "mov arena(%rip), %rbx",
        "int3",
        "1:",
        "sub $16, %rsp",
    ]);
}
