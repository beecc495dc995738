//! Which lines an operation touches, counted with a mock.

use prestore::{LineOp, for_each_line};

#[derive(Default)]
struct Count(Vec<usize>);

impl LineOp for Count {
    unsafe fn line(&mut self, line: *const u8) {
        self.0.push(line.addr());
    }
}

fn touched(start: usize, size: usize, line_size: usize) -> Vec<usize> {
    let mut count = Count::default();
    // SAFETY: the mock does not access memory.
    unsafe {
        for_each_line(
            std::ptr::without_provenance(start),
            size,
            line_size,
            &mut count,
        )
    };
    count.0
}

#[test]
fn every_alignment_and_size_touches_exactly_its_lines() {
    for line_size in [64, 128] {
        for start in 0x1_0000..0x1_0000 + line_size {
            let mut wanted = Vec::new();
            assert_eq!(touched(start, 0, line_size), wanted);
            for size in 1..=1024 {
                // Byte by byte, as plain as can be.
                let line = (start + size - 1) / line_size * line_size;
                if wanted.last() != Some(&line) {
                    wanted.push(line);
                }
                assert_eq!(
                    touched(start, size, line_size),
                    wanted,
                    "{start:#x} + {size}, lines of {line_size}"
                );
            }
        }
    }
}

#[test]
fn the_end_of_the_address_space_ends_the_loop() {
    let last = usize::MAX - 63;
    assert_eq!(touched(usize::MAX - 100, 500, 64), [last - 64, last]);
    assert_eq!(touched(usize::MAX, usize::MAX, 64), [last]);
    assert_eq!(touched(usize::MAX - 63, 64, 64), [last]);
}
