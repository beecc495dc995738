//! What cannot be checked is said.

use super::*;

#[test]
fn what_cannot_be_checked_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let source = other_ways("at[0] = 1;");
    let program = c_program(folder.path(), "input", &source, &[]);
    let dir = record(folder.path(), &program, &["--no-allocations"]);
    let unknown = ["does not know mapped files", "record again"];
    run(["crash", text(&dir)]).exits(2).says(&unknown);
    run(["crash", text(&dir), "--image", "pool"])
        .exits(2)
        .says(&unknown);
    let range = ["crash", text(&dir), "--image", "0x100000000000+4K"];
    run(range).exits(0);

    let part = ["--scope", "functions", "--function", "use"];
    let dir = record(folder.path(), &program, &part);
    run(["crash", text(&dir)])
        .exits(2)
        .says(&["chosen functions", "record all of it again"]);
    let dir = record(folder.path(), &program, &["--take", "1M"]);
    run(["crash", text(&dir)])
        .exits(2)
        .says(&["windows or regions"]);

    let dir = record(folder.path(), &program, &["--values"]);
    let all = ["--image", "0x0-0xffffffffffffffff", "--check", "true"];
    run(["crash", text(&dir)].into_iter().chain(all))
        .exits(2)
        .says(&["more than 16 GiB", "0xFIRST+SIZE"]);

    let dir = record(folder.path(), &program, &[]);
    let wrong = |image: &str, parts: &[&str]| {
        run(["crash", text(&dir), "--image", image])
            .exits(2)
            .says(parts);
    };
    wrong("other", &["no file of this name", "it mapped", "pool"]);
    wrong(
        "0x1000-0x2000",
        &["neither stored nor flushed", "from this recording"],
    );
    wrong("0x1000", &["no range of addresses", "0xFIRST+SIZE"]);
    wrong("0x2000-0x1000", &["holds no byte"]);
    wrong("", &["needs a name"]);
    for (one, other) in [
        ("allocate", "allocate"),
        ("0x100000000000+64", "0x100000000000+4K"),
        ("fixed", "0x100000000000+64"),
    ] {
        run(["crash", text(&dir), "--image", one, "--image", other])
            .exits(2)
            .says(&["is another --image's already"]);
    }
    // As recordings were before files were known: the manifest's checksum does not fit then.
    let manifest = dir.join("manifest.json");
    let known = fs::read_to_string(&manifest).unwrap();
    let older = known.replace("\"mapped_files\": true", "\"mapped_files\": false");
    assert_ne!(known, older);
    fs::write(&manifest, older).unwrap();
    run(["crash", text(&dir), "--lenient"])
        .exits(2)
        .says(&unknown);

    let plain = c_program(folder.path(), "plain", "int main(void) { return 0; }", &[]);
    let dir = record(folder.path(), &plain, &[]);
    let nothing = ["mapped no file", "--image", "MAP_SHARED"];
    run(["crash", text(&dir)]).exits(2).says(&nothing);
    run(["crash", text(&folder.path().join("none"))])
        .exits(2)
        .says(&["is not a trace"]);
}
