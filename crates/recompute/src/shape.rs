//! A loop's shape as text, of which a file's header has the checksum.
//!
//! Files outlive programs: this text may never change for a loop that there has been, whatever names or types the
//! description gets. What is new is written only where it is not what was meant before.

use std::fmt::Write;

use crate::{Array, Dependence, Nest, Order};

/// The text. It reads as Rust would print it, as that is how it began.
pub(crate) fn describe(nest: &Nest) -> String {
    let mut arrays = String::new();
    for (number, array) in nest.arrays.iter().enumerate() {
        if number > 0 {
            arrays += ", ";
        }
        arrays += &describe_array(array);
    }
    let dependence = match nest.dependence {
        Dependence::Carried => "Carried",
        Dependence::Fresh => "Fresh",
    };
    let order = match nest.order {
        Order::Together => "Together",
        Order::Apart => "Apart",
    };
    format!(
        "Nest {{ name: \"{}\", outer: {}, arrays: [{arrays}], dependence: {dependence}, order: {order} }}",
        escaped(&nest.name),
        nest.outer
    )
}

fn describe_array(array: &Array) -> String {
    let tiles = match &array.tiles {
        None => "None".to_string(),
        Some(tiles) => format!(
            "Some(Tiles {{ rows: {}, row_bytes: {}, every: {}, phase: {}, down: {} }})",
            tiles.rows, tiles.row_bytes, tiles.every, tiles.phase, tiles.down
        ),
    };
    format!(
        "Array {{ rows: {}, row_bytes: {}, tiles: {tiles} }}",
        array.rows, array.row_bytes
    )
}

/// What Rust prints of a text may change with the letters that it knows; this does not.
fn escaped(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        match letter {
            '"' => text += "\\\"",
            '\\' => text += "\\\\",
            '\n' => text += "\\n",
            '\r' => text += "\\r",
            '\t' => text += "\\t",
            '\0' => text += "\\0",
            // Writing to a text cannot fail.
            _ if letter.is_ascii_control() => {
                let _ = write!(text, "\\u{{{:x}}}", u32::from(letter));
            }
            _ => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text and its checksum as files have had them since the first. If this fails, files of loops that are under way
    /// would be refused: mend the text, not the test.
    #[test]
    fn it_never_changes() {
        let nest = Nest {
            name: "he said \"a\\b\"\n\u{1b}é".into(),
            outer: 3,
            arrays: vec![
                Array::input(4, 32),
                Array::output(4, 32, 2, 16),
                Array::output(4, 32, 2, 16).in_phase(2, 1).by_columns(),
            ],
            dependence: Dependence::Fresh,
            order: Order::Together,
        };
        let text = describe(&nest);
        assert_eq!(
            text,
            "Nest { name: \"he said \\\"a\\\\b\\\"\\n\\u{1b}é\", outer: 3, arrays: [\
             Array { rows: 4, row_bytes: 32, tiles: None }, \
             Array { rows: 4, row_bytes: 32, tiles: Some(Tiles { rows: 2, row_bytes: 16, every: 1, phase: 0, down: false }) }, \
             Array { rows: 4, row_bytes: 32, tiles: Some(Tiles { rows: 2, row_bytes: 16, every: 2, phase: 1, down: true }) }\
             ], dependence: Fresh, order: Together }"
        );
        assert_eq!(crc32fast::hash(text.as_bytes()), 0x6f56_cd3e);
        let other = Nest {
            name: "n".into(),
            arrays: vec![Array::output(1, 8, 1, 8)],
            dependence: Dependence::Carried,
            order: Order::Apart,
            ..nest
        };
        let text = describe(&other);
        assert_eq!(
            text,
            "Nest { name: \"n\", outer: 3, arrays: [\
             Array { rows: 1, row_bytes: 8, tiles: Some(Tiles { rows: 1, row_bytes: 8, every: 1, phase: 0, down: false }) }\
             ], dependence: Carried, order: Apart }"
        );
    }
}
