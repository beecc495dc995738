//! Build ids of loaded modules: the client only knows paths, the host can read the files.

use std::path::Path;

use prestore_trace::block::meta;

/// Offset of the build id's length in a module's payload; the path's follows.
const LENGTHS: usize = 24;
const FIXED: usize = 32;

/// Copies whole `frames`, with build ids put into those that load a module and have none.
pub(super) fn add_build_ids(frames: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(frames.len());
    let mut rest = frames;
    while let Some((head, after)) = rest.split_at_checked(8) {
        let kind = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let len = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let Some((payload, after)) = after.split_at_checked(len) else {
            break;
        };
        match (kind == meta::MODULE)
            .then(|| with_build_id(payload))
            .flatten()
        {
            Some(payload) => {
                out.extend_from_slice(&head[..4]);
                out.extend((payload.len() as u32).to_le_bytes());
                out.extend(payload);
            }
            None => out.extend_from_slice(&rest[..8 + len]),
        }
        rest = after;
    }
    out
}

fn with_build_id(payload: &[u8]) -> Option<Vec<u8>> {
    let id_len = u16::from_le_bytes(payload.get(LENGTHS..LENGTHS + 2)?.try_into().ok()?);
    let path_len = u16::from_le_bytes(payload.get(LENGTHS + 2..LENGTHS + 4)?.try_into().ok()?);
    if id_len != 0 {
        return None;
    }
    let path = payload.get(FIXED..FIXED + usize::from(path_len))?;
    let name = std::str::from_utf8(path).ok()?;
    let id = prestore_symbols::build_id(Path::new(name)).ok()??;
    let id: Vec<u8> = id
        .as_bytes()
        .chunks(2)
        .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    let mut out = payload[..FIXED].to_vec();
    out[LENGTHS..LENGTHS + 2].copy_from_slice(&(id.len() as u16).to_le_bytes());
    out.extend(id);
    out.extend_from_slice(path);
    out.resize(out.len().next_multiple_of(8), 0);
    Some(out)
}
