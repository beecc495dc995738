//! DirtBuster: from events to verdicts (P0, section 6; design, section 4).

mod findings;

pub use findings::{
    ContextClass, Distance, FenceDistance, Finding, Findings, LineShare, Verdict,
};
