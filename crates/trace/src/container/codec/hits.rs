//! Executions whose values are all as predicted: what most are.

/// Are `values` what was predicted? Then the predictions move on. `slots`: a prediction each, then a stride each.
#[inline(always)]
pub(super) fn hit(values: &[u64], slots: &mut [u64]) -> bool {
    // Most blocks have few values, and loops that count to a few cost more than they do.
    match values.len() {
        0 => true,
        1 => few::<1>(values, slots),
        2 => few::<2>(values, slots),
        3 => few::<3>(values, slots),
        4 => few::<4>(values, slots),
        _ => many(values, slots),
    }
}

#[inline(always)]
fn few<const N: usize>(values: &[u64], slots: &mut [u64]) -> bool {
    let (predicted, stride) = slots.split_at_mut(N);
    let (Some(values), Some(predicted), Some(stride)) = (
        values.first_chunk::<N>(),
        predicted.first_chunk_mut::<N>(),
        stride.first_chunk::<N>(),
    ) else {
        return false;
    };
    let mut off = 0;
    for i in 0..N {
        off |= values[i] ^ predicted[i];
    }
    if off != 0 {
        return false;
    }
    for i in 0..N {
        predicted[i] = predicted[i].wrapping_add(stride[i]);
    }
    true
}

#[inline(never)]
fn many(values: &[u64], slots: &mut [u64]) -> bool {
    let (predicted, stride) = slots.split_at_mut(values.len());
    let pairs = values.iter().zip(&*predicted);
    if pairs.fold(0, |off, (v, p)| off | (v ^ p)) != 0 {
        return false;
    }
    for (p, s) in predicted.iter_mut().zip(&*stride) {
        *p = p.wrapping_add(*s);
    }
    true
}
