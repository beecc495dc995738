//! What warms before a unit, and where that begins.

use prestore_sim::{Filled, UnitAhead, UnitSource};

use super::UnitsOf;
use crate::SourceError;
use crate::sample::places::Place;

/// What warms, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Warms {
    /// The start of what shows how fast caches fill: whatever is in constant use comes with it.
    Start,
    /// What shows how fast they fill.
    Shows,
    /// What comes right before the unit.
    Last,
}

impl UnitsOf<'_> {
    /// Goes to what warms first for the unit at [`Self::begin`].
    fn plan(&mut self) -> Result<(), SourceError> {
        let gap = self.begin.saturating_sub(self.all_ops());
        match self.before.warm {
            // The first unit finds empty caches, others what was there at the one before. Where much comes before it, a little of that
            // shows how much fills them.
            Some(warm) if !self.filling.is_known() && gap > self.before.fill => {
                let from = self.begin - gap.min(self.before.most);
                self.go(from)?;
                self.to = self.index.at(from + warm / 2);
                self.warms = Warms::Start;
                Ok(())
            }
            _ => self.last(),
        }
    }

    /// How many operations turn caches over, or `warm` where they cannot be, or that is not known.
    fn turns_over(&self, warm: u64) -> u64 {
        let known = self.before.turns.zip(self.filling.turns_over());
        let Some(([least, most], turns)) = known else {
            return warm;
        };
        let turns = match turns <= most {
            true => turns,
            false => self
                .filling
                .turns_nearer_over(self.before.nearer)
                .map_or(warm, |n| n.min(warm)),
        };
        turns.max(least)
    }

    /// Goes to what warms right before the unit.
    fn last(&mut self) -> Result<(), SourceError> {
        let gap = self.begin.saturating_sub(self.all_ops());
        let warm = self.before.warm.map_or(gap, |warm| {
            let warm = self.turns_over(warm);
            let still = match self.filling.keeps() {
                true => 0,
                false => self.before.fill.saturating_sub(self.warmed),
            };
            let most = self.before.most.saturating_sub(self.warmed);
            let fills = self.filling.needs(gap, warm).map_or(0, |n| n.min(most));
            warm.max(still).max(fills).min(gap)
        });
        let most = self.before.turns.map_or(u64::MAX, |[_, most]| most);
        let is_stale = self
            .filling
            .turns_over()
            .is_some_and(|n| n > most.max(warm));
        self.stale += u64::from(is_stale && warm < gap && !self.filling.keeps());
        self.filling.skip(gap - warm);
        match warm == gap {
            true => self.stay()?,
            false => self.go(self.begin - warm)?,
        }
        self.to = self.index.from(&self.places(), self.begin);
        self.warms = Warms::Last;
        Ok(())
    }
}

impl UnitSource for UnitsOf<'_> {
    fn next_unit(&mut self) -> Result<Option<UnitAhead>, SourceError> {
        let over = self.next.checked_sub(1);
        let over = over.and_then(|n| self.units.places().get(n));
        if let Some(told) = self
            .told
            .as_ref()
            .filter(|_| over.is_some_and(|p| !p.is_of_start))
        {
            // Nobody hears it any more where that is all that is left to do.
            let _ = told.send(());
        }
        let Some(&Place {
            at: place,
            stands_for,
            ..
        }) = self.units.places().get(self.next)
        else {
            return Ok(None);
        };
        self.next += 1;
        self.begun = None;
        self.begin = place.saturating_sub(self.before.detail);
        self.source.depend(false);
        self.goes = true;
        self.plan()?;
        // Where the unit before ended later than this one's detail begins, there is less of that.
        let begin = self.begin.max(self.all_ops().min(place));
        Ok(Some(UnitAhead {
            detail: place - begin,
            stands_for,
        }))
    }

    fn warms(&mut self, caches: &dyn Fn() -> Filled) -> Result<Option<u32>, SourceError> {
        if self.begun.is_some() {
            return Ok(None);
        }
        if std::mem::take(&mut self.goes) {
            self.filling.begin(self.warmed, caches());
        }
        loop {
            if let Some(core) = self.behind() {
                return Ok(Some(core as u32));
            }
            self.filling.look(self.warmed, caches());
            match self.warms {
                Warms::Start => {
                    self.warms = Warms::Shows;
                    let half = self.before.warm.unwrap_or(0) / 2;
                    self.to = self.index.at(self.all_ops() + half);
                }
                Warms::Shows => self.last()?,
                Warms::Last => break,
            }
        }
        self.source.depend(true);
        let events = |core| {
            let (thread, events) = self.source.events_of_thread(core);
            (
                thread,
                events - self.reading[core].held.events().min(events),
            )
        };
        self.begun = Some((0..self.to.len()).map(events).collect());
        Ok(None)
    }
}
