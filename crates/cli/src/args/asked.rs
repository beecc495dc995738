//! What holds of a verb whatever it does.

use super::{MachineVerb, Verb};

impl Verb {
    /// Nothing but the result is wanted.
    pub fn is_quiet(&self) -> bool {
        match self {
            Self::Advise(args) => args.run.quiet,
            Self::Record(args) => args.run.quiet,
            Self::Simulate(args) => args.replay.quiet,
            Self::Whatif(args) => args.replay.quiet,
            Self::Try(args) => args.quiet,
            Self::Crash(args) => args.quiet,
            Self::Bench(args) => args.quiet,
            Self::Machine {
                verb: MachineVerb::Calibrate(args),
            } => args.quiet,
            _ => false,
        }
    }

    /// Does the configuration file matter to it?
    pub fn is_configured(&self) -> bool {
        matches!(
            self,
            Self::Advise(_) | Self::Simulate(_) | Self::Whatif(_) | Self::Crash(_) | Self::Try(_)
        )
    }
}
