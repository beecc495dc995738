//! Units of a recording, found without reading what lies between.
//!
//! Stored blocks say when they began and how many events they have ([`index`]), so that a place of the run, counted in
//! operations of all threads together (long accesses by their lines, [`pieces`]), is a time, and the time a stored block in
//! each thread; threads that waited for each other are taken on to places that they had at one time ([`cut`]). From there operations warm caches until all threads have come to the unit ([`units`]).

mod cut;
mod filling;
mod index;
mod order;
mod pieces;
mod places;
mod runs;
mod ticks;
mod units;

pub(crate) use index::{Entry, Index};
pub use places::Sample;
pub(crate) use places::Units;
pub(crate) use runs::{Run, side_by_side};
pub(crate) use units::UnitsOf;
