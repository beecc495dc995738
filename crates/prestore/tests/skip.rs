//! Skipping writes put the same bytes at the same places as ordinary ones, and nothing beside them.

use proptest::prelude::*;

#[repr(align(128))]
struct Aligned([u8; 2048]);

fn source() -> Vec<u8> {
    (0..2048u32).map(|i| (i * 37 + 11) as u8).collect()
}

#[test]
fn copies_and_fills_of_every_alignment_and_size() {
    let source = source();
    let mut target = Aligned([0xee; 2048]);
    let mut wanted = [0xee; 2048];
    for at in 256..256 + 128 {
        for size in (0..200).chain((200..=1024).step_by(37)) {
            let end = at + size;
            assert_eq!(
                prestore::copy_skip(&mut target.0[at..end], &source[3..3 + size]),
                size
            );
            wanted[at..end].copy_from_slice(&source[3..3 + size]);
            assert!(target.0 == wanted, "copy of {size} to {at}");

            prestore::clean(&target.0[at..end]);
            prestore::demote(&target.0[at..end]);
            assert!(target.0 == wanted, "pre-stores of {size} at {at}");

            prestore::fill_skip(&mut target.0[at..end], 0xee);
            wanted[at..end].fill(0xee);
            assert!(target.0 == wanted, "fill of {size} at {at}");
        }
    }
}

#[test]
fn the_shorter_slice_bounds_a_copy() {
    let mut target = [0; 100];
    assert_eq!(prestore::copy_skip(&mut target, &[7; 80]), 80);
    assert_eq!((target[79], target[80]), (7, 0));
    assert_eq!(prestore::copy_skip(&mut target[..10], &[9; 80]), 10);
    assert_eq!((target[9], target[10]), (9, 7));
}

#[test]
fn what_was_crafted_before_a_panic_is_written() {
    let mut target = [0; 200];
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        prestore::write_skip(&mut target, |writer| {
            writer.put(&[5; 70]);
            panic!("crafting failed");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(&target[..70], &[5; 70]);
    assert_eq!(&target[70..], &[0; 130]);
}

#[test]
fn the_writer_is_an_io_writer_that_ends_at_the_slice() {
    use std::io::Write;
    let mut target = [0; 10];
    let (result, written) = prestore::write_skip(&mut target, |writer| write!(writer, "{:>12}", 7));
    assert_eq!(
        result.unwrap_err().kind(),
        std::io::ErrorKind::WriteZero,
        "12 bytes into 10"
    );
    assert_eq!((written, &target), (10, b"          "));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_copy_is_a_memcpy(at in 0usize..1000, from in 0usize..1000, size in 0usize..1048) {
        let source = source();
        let mut target = Aligned([0; 2048]);
        let mut wanted = [0; 2048];
        prestore::copy_skip(&mut target.0[at..at + size], &source[from..from + size]);
        wanted[at..at + size].copy_from_slice(&source[from..from + size]);
        prop_assert!(target.0 == wanted);
    }

    #[test]
    fn any_pieces_add_up(
        at in 0usize..128,
        room in 0usize..1500,
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..20),
    ) {
        let mut target = Aligned([0; 2048]);
        let mut wanted = [0; 2048];
        let whole = pieces.concat();
        let fits = whole.len().min(room);
        wanted[at..at + fits].copy_from_slice(&whole[..fits]);

        let (taken, written) = prestore::write_skip(&mut target.0[at..at + room], |writer| {
            pieces.iter().map(|piece| writer.put(piece)).sum::<usize>()
        });
        prop_assert_eq!((taken, written), (fits, fits));
        prop_assert!(target.0 == wanted);
    }
}
