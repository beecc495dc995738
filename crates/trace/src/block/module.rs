//! Modules as the meta log names them.

use super::fields::Fields;
use super::layout::meta;

/// A module that was loaded into a process: payload of a [`meta::MODULE`] frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleLoad {
    /// First address.
    pub start: u64,
    /// Address behind its last byte.
    pub end: u64,
    /// Address it was loaded at minus its preferred address.
    pub load_bias: u64,
    /// GNU build id, lower-case hex, empty where it has none.
    pub build_id: String,
    /// Absolute path.
    pub path: String,
}

impl ModuleLoad {
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let mut f = Fields(payload);
        let (start, end, load_bias) = (f.u64()?, f.u64()?, f.u64()?);
        let (id_len, path_len, _) = (f.u16()?, f.u16()?, f.u32()?);
        let build_id = f.bytes(id_len.into())?;
        let path = f.bytes(path_len.into())?;
        Some(Self {
            start,
            end,
            load_bias,
            build_id: build_id.iter().map(|b| format!("{b:02x}")).collect(),
            path: String::from_utf8_lossy(path).into_owned(),
        })
    }

    /// The modules that the whole frames at the start of `log` load, and how many bytes the
    /// frames are. Malformed frames are passed over: who replays the trace reports them.
    pub fn all_in(log: &[u8]) -> (Vec<Self>, usize) {
        let (mut loads, mut rest) = (Vec::new(), Fields(log));
        loop {
            let consumed = log.len() - rest.0.len();
            let mut frame = Fields(rest.0);
            let (Some(kind), Some(len)) = (frame.u32(), frame.u32()) else {
                return (loads, consumed);
            };
            let Some(payload) = frame.bytes(len as usize) else {
                return (loads, consumed);
            };
            if kind == meta::MODULE {
                loads.extend(Self::parse(payload));
            }
            rest = frame;
        }
    }
}
