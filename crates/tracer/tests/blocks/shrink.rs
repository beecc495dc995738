//! Drops what a failure does not need.

/// A shorter list that still `fails`: halves, quarters and so on are left out as long as it does.
/// `tries` bounds how often that is asked.
pub fn shrink<T: Clone>(
    items: Vec<T>,
    tries: &mut u32,
    mut fails: impl FnMut(&[T]) -> bool,
) -> Vec<T> {
    let mut kept = items;
    let mut chunk = kept.len().div_ceil(2);
    while chunk > 0 && *tries > 0 {
        let mut at = 0;
        let mut dropped = false;
        while at < kept.len() && *tries > 0 {
            let end = (at + chunk).min(kept.len());
            let without = [&kept[..at], &kept[end..]].concat();
            *tries -= 1;
            if !without.is_empty() && fails(&without) {
                kept = without;
                dropped = true;
            } else {
                at = end;
            }
        }
        if chunk > 1 {
            chunk = chunk.div_ceil(2);
        } else if !dropped {
            break;
        }
    }
    kept
}
