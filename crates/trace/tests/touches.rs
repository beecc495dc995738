//! The memory that an execution of a reference touches.
#![allow(clippy::unwrap_used)] // helpers of tests, too

use prestore_trace::EventKind;
mod common;

use common::plain;
use prestore_trace::block::{
    Direction, MaskForm, NO_SLOT, Ref, RefMode, XsaveComponent, XsaveForm,
};
use prestore_trace::replay::each_touch;

fn touches(mode: RefMode, size: u32, values: &[u64]) -> Vec<(u64, u64)> {
    let xsave = [
        (0, 0, false),
        (0, 0, false),
        (576, 256, false),
        (1088, 8, false),
        (1152, 64, true),
    ];
    let xsave = xsave.map(|(offset, size, aligned)| XsaveComponent {
        offset,
        size,
        aligned,
    });
    let r = Ref {
        mode,
        size,
        ..plain(EventKind::Store, 0, 0, 16)
    };
    let mut out = Vec::new();
    each_touch(&xsave, &r, values, |addr, bytes| out.push((addr, bytes)));
    out
}

#[test]
fn a_plain_reference_touches_base_plus_displacement() {
    assert_eq!(touches(RefMode::Plain, 8, &[0x1000]), [(0x1010, 8)]);
    let fixed = Ref {
        slot: NO_SLOT,
        ..plain(EventKind::Load, 0, 0, 0x40)
    };
    let mut out = Vec::new();
    each_touch(&[], &fixed, &[1], |addr, bytes| out.push((addr, bytes)));
    assert_eq!(out, [(0x40, 8)]);
}

#[test]
fn repeated_references_touch_one_stretch() {
    let rep = |direction| RefMode::Rep {
        count: 1,
        direction,
    };
    let (up, down, by_flags) = (Direction::Up, Direction::Down, Direction::ByFlags(2));
    assert_eq!(touches(rep(up), 4, &[0x1000, 3]), [(0x1010, 12)]);
    assert_eq!(touches(rep(down), 4, &[0x1000, 3]), [(0x1008, 12)]);
    assert_eq!(touches(rep(up), 4, &[0x1000, 0]), []);
    assert_eq!(
        touches(rep(by_flags), 4, &[0x1000, 3, 0x246]),
        [(0x1010, 12)]
    );
    assert_eq!(
        touches(rep(by_flags), 4, &[0x1000, 3, 0x646]),
        [(0x1008, 12)]
    );
    let until = RefMode::RepUntil {
        count: 1,
        left: 2,
        direction: Direction::Up,
    };
    assert_eq!(touches(until, 1, &[0x1000, 10, 6]), [(0x1010, 4)]);
}

#[test]
fn bits_lie_as_far_away_as_their_signed_number_says() {
    let bit = RefMode::Bit { number: 1 };
    assert_eq!(touches(bit, 8, &[0x1000, 63]), [(0x1010, 8)]);
    assert_eq!(touches(bit, 8, &[0x1000, 64]), [(0x1018, 8)]);
    let minus_one = u64::MAX;
    assert_eq!(touches(bit, 4, &[0x1000, minus_one]), [(0x100c, 4)]);
    assert_eq!(touches(bit, 2, &[0x1000, 0xffff]), [(0x100e, 2)]);
}

#[test]
fn masked_references_touch_runs_of_set_lanes() {
    let bits = RefMode::Masked {
        mask: 1,
        form: MaskForm::Bits,
        lanes: 8,
    };
    let values = [0x1000, 0b1_1011_0011];
    assert_eq!(
        touches(bits, 8, &values),
        [(0x1010, 16), (0x1030, 16), (0x1048, 8)]
    );
    assert_eq!(touches(bits, 8, &[0x1000, 0]), []);
    let tops = RefMode::Masked {
        mask: 1,
        form: MaskForm::TopBits(4),
        lanes: 4,
    };
    let values = [0, 0x8000_0000_7fff_ffff, 0x8000_0000_8000_0000];
    assert_eq!(touches(tops, 4, &values), [(0x14, 12)]);
}

#[test]
fn masks_of_bytes_use_all_bits_of_a_word() {
    let bytes = RefMode::Masked {
        mask: 1,
        form: MaskForm::Bits,
        lanes: 64,
    };
    assert_eq!(touches(bytes, 1, &[0, u64::MAX]), [(16, 64)]);
    assert_eq!(touches(bytes, 1, &[0, 1 << 63]), [(16 + 63, 1)]);
    assert_eq!(
        touches(bytes, 1, &[0, 1 << 63 | 1]),
        [(16, 1), (16 + 63, 1)]
    );
    let every_second = 0x5555_5555_5555_5555;
    let each: Vec<_> = (0..32).map(|i| (16 + 2 * i, 1)).collect();
    assert_eq!(touches(bytes, 1, &[0, every_second]), each);
    let packed = RefMode::Packed { mask: 1, lanes: 64 };
    assert_eq!(touches(packed, 1, &[0, u64::MAX]), [(16, 64)]);
}

#[test]
fn scattered_references_touch_each_set_lane() {
    let scatter = RefMode::Indexed {
        mask: 1,
        form: MaskForm::Bits,
        lanes: 4,
        index: 2,
        index_size: 4,
        scale: 8,
    };
    let index = |low: i32, high: i32| u64::from(low as u32) | u64::from(high as u32) << 32;
    let values = [0x1000, 0b1011, index(1, -1), index(9, 4)];
    assert_eq!(
        touches(scatter, 8, &values),
        [(0x1018, 8), (0x1008, 8), (0x1030, 8)]
    );
}

#[test]
fn packed_references_touch_as_many_elements_as_bits() {
    let packed = RefMode::Packed { mask: 1, lanes: 8 };
    assert_eq!(touches(packed, 4, &[0, 0xff05]), [(16, 8)]);
}

#[test]
fn xsave_touches_the_requested_components() {
    let xsave = |form, header| RefMode::Xsave {
        features: 1,
        header,
        form,
    };
    let all = |asked| touches(xsave(XsaveForm::All, NO_SLOT), 4096, &[0, asked]);
    assert_eq!(all(0b00011), [(16, 416), (528, 8)]);
    assert_eq!(all(0b00001), [(16, 24), (48, 128), (528, 8)]);
    // Of AVX, MXCSR too.
    assert_eq!(all(0b00100), [(40, 8), (528, 8), (592, 256)]);
    assert_eq!(all(0b11000), [(528, 8), (1104, 8), (1168, 64)]);
    let in_use = |form, used, layout: u64| {
        touches(
            xsave(form, 2),
            4096,
            &[0, 0b11110, used, layout << 63 | 0b11110],
        )
    };
    assert_eq!(
        in_use(XsaveForm::InUse, 0b01001, 0),
        [(40, 8), (528, 8), (1104, 8)]
    );
    // In the compacted form the last one is aligned.
    assert_eq!(
        in_use(XsaveForm::Compacted, 0b11000, 1),
        [(528, 16), (848, 8), (912, 64)]
    );
    assert_eq!(
        in_use(XsaveForm::Restored, 0b10110, 1),
        [(40, 8), (176, 256), (528, 320), (912, 64)]
    );
    assert_eq!(
        in_use(XsaveForm::Restored, 0b10100, 0),
        [(40, 8), (528, 320), (1168, 64)]
    );
}

#[test]
fn tiles_touch_the_rows_that_their_configuration_has() {
    // Palette 1; tile 2 of 3 rows of 12 bytes.
    let config = |start_row: u64| [1 | start_row << 8, 0, 12 << 32, 0, 0, 0, 3 << 16, 0];
    let tile = |stride| RefMode::Tile {
        config: 2,
        tile: 2,
        stride,
        scale: 4,
    };
    let values = |stride: i64, start_row| {
        let mut values = vec![0x1000, stride as u64];
        values.extend(config(start_row));
        values
    };
    assert_eq!(
        touches(tile(1), 64, &values(16, 0)),
        [(0x1010, 12), (0x1050, 12), (0x1090, 12)]
    );
    assert_eq!(
        touches(tile(1), 64, &values(-16, 1)),
        [(0xfd0, 12), (0xf90, 12)]
    );
    // Without gaps, they are one stretch.
    assert_eq!(touches(tile(1), 64, &values(3, 0)), [(0x1010, 36)]);
    assert_eq!(touches(tile(1), 64, &values(3, 2)), [(0x1028, 12)]);
    assert_eq!(touches(tile(NO_SLOT), 64, &values(9, 2)), [(0x1010, 12)]);
    assert_eq!(touches(tile(1), 64, &values(3, 3)), []);
    // Of another tile there are none.
    let none = RefMode::Tile {
        config: 2,
        tile: 1,
        stride: 1,
        scale: 4,
    };
    assert_eq!(touches(none, 64, &values(16, 0)), []);
}
