//! The description of a loop: what the programmer tells of it (P4, 3.4.6).

use std::ops::Range;

use crate::Error;

/// A loop nest: its outermost loop, its persistent arrays, and the granularity at which they are made durable.
///
/// The body of each outermost iteration is a sequence of *steps*, one a *region*: the tiles, with the same number, of
/// the arrays that this iteration writes. A step ends with the region durable and progress noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nest {
    /// A name; a file that another loop began is told by it.
    pub name: String,
    /// Iterations of the outermost loop.
    pub outer: usize,
    /// All arrays that are in persistent memory.
    pub arrays: Vec<Array>,
    /// What a step reads of what the loop writes.
    pub dependence: Dependence,
    /// Whether all of an iteration has to be done before any of the next begins.
    pub order: Order,
}

/// What a step reads of what the loop writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// Its own region as the iterations before left it, and data that is final: neither written in this iteration or
    /// later, nor in the tiles of a later region. A torn region is computed anew from its initial value.
    Carried,
    /// Only what is not written in this iteration, and it writes the whole region. A torn region is just written again.
    /// Between iterations workers have to meet ([`Order::Together`]).
    Fresh,
}

/// Whether all of an iteration has to be done before any of the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Workers meet after each iteration.
    Together,
    /// A region depends on no other: workers never wait.
    Apart,
}

/// A persistent array: rows of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Rows.
    pub rows: usize,
    /// Bytes a row.
    pub row_bytes: usize,
    /// How it is written, or `None` if it is only read.
    pub tiles: Option<Tiles>,
}

/// How an array is cut into regions, and in which iterations it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Rows a tile.
    pub rows: usize,
    /// Bytes of a row a tile: all of them for panels.
    pub row_bytes: usize,
    /// Written in iterations that are `phase` modulo `every`; 0 modulo 1 is all of them.
    pub every: usize,
    /// See `every`.
    pub phase: usize,
    /// Numbered column by column instead of row by row: steps go down first.
    pub down: bool,
}

impl Array {
    /// An array that is only read.
    pub fn input(rows: usize, row_bytes: usize) -> Array {
        Array {
            rows,
            row_bytes,
            tiles: None,
        }
    }

    /// An array that every iteration writes, in tiles of `tile_rows` times `tile_bytes`.
    pub fn output(rows: usize, row_bytes: usize, tile_rows: usize, tile_bytes: usize) -> Array {
        Array {
            rows,
            row_bytes,
            tiles: Some(Tiles {
                rows: tile_rows,
                row_bytes: tile_bytes,
                every: 1,
                phase: 0,
                down: false,
            }),
        }
    }

    /// The same, written only in iterations that are `phase` modulo `every`.
    pub fn in_phase(mut self, every: usize, phase: usize) -> Array {
        if let Some(tiles) = &mut self.tiles {
            tiles.every = every;
            tiles.phase = phase;
        }
        self
    }

    /// The same, with regions numbered column by column.
    pub fn by_columns(mut self) -> Array {
        if let Some(tiles) = &mut self.tiles {
            tiles.down = true;
        }
        self
    }

    /// Bytes of the whole.
    pub fn bytes(&self) -> usize {
        self.rows * self.row_bytes
    }

    fn regions(&self) -> Option<usize> {
        self.tiles
            .map(|t| self.rows.div_ceil(t.rows) * self.row_bytes.div_ceil(t.row_bytes))
    }

    /// The byte ranges, within the array, of a region: its tile's rows, or all of them if they follow each other.
    pub fn spans(&self, region: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let (rows, row_bytes) = (self.rows, self.row_bytes);
        let tiles = self.tiles.unwrap_or(Tiles {
            rows,
            row_bytes,
            every: 1,
            phase: 0,
            down: false,
        });
        let across = row_bytes.div_ceil(tiles.row_bytes);
        let below = rows.div_ceil(tiles.rows);
        let (row, column) = if tiles.down {
            (region % below, region / below)
        } else {
            (region / across, region % across)
        };
        let first_row = row * tiles.rows;
        let last_row = (first_row + tiles.rows).min(rows);
        let first = column * tiles.row_bytes;
        let last = (first + tiles.row_bytes).min(row_bytes);
        // A panel is one range.
        let step = if across == 1 { tiles.rows } else { 1 };
        (first_row..last_row).step_by(step).map(move |row| {
            let end_row = (row + step).min(last_row) - 1;
            row * row_bytes + first..end_row * row_bytes + last
        })
    }

    /// Bytes of the largest region.
    pub(crate) fn region_bytes(&self) -> usize {
        self.tiles.map_or(0, |t| {
            t.rows.min(self.rows) * t.row_bytes.min(self.row_bytes)
        })
    }
}

impl Nest {
    /// Regions: steps of an outermost iteration.
    pub fn regions(&self) -> usize {
        self.arrays.iter().find_map(Array::regions).unwrap_or(0)
    }

    /// The arrays that this iteration writes.
    pub fn written(&self, outer: usize) -> impl Iterator<Item = usize> {
        self.arrays
            .iter()
            .enumerate()
            .filter(move |(_, a)| a.tiles.is_some_and(|t| outer % t.every == t.phase))
            .map(|(number, _)| number)
    }

    /// Whether so many logs of a region can be addressed; the arrays can, see [`Nest::check`].
    pub(crate) fn can_log(&self, workers: usize) -> bool {
        let log: usize = self.arrays.iter().map(Array::region_bytes).sum();
        log.checked_mul(workers)
            .is_some_and(|logs| logs < isize::MAX as usize / 8)
    }

    /// # Errors
    /// It contradicts itself.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let fault = |what: &str| {
            Err(Error::Description {
                name: self.name.clone(),
                what: what.to_string(),
            })
        };
        if self.name.is_empty() || self.name.len() > crate::header::NAME {
            return fault("its name should have 1 to 40 bytes");
        }
        if self.outer == 0 {
            return fault("its outermost loop has no iterations");
        }
        let mut size = 0_usize;
        for array in &self.arrays {
            let bytes = array.rows.checked_mul(array.row_bytes);
            match bytes.and_then(|bytes| size.checked_add(bytes)) {
                Some(sum) if sum < isize::MAX as usize / 8 => size = sum,
                _ => return fault("its arrays are larger than memory can be"),
            }
            if array.rows == 0 || array.row_bytes == 0 {
                return fault("an array has no rows or rows without bytes");
            }
            if let Some(t) = array.tiles
                && (t.rows == 0 || t.row_bytes == 0 || t.phase >= t.every)
            {
                return fault(
                    "an array's tiles are empty, or its phase is not less than the period",
                );
            }
        }
        let mut counts = self.arrays.iter().filter_map(Array::regions);
        let Some(regions) = counts.next() else {
            return fault("no array is written, so there is nothing to make durable");
        };
        if counts.any(|count| count != regions) {
            return fault("the arrays that are written have different numbers of tiles");
        }
        if self.outer.checked_mul(regions).is_none_or(|n| n > 1 << 60) {
            return fault("it has more steps than can be counted");
        }
        let last = self.arrays.iter().filter_map(|a| a.tiles).map(|t| t.every);
        let cycle = last.max().unwrap_or(1).min(self.outer);
        if (0..cycle).any(|outer| self.written(outer).next().is_none()) {
            return fault("there is an iteration in which no array is written");
        }
        if self.dependence == Dependence::Fresh && self.order == Order::Apart && self.outer > 1 {
            return fault(
                "its steps read what other iterations write (Fresh), so workers have to meet (Order::Together)",
            );
        }
        Ok(())
    }
}
