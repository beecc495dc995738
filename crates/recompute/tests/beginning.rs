//! A loop's file while it is being begun: what another has there stays, and what a crash leaves is begun again.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use prestore_recompute::kernels::{Granularity, Tmm};
use prestore_recompute::{Durability, Error, File, Memory, Options, Scheme, Session, State};

const OPTIONS: Options = Options {
    scheme: Scheme::Recompute,
    workers: 1,
};

/// What begins a file of ours until the loop has begun in it.
const UNFINISHED: &[u8; 8] = b"PRSTBEGN";

fn tmm() -> Tmm {
    Tmm::new(32, 16, Granularity::Ii)
}

fn needs() -> usize {
    Session::<Tmm, File>::needs(&tmm(), OPTIONS).unwrap()
}

fn open<'k>(kernel: &'k Tmm, path: &Path) -> Result<Session<'k, Tmm, File>, Error> {
    Session::on_file(kernel, path, OPTIONS, Durability::Flush)
}

fn expected() -> Vec<f32> {
    let kernel = tmm();
    let mut session = Session::open(&kernel, Memory::new(needs()), OPTIONS, "memory").unwrap();
    session.run().unwrap();
    session.read(Tmm::RESULT)
}

/// The loop is begun there, and ends as it should.
#[track_caller]
fn begins(path: &Path) {
    let kernel = tmm();
    let mut session = open(&kernel, path).unwrap();
    assert_eq!(session.state(), State::New);
    session.run().unwrap();
    assert_eq!(session.read::<f32>(Tmm::RESULT), expected());
    drop(session);
    assert_eq!(fs::read(path).unwrap().len(), needs());
}

#[track_caller]
fn refused(path: &Path) -> Error {
    let Err(error) = open(&tmm(), path) else {
        panic!("{path:?} was taken");
    };
    error
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn what_is_beside_it_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (path, beside) = (folder.path().join("loop"), folder.path().join("loop.begin"));
    begins(&path);
    let complete = fs::read(&path).unwrap();
    for content in [
        complete,
        b"precious data".to_vec(),
        [vec![0; 8], b"precious data".to_vec()].concat(),
        vec![0; needs()],
        Vec::new(),
    ] {
        fs::remove_file(&path).unwrap();
        fs::write(&beside, &content).unwrap();
        begins(&path);
        assert!(fs::read(&beside).unwrap() == content);
        assert_eq!(names(folder.path()), ["loop", "loop.begin"]);
    }
}

#[test]
fn a_finished_loop_of_a_name_like_that() {
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("loop.begin");
    begins(&first);
    begins(&folder.path().join("loop"));
    let kernel = tmm();
    assert_eq!(open(&kernel, &first).unwrap().state(), State::Finished);
}

/// All that a crash leaves: the word alone, and with all or a part of the rest behind it.
#[test]
fn what_was_not_completed_is_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop");
    for (len, fill) in [
        (0, 0),
        (1, 0xff),
        (100, 0xff),
        (needs() - 8, 0),
        (needs() - 8, 0xff),
        // It may have been another loop that was to begin there.
        (3 * needs(), 0xff),
    ] {
        fs::write(&path, [UNFINISHED.to_vec(), vec![fill; len]].concat()).unwrap();
        begins(&path);
        assert_eq!(names(folder.path()), ["loop"]);
    }
    // Before it has its name.
    fs::remove_file(&path).unwrap();
    let pid = std::process::id();
    for number in 0..3 {
        fs::write(
            folder.path().join(format!(".prestore-loop-{pid}-{number}")),
            "",
        )
        .unwrap();
    }
    begins(&path);
    assert_eq!(names(folder.path()).len(), 4);
}

#[test]
fn what_only_looks_like_it_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop");
    let word = UNFINISHED.to_vec();
    let mut contents: Vec<_> = (0..8).map(|len| word[..len].to_vec()).collect();
    for at in 0..8 {
        let mut near = [word.clone(), vec![0; needs() - 8]].concat();
        near[at] ^= 1;
        contents.push(near);
    }
    for content in contents {
        fs::write(&path, &content).unwrap();
        let error = refused(&path);
        assert!(
            matches!(error, Error::Foreign(_) | Error::TooSmall { .. }),
            "{error}"
        );
        assert!(fs::read(&path).unwrap() == content);
        assert_eq!(names(folder.path()), ["loop"]);
    }
}

#[test]
fn another_process_is_beginning_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop");
    fs::write(&path, UNFINISHED).unwrap();
    let other = fs::File::open(&path).unwrap();
    other.lock().unwrap();
    assert!(matches!(refused(&path), Error::InUse(_)));
    assert_eq!(fs::read(&path).unwrap(), UNFINISHED);
    other.unlock().unwrap();
    begins(&path);
}

#[test]
fn names_that_lead_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let (link, target) = (folder.path().join("link"), folder.path().join("target"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let error = refused(&link);
    assert!(matches!(error, Error::File { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("a symbolic link to a file that is not there"),
        "{error}"
    );
    assert_eq!(names(folder.path()), ["link"]);
    // A link to a loop is as good as its name.
    begins(&target);
    let kernel = tmm();
    assert_eq!(open(&kernel, &link).unwrap().state(), State::Finished);
    let error = refused(Path::new(""));
    assert!(matches!(error, Error::NoName), "{error}");
    // The longest name that there can be.
    begins(&folder.path().join("x".repeat(255)));
    assert!(matches!(
        refused(&folder.path().join("x".repeat(256))),
        Error::File { .. }
    ));
}
