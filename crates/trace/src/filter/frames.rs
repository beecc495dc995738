//! Block descriptions with another number and fewer references, byte by byte.

use crate::block::{REF_BYTES, meta};

/// Frame header: type and payload length.
const HEAD: usize = 8;
/// Offset of the number of references in a block's payload, and the payload's fixed part.
const REFS: usize = 32;
const FIXED: usize = 40;
/// Offset of the count of inherited blocks in a process's payload.
const INHERITED: usize = 8;

/// Splits the first frame off `log`: type, whole frame, rest.
pub(super) fn next(log: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let kind = u32::from_le_bytes(log.get(..4)?.try_into().ok()?);
    let len = u32::from_le_bytes(log.get(4..HEAD)?.try_into().ok()?) as usize;
    let (frame, rest) = log.split_at_checked(HEAD + len)?;
    Some((kind, frame, rest))
}

/// The id of the block that `frame` describes.
pub(super) fn block_id(frame: &[u8]) -> Option<u32> {
    let bytes = frame.get(HEAD..HEAD + 4)?;
    bytes.try_into().ok().map(u32::from_le_bytes)
}

/// `frame` as the description of block `id`, with the references whose bit in `keep` is set
/// (those beyond 64 are kept if any is).
pub(super) fn block(frame: &[u8], id: u32, keep: u64) -> Option<Vec<u8>> {
    let payload = frame.get(HEAD..)?;
    let n = usize::from(u16::from_le_bytes(
        payload.get(REFS..REFS + 2)?.try_into().ok()?,
    ));
    let (fixed, rest) = payload.split_at_checked(FIXED)?;
    let (refs, lengths) = rest.split_at_checked(n * REF_BYTES)?;
    let kept: Vec<&[u8]> = refs
        .chunks_exact(REF_BYTES)
        .enumerate()
        .filter(|(i, _)| {
            if *i < 64 {
                keep >> i & 1 == 1
            } else {
                keep != 0
            }
        })
        .map(|(_, r)| r)
        .collect();
    let len = FIXED + kept.len() * REF_BYTES + lengths.len();
    let mut out = Vec::with_capacity(HEAD + len);
    out.extend(meta::BLOCK.to_le_bytes());
    out.extend((len as u32).to_le_bytes());
    out.extend(id.to_le_bytes());
    out.extend(&fixed[4..REFS]);
    out.extend((kept.len() as u16).to_le_bytes());
    out.extend(&fixed[REFS + 2..]);
    for r in kept {
        out.extend(r);
    }
    out.extend(lengths);
    Some(out)
}

/// `frame` of a process without the mark that it shares its parent's blocks: the filter's blocks
/// are each process's own.
pub(super) fn process(frame: &[u8]) -> Vec<u8> {
    let mut out = frame.to_vec();
    if let Some(inherited) = out.get_mut(HEAD + INHERITED..HEAD + INHERITED + 4) {
        inherited.fill(0);
    }
    out
}
