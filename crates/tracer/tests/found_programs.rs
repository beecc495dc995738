//! Programs of our own with what once made real ones do something else recorded than natively.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{cc, native, recorder, same, scratch, str};

/// flex waits for a filter behind the standard output that it has closed.
#[test]
fn pipes_that_a_program_has_closed() {
    same(&[], &[cc("closed", &[])]);
}

#[test]
fn senders_of_signals() {
    same(&[], &[cc("senders", &[])]);
}

/// What a program may open, and is told that it may, is what it set, in its children and in what it executes too.
#[test]
fn limits_on_files() {
    same(&[], &[cc("limited", &["-pthread"])]);
}

/// GCL, and so maxima, asks for memory byte by byte.
#[test]
fn breaks_within_a_page() {
    same(&[], &[cc("breaks", &[])]);
}

/// Generated code may fill its memory up to the last byte.
#[test]
fn the_last_bytes_of_a_mapping() {
    let program = cc("last_bytes", &[]);
    for options in [&[][..], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// GCL's images have their heap where the break begins.
#[test]
fn where_the_break_begins() {
    for flags in [&["-pie"][..], &["-no-pie"]] {
        same(&[], &[cc("break_begins", flags)]);
    }
}

/// The engine kept 4 MB there that could be written, and room for no more than 60.
#[test]
fn behind_the_break() {
    for flags in [&["-pie"][..], &["-no-pie"], &["-static-pie"], &["-static"]] {
        same(&[], &[cc("behind_the_break", flags)]);
    }
}

/// They were taken for those with the same numbers in 64-bit programs.
#[test]
fn calls_by_interrupt() {
    let program = cc("by_interrupt", &["-no-pie", "-pthread"]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// They were repeated for ever, or faulted.
#[test]
fn restartable_sequences() {
    let program = cc("restartable", &["-O1", "-pthread"]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

#[test]
fn data_aligned_to_more_than_a_page() {
    for flags in [&["-pie", "-fPIE"][..], &["-no-pie"]] {
        same(&[], &[cc("aligned_data", flags)]);
    }
}

/// A program did not begin whose first segment asks for more than there is room for.
#[test]
fn segments_with_any_alignment() {
    let program = fs::read(cc("plain", &["-pie"])).unwrap();
    let word = |at: usize| u64::from_le_bytes(program[at..at + 8].try_into().unwrap());
    let headers = usize::try_from(word(32)).unwrap();
    let first = (headers..)
        .step_by(56)
        .find(|&at| program[at..at + 4] == [1, 0, 0, 0]) // PT_LOAD
        .unwrap();
    let folder = scratch();
    for bits in [30, 40, 47, 63] {
        let path = folder.path().join(bits.to_string());
        let mut other = program.clone();
        other[first + 48..first + 56].copy_from_slice(&(1_u64 << bits).to_le_bytes());
        fs::write(&path, other).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        same(&[], &[path]);
    }
}

/// Thread sanitizers do so: the recorder's buffers lay there.
#[test]
fn gaps_that_are_closed() {
    for options in [&[][..], &["values"]] {
        same(options, &[cc("closes_gaps", &["-pthread"])]);
    }
}

/// The engine finds memory where the program has none left, and the program what it may have.
#[test]
fn limits_on_memory() {
    let program = cc("little_memory", &[]);
    for way in ["data", "space"] {
        same(&[], &[str(&program), way]);
    }
}

/// The engine took nineteen for each thread, most of them to find its own errors: of 6,000 threads that ran natively 3,300 could
/// be recorded, then the program was ended for want of memory.
#[test]
fn many_mappings() {
    let program = cc("many_mappings", &["-pthread"]);
    for options in [&[][..], &["count"]] {
        let facts = same(options, &[str(&program), "13"]);
        assert!(facts.notes.is_empty(), "{facts:?}");
    }
}

#[test]
fn more_mappings_than_there_may_be() {
    let program = cc("many_mappings", &["-pthread"]);
    let (said, facts) = recorder(&[], &[str(&program), "3"]).run();
    if said.stdout.contains("no limit") {
        eprintln!("SKIPPED: too many mappings may be made to reach the limit soon");
        return;
    }
    // The mapping too many may have been one that the program itself asked for.
    let refused = facts.status == "exit status: 3";
    let told = said.stderr.contains("raise it (sysctl vm.max_map_count=");
    assert!(refused || told, "{said:?} {facts:?}");
    assert!(
        facts.stores() > 10_000,
        "what came before is kept: {facts:?}"
    );
}

/// The engine's descriptors look closed.
#[test]
fn descriptors_that_look_open() {
    same(&[], &[cc("looks_open", &[])]);
}

/// The recorder's own flag was in it.
#[test]
fn personalities() {
    same(&[], &[cc("personalities", &["-pthread"])]);
}

/// Where the processor has transactions; else the program says so both times.
#[test]
fn transactions() {
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&cc("transactions", &["-pthread"]))]);
    }
}

/// What such a heap holds is written down where it can be read, not page by page of a terabyte.
#[test]
fn reserved_heaps() {
    for options in [&[][..], &["values"]] {
        same(options, &[cc("reserved", &[])]);
    }
}

/// With values, all of it was gone through page by page, which took a second for each gigabyte.
#[test]
fn memory_opened_at_once() {
    let program = cc("opened", &["-O1"]);
    for options in [&[][..], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// With values, the child went through all of it.
#[test]
fn sparse_memory() {
    let program = cc("sparse", &[]);
    for options in [&[][..], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// With values, as much memory as the program had spoken of was looked through.
#[test]
fn numbers_that_are_refused() {
    let program = cc("refused_numbers", &[]);
    for options in [&[][..], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// glibc's posix_spawn() makes its children so since 2.38.
#[test]
fn children_without_handlers() {
    same(&[], &[cc("cleared_handlers", &[])]);
}

/// The base of FS, which is the engine's libraries' as well.
#[test]
fn children_with_a_base_of_their_own() {
    for options in [&[][..], &["count"]] {
        same(options, &[cc("child_bases", &[])]);
    }
}

/// Errors were returned as if they were none.
#[test]
fn closing_in_ranges() {
    same(&[], &[cc("close_ranges", &[])]);
}

/// With the processor's flag AC, which holds for all that the thread executes.
#[test]
fn accesses_that_are_checked() {
    let program = cc("aligned", &[]);
    for options in [
        &[][..],
        &["count"],
        &["values"],
        &["skip=100000", "take=50000"],
    ] {
        same(options, &[str(&program)]);
    }
}

/// With all that a handler is told of it.
#[test]
fn what_is_no_instruction() {
    same(&[], &[cc("no_instruction", &[])]);
}

/// The processor is behind one, and within what is inserted there, when its handler is called.
#[test]
fn breakpoints() {
    let program = cc("breakpoints", &[]);
    let traps = native(&[str(&program), "traps"]).status.code() != Some(77);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
        if traps {
            same(options, &[str(&program), "traps"]);
        }
    }
    if !traps {
        eprintln!("SKIPPED: icebp: this virtual machine has it trap before and not behind itself");
    }
}

/// Those that the engine refuses itself, those that the processor does, and a transaction whose way out
/// is out of the code cache's reach.
#[test]
fn illegal_instructions() {
    let program = cc("illegal_instructions", &[]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// No path, and none that ends; the same of arguments and environment.
#[test]
fn arguments_that_cannot_be_read() {
    for options in [&[][..], &["count"]] {
        same(options, &[cc("executes_nothing", &[])]);
    }
}

/// Bad ones were taken for good ones, and good ones had the base of what lies somewhere else.
#[test]
fn selectors_of_segments() {
    let program = cc("selectors", &["-O1", "-fno-stack-protector"]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// The engine took them for one round, which leaves rcx alone, and the recorder had its own there.
#[test]
fn repeated_with_the_other_prefix() {
    let program = cc("repeats_by_f2", &[]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// The engine's change to them stored four bytes of FS and GS, or eight.
#[test]
fn stored_selectors() {
    let program = cc("stored_selectors", &["-no-pie"]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// They were the recorder's.
#[test]
fn selectors_that_are_pushed() {
    let program = cc("pushes_selector", &["-O1", "-fno-stack-protector"]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// What has no place in the engine's tables became something else with a register in place of the instruction pointer, or ended
/// the engine.
#[test]
fn odd_encodings() {
    let program = cc("encodings", &["-O1", "-no-pie"]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// Openings in the address space: who maps something there only if nothing is, and who takes back what is his.
#[test]
fn mappings_that_replace_nothing() {
    let program = cc("openings", &["-pthread"]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program)]);
    }
}

/// A kernel's own test of `clone3` asks for them, some of which made the engine crash.
#[test]
fn sizes_of_clone3() {
    let program = cc("clone3_sizes", &["-O1"]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program)]);
    }
}

/// Nothing of what is mapped shared is fetched by being mapped.
#[test]
fn files_that_nobody_has_touched() {
    let program = cc("untouched_files", &["-O1"]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// With operands by FS and GS, too.
#[test]
fn odd_encodings_by_segments() {
    let program = cc("segment_encodings", &["-O1", "-no-pie"]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// What changes a library's run path appends its tables of names to the file: those of many Python wheels are such.
#[test]
fn tables_of_names_in_late_segments() {
    let tables = "-Wl,--hash-style=gnu,--section-start=.gnu.hash=0x100000,--section-start=.dynsym=0x101000,\
                  --section-start=.dynstr=0x102000";
    let library = cc("late_names_library", &["-shared", "-fPIC", tables]);
    let program = cc("late_names", &["-ldl"]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program), str(&library)]);
    }
}

/// With values, what memory held was read, which asked for pages that the program did not touch: of the thread that would have provided them.
#[test]
fn pages_that_a_program_provides() {
    let program = cc("userfault", &["-O1", "-pthread"]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}
