//! P1's programs survive a power cut in each form of theirs that flushes or goes around the caches, and not without.

use super::common::{no_clwb, workload};
use super::images::{Case, Words, an_image_fails, survives};

const FORMS: [&str; 5] = ["clflush", "clflushopt", "clwb", "demote", "nt"];

/// `clean`: it flushes nothing in vain.
const fn case(name: &'static str, args: &'static [&'static str], clean: bool) -> Case {
    Case {
        name,
        args,
        words: Words {
            run: &["--file={pool}"],
            check: "--check=yes --file={image}",
        },
        from: None,
        clean,
        images: 140,
        with_defect: 300,
    }
}

fn survives_in_each_form(case: &Case) {
    if no_clwb() {
        return;
    }
    for form in FORMS {
        survives(case, &[&format!("--form={form}")]);
    }
    an_image_fails(case, &workload(case.name).unwrap(), &["--form=none"]);
}

#[test]
fn the_array_survives_in_each_form() {
    let args = &["--elements=200", "--passes=2"];
    survives_in_each_form(&case("modes_array", args, true));
}

#[test]
fn the_queue_survives_in_each_form() {
    survives_in_each_form(&case("modes_queue", &["--elements=40"], true));
}

#[test]
fn the_table_survives_in_each_form() {
    let args = &["--elements=30", "--traversals=1"];
    survives_in_each_form(&case("modes_hash", args, true));
}

/// Two threads may flush the same published word at once: who comes first is not known before.
#[test]
fn the_list_survives_in_each_form() {
    let args = &["--mutations=100", "--length=20"];
    survives_in_each_form(&case("modes_cowlist", args, false));
}

#[test]
fn the_list_survives_in_each_form_where_a_copy_is_flushed_as_a_whole() {
    let args = &["--mutations=100", "--length=20", "--persist=tracked"];
    survives_in_each_form(&case("modes_cowlist", args, false));
}

/// A word that is known to be persistent is not flushed again.
#[test]
fn the_list_of_one_thread_flushes_nothing_in_vain() {
    let args = &["--mutations=200", "--length=20", "--threads=1"];
    survives(&case("modes_cowlist", args, true), &["--form=clflush"]);
}
