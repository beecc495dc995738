//! What must end, ends; and what cannot be recorded says so.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{cc, recorder, same, str};

/// A forked child tidies up after the threads that only its parent has: it must leave their files
/// alone, into which they write on.
#[test]
fn forks_while_other_threads_record() {
    let program = cc("forks_in_threads", &[]);
    for options in [&[][..], &["count"], &["skip=100000", "take=50000"]] {
        let facts = same(options, &[str(&program), "no timer"]);
        assert_eq!(facts.status, "exit status: 0", "{options:?}");
        assert_eq!(facts.torn, 0, "{options:?}: {facts:?}");
        assert!(facts.processes.len() > 40, "{options:?}: {facts:?}");
    }
}

#[test]
fn setting_gs_is_refused_with_a_message() {
    let program = cc("gs_base", &[]);
    for options in [&[][..], &["count"]] {
        let (said, facts) = recorder(options, &[str(&program)]).run();
        assert_eq!(said.stdout, "before\n", "{said:?}");
        assert!(said.stderr.contains("ARCH_SET_GS"), "{said:?}");
        assert!(said.stderr.contains("run it without prestore"), "{said:?}");
        assert_eq!(said.stderr.lines().count(), 1, "{said:?}");
        assert_eq!(facts.status, "exit status: 3", "{facts:?}");
    }
}
