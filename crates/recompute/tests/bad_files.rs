//! Files that are not what the loop needs: a clear error, and nothing is overwritten.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use prestore_recompute::kernels::{Gauss, Granularity, Tmm};
use prestore_recompute::{
    Array, Arrays, Dependence, Durability, Error, File, Kernel, Medium, Memory, Nest, Options,
    Order, Report, Scheme, Session, State,
};

const OPTIONS: Options = Options {
    scheme: Scheme::Recompute,
    workers: 1,
};

fn tmm() -> Tmm {
    Tmm::new(32, 16, Granularity::Ii)
}

fn open<'k, K: Kernel>(
    kernel: &'k K,
    path: &Path,
    options: Options,
) -> Result<Session<'k, K, File>, Error> {
    Session::on_file(kernel, path, options, Durability::Flush)
}

/// The error, when the file is left as it was.
#[track_caller]
fn refused<K: Kernel>(kernel: &K, path: &Path, options: Options) -> Error {
    let before = fs::read(path).ok();
    let Err(error) = open(kernel, path, options) else {
        panic!("not refused");
    };
    assert!(fs::read(path).ok() == before, "the file was changed");
    let others: Vec<_> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    assert!(
        others.iter().all(|other| other == path),
        "left behind: {others:?}"
    );
    error
}

fn finished(path: &Path) -> Vec<f32> {
    let kernel = tmm();
    let mut session = open(&kernel, path, OPTIONS).unwrap();
    session.run().unwrap();
    session.read(Tmm::RESULT)
}

#[test]
fn a_finished_run_is_found_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop");
    let result = finished(&path);
    let before = fs::read(&path).unwrap();
    let kernel = tmm();
    let mut session = open(&kernel, &path, OPTIONS).unwrap();
    assert_eq!(session.state(), State::Finished);
    let expected = Report {
        was_finished: true,
        resumed_at: 2,
        ..Report::default()
    };
    assert_eq!(session.run().unwrap(), expected);
    assert_eq!(session.read::<f32>(Tmm::RESULT), result);
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn another_programs_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop");
    let needs = Session::<Tmm, File>::needs(&tmm(), OPTIONS).unwrap();
    for content in [
        b"precious data, longer than eight bytes".to_vec(),
        vec![b'x'; needs],
        // Nor is one of zeros ours: ours get their name when they are begun.
        vec![0; needs],
    ] {
        fs::write(&path, content).unwrap();
        let error = refused(&tmm(), &path, OPTIONS);
        assert!(
            matches!(error, Error::Foreign(_) | Error::TooSmall { .. }),
            "{error}"
        );
    }
}

#[test]
fn a_file_that_was_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop");
    finished(&path);
    let whole = fs::read(&path).unwrap();
    for size in [0, 1, 7, 8, 100, 128, 4096, whole.len() - 1] {
        fs::write(&path, &whole[..size]).unwrap();
        let error = refused(&tmm(), &path, OPTIONS);
        assert!(
            matches!(error, Error::TooSmall { has, needs, .. } if has == size as u64 && needs == whole.len() as u64),
            "{size}: {error}"
        );
    }
}

#[test]
fn a_header_that_is_torn_or_of_another_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop");
    finished(&path);
    let whole = fs::read(&path).unwrap();
    for at in 8..128 {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        let error = refused(&tmm(), &path, OPTIONS);
        match at {
            8..12 => assert!(
                matches!(error, Error::Version { known: 1, .. }),
                "{at}: {error}"
            ),
            _ => assert!(matches!(error, Error::Damaged(_)), "{at}: {error}"),
        }
    }
}

#[test]
fn progress_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop");
    for (scheme, at) in [("R", 256), ("L", 256), ("L", 320), ("CP", 192)] {
        let options = Options {
            scheme: scheme.parse().unwrap(),
            workers: 1,
        };
        let kernel = tmm();
        open(&kernel, &path, options).unwrap().run().unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes[128] = 0; // not finished
        bytes[384] = 1; // and in a transaction
        bytes[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        fs::write(&path, &bytes).unwrap();
        let error = open(&kernel, &path, options).unwrap().run().unwrap_err();
        assert!(matches!(error, Error::Damaged(_)), "{scheme}: {error}");
        fs::remove_file(&path).unwrap();
    }
}

/// Results that are none are worse than none.
#[test]
fn a_loop_that_is_not_finished_though_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop");
    for scheme in ["R", "HRx2", "L"] {
        let options = Options {
            scheme: scheme.parse().unwrap(),
            workers: 2,
        };
        let kernel = tmm();
        open(&kernel, &path, options).unwrap().run().unwrap();
        let whole = fs::read(&path).unwrap();
        // The mark itself, and each worker's progress: as it is begun, and in the middle.
        for (at, word) in [(128, 2u64), (128, u64::MAX), (256, 0), (448, 2), (448, 0)] {
            let mut bytes = whole.clone();
            bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
            fs::write(&path, &bytes).unwrap();
            let error = refused(&kernel, &path, options);
            assert!(matches!(error, Error::Damaged(_)), "{scheme} {at}: {error}");
            assert!(error.to_string().contains("marked as finished"), "{error}");
        }
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn another_loops_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop");
    finished(&path);
    let with = |scheme: &str, workers| Options {
        scheme: scheme.parse().unwrap(),
        workers,
    };
    let (panels, tiles) = (tmm(), Tmm::new(32, 16, Granularity::Jj));
    for error in [
        refused(&Gauss::new(8, 2), &path, OPTIONS),
        refused(&tiles, &path, OPTIONS),
        refused(&Tmm::new(64, 16, Granularity::Ii), &path, OPTIONS),
        refused(&panels, &path, with("L", 1)),
        refused(&panels, &path, with("HRx2", 1)),
        refused(&panels, &path, with("R", 2)),
    ] {
        let said = error.to_string();
        assert!(matches!(error, Error::Other { .. }), "{said}");
        assert!(
            said.contains(
                "it was begun by tmm_ii (2 iterations of 2 regions, scheme R, workers: 1)"
            ),
            "{said}"
        );
    }
}

#[test]
fn two_processes_on_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop");
    let kernel = tmm();
    let first = open(&kernel, &path, OPTIONS).unwrap();
    // A lock belongs to an open file: it is as if another process came.
    assert!(matches!(refused(&kernel, &path, OPTIONS), Error::InUse(_)));
    drop(first);
    assert_eq!(open(&kernel, &path, OPTIONS).unwrap().state(), State::Begun);
}

/// A loop of any size, to ask for too much.
struct Huge(usize);

// SAFETY: it is never run.
unsafe impl Kernel for Huge {
    type Scratch = ();

    fn nest(&self) -> Nest {
        Nest {
            name: "huge".to_string(),
            outer: 1,
            arrays: vec![Array::output(self.0, 1 << 20, self.0, 1 << 20)],
            dependence: Dependence::Fresh,
            order: Order::Apart,
        }
    }

    fn init<M: Medium>(&self, _: &Arrays<'_, M>) {}

    fn reset<M: Medium>(&self, _: &Arrays<'_, M>, _: usize) {}

    fn step<M: Medium>(&self, _: &Arrays<'_, M>, (): &mut (), _: usize, _: usize) {}
}

#[test]
fn a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop");
    // A petabyte.
    let error = refused(&Huge(1 << 30), &path, OPTIONS);
    assert!(
        matches!(error, Error::Full { needs, .. } if needs > 1 << 50),
        "{error}"
    );
    assert!(!path.exists());
    assert!(matches!(
        Memory::flushed(1 << 50),
        Err(Error::NoMemory { needs }) if needs == 1 << 50
    ));
    // And what no memory holds: the arrays, or a log of them for every worker.
    let logs = Options {
        scheme: Scheme::Logging,
        workers: 4096,
    };
    assert!(matches!(
        refused(&Huge(1 << 38), &path, logs),
        Error::Description { .. }
    ));
    assert!(matches!(
        refused(&Huge(1 << 60), &path, OPTIONS),
        Error::Description { .. }
    ));
}

#[test]
fn places_that_are_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = tmm();
    for path in [
        folder.path(),
        Path::new("/dev/null"),
        &folder.path().join("no/such/folder"),
    ] {
        let Err(error) = open(&kernel, path, OPTIONS) else {
            panic!("{path:?} was taken");
        };
        assert!(
            matches!(error, Error::File { .. } | Error::Foreign(_)),
            "{error}"
        );
    }
}

#[test]
fn descriptions_that_contradict_themselves() {
    let nest = tmm().nest();
    let with = |change: &dyn Fn(&mut Nest)| {
        let mut nest = nest.clone();
        change(&mut nest);
        struct Described(Nest);
        // SAFETY: it is never run.
        unsafe impl Kernel for Described {
            type Scratch = ();
            fn nest(&self) -> Nest {
                self.0.clone()
            }
            fn init<M: Medium>(&self, _: &Arrays<'_, M>) {}
            fn reset<M: Medium>(&self, _: &Arrays<'_, M>, _: usize) {}
            fn step<M: Medium>(&self, _: &Arrays<'_, M>, (): &mut (), _: usize, _: usize) {}
        }
        Session::<Described, Memory>::needs(&Described(nest), OPTIONS)
    };
    assert!(with(&|_| {}).is_ok());
    let wrong: [&dyn Fn(&mut Nest); 7] = [
        &|nest| nest.name.clear(),
        &|nest| nest.outer = 0,
        &|nest| nest.arrays.truncate(2),
        &|nest| nest.arrays.push(Array::output(3, 8, 1, 8)),
        &|nest| nest.arrays.push(Array::output(32, 8, 0, 8)),
        &|nest| nest.arrays[2] = nest.arrays[2].clone().in_phase(2, 1),
        &|nest| nest.dependence = Dependence::Fresh,
    ];
    for change in wrong {
        assert!(matches!(with(change), Err(Error::Description { .. })));
    }
}
