//! Delta debugging (Zeller and Hildebrandt, IEEE TSE 28(2), 2002).

/// The smallest part of `all` found for which `fails`, which does for `all`: none of its items may be left
/// out. `fails` is asked `most` times at most; then what has been found by then is returned.
pub(super) fn ddmin<T: Clone, E>(
    all: &[T],
    most: usize,
    mut fails: impl FnMut(&[T]) -> Result<bool, E>,
) -> Result<Vec<T>, E> {
    let (mut left, mut parts, mut asked) = (all.to_vec(), 2, 0);
    while left.len() > 1 && asked < most {
        let size = left.len().div_ceil(parts);
        let mut smaller = None;
        for part in 0..parts {
            let (from, to) = (
                (part * size).min(left.len()),
                ((part + 1) * size).min(left.len()),
            );
            let part_alone = left[from..to].to_vec();
            let rest: Vec<T> = [&left[..from], &left[to..]].concat();
            // Of two halves, one is the rest of the other.
            let tries = [(part_alone, 2), (rest, (parts - 1).max(2))];
            for (some, next) in tries.into_iter().take(if parts == 2 { 1 } else { 2 }) {
                if some.is_empty() || some.len() == left.len() || asked >= most {
                    continue;
                }
                asked += 1;
                if fails(&some)? {
                    smaller = Some((some, next));
                    break;
                }
            }
            if smaller.is_some() {
                break;
            }
        }
        match smaller {
            Some((some, next)) => (left, parts) = (some, next),
            None if parts >= left.len() => break,
            None => parts = (parts * 2).min(left.len()),
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::ddmin;

    fn least(wanted: &[u32]) -> Vec<u32> {
        let all: Vec<u32> = (0..100).collect();
        let fails = |some: &[u32]| Ok::<_, ()>(wanted.iter().all(|w| some.contains(w)));
        ddmin(&all, 10_000, fails).unwrap_or_default()
    }

    #[test]
    fn what_is_needed_is_left() {
        assert_eq!(least(&[17]), [17]);
        assert_eq!(least(&[3, 50, 99]), [3, 50, 99]);
        assert_eq!(
            least(&(20..40).collect::<Vec<_>>()),
            (20..40).collect::<Vec<_>>()
        );
    }

    #[test]
    fn the_number_of_questions_is_kept_to() {
        let mut asked = 0;
        let all: Vec<u32> = (0..1000).collect();
        let left = ddmin(&all, 10, |some| {
            asked += 1;
            Ok::<_, ()>(some.contains(&1))
        });
        assert_eq!(asked, 10);
        assert!(left.is_ok_and(|left| left.contains(&1)));
    }
}
