//! Published tables and figures, the experiments behind them, and ours beside them.
//!
//! Nothing is here yet: the crate reserves its place in the workspace.
