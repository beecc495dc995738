//! What a write buffer does when it is due: lines are owned, and leave.

use super::slot::{Cause, Slot, State};
use super::{NEVER, WriteBuffer};
use crate::core::env::Env;
use crate::core::flushes::Flushes;
use crate::core::stores::Run;
use crate::{Asks, Below, Time};

impl WriteBuffer {
    /// The line to go next, and when.
    fn next(&self) -> Option<(Time, usize)> {
        let by_cause = [
            (Cause::Age, &self.drains),
            (Cause::Fence, &self.fences),
            (Cause::Asked, &self.pushes),
        ];
        let next = (by_cause.into_iter()).filter_map(|(cause, ways)| self.next_of(cause, ways));
        next.min()
    }

    /// The same, of the lines with this cause, which go through `ways`.
    fn next_of(&self, cause: Cause, ways: &[Time]) -> Option<(Time, usize)> {
        let held = self.slots.iter().enumerate();
        let held = held.filter_map(|(i, s)| match s.state {
            State::Held(due) if due < NEVER && s.cause == cause => Some((due, s.number, i)),
            _ => None,
        });
        let (due, _, i) = held.min()?;
        let free = ways.iter().min().copied().unwrap_or_default();
        // An older part of the same line goes first.
        let line = self.slots[i].line;
        let older = self.slots.iter().filter_map(|s| match s.state {
            State::Draining(end) if s.line == line => Some(end),
            _ => None,
        });
        let older = older.max().unwrap_or_default();
        let start = due.max(self.slots[i].ready).max(free).max(older);
        Some((start, i))
    }

    pub fn run<B: Below>(
        &mut self,
        limit: Time,
        flushes: &mut Flushes,
        env: &mut Env<'_, B>,
    ) -> Run {
        loop {
            match self.next() {
                None => return Run::Idle(NEVER),
                Some((start, _)) if start > limit => return Run::Idle(start),
                Some((start, i)) => {
                    let number = self.slots[i].number;
                    let Some(end) = self.send(i, start, env) else {
                        continue;
                    };
                    if flushes.stored(number, end) {
                        return Run::Flush;
                    }
                }
            }
        }
    }

    /// A line goes. Answers when it is visible; `None`: who has it refused, and it waits.
    fn send<B: Below>(&mut self, i: usize, at: Time, env: &mut Env<'_, B>) -> Option<Time> {
        let Slot {
            line,
            bytes,
            cause,
            number,
            way,
            ..
        } = self.slots[i];
        let end = if B::TYPES && way.is_past() {
            if let Some(again) = env.refused(at, line, Asks::Own) {
                self.slots[i].state = State::Held(again);
                return None;
            }
            let by = env.stored(number);
            env.write_past(way, at, line, bytes, &by)
        } else {
            let owned = if env.below.owned(env.params.id, line) {
                env.fills.find(line, at).map_or(at, |fill| fill.until)
            } else {
                if let Some(again) = env.refused(at, line, Asks::Own) {
                    self.slots[i].state = State::Held(again);
                    return None;
                }
                env.own(at, line, bytes == env.params.whole).done
            };
            let by = env.stored(number);
            let (_, done) = env.write(owned, line, bytes, &by);
            done + self.drain
        };
        self.slots[i].state = State::Draining(end);
        self.held -= 1;
        self.visible = self.visible.max(end);
        let ways = match cause {
            Cause::Age => &mut self.drains,
            Cause::Fence => &mut self.fences,
            Cause::Asked => &mut self.pushes,
        };
        if let Some(free) = ways.iter_mut().min() {
            *free = end;
        }
        Some(end)
    }
}
