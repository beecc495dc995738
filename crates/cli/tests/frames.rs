//! What code keeps in its frame is no data, however it is addressed; a buffer on the stack is.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{advise_with, c_program, finding, findings};

/// Without optimisation each local lives in the frame, and each use of one is a load or a store.
const LOCALS: &str = r#"
static long spin(long n)
{
    long a = 1, b = 2, c = 3;
    for (long i = 0; i < n; i++) {
        a = a + b;
        if (a & 1)
            b = b ^ c;
        c = c + i;
    }
    return a + b + c;
}

static long fill_buffer(void)
{
    char buffer[1 << 20];
    for (int i = 0; i < 1 << 20; i++)
        buffer[i] = (char)i;
    return buffer[4711];
}

int main(void)
{
    return (spin(500000) + fill_buffer()) & 1;
}
"#;

#[test]
fn locals_at_the_frame_pointer_are_no_data_and_a_buffer_on_the_stack_is() {
    let folder = tempfile::tempdir().unwrap();
    for flags in [&["-O0"][..], &["-O0", "-fomit-frame-pointer"]] {
        let program = c_program(folder.path(), "locals", LOCALS, flags);
        let everything = ["--threshold", "min_store_share=0"];
        let report = advise_with(&everything, &program, &[]);
        let spins = findings(&report).iter().any(|f| f["function"] == "spin");
        assert!(!spins, "{flags:?}: {report:#}");
        let buffer = finding(&report, "fill_buffer");
        assert_eq!(buffer["store_bytes"], 1 << 20, "{flags:?}: {buffer:#}");
    }
}
