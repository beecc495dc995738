//! Front and back side by side: the back has a thread of its own.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use crate::back::Back;
use crate::batch::Batch;

/// Batches under way: enough that neither waits for the other's unevenness.
const UNDER_WAY: usize = 16;

/// Used batches that come back together, so that who waits for them is not woken for each.
const TOGETHER: usize = 8;

/// The way to a [`Back`] that works by itself.
#[derive(Debug)]
pub(crate) struct Pipe {
    to: Sender<Batch>,
    used: Receiver<Vec<Batch>>,
    /// To be used again.
    free: Vec<Batch>,
    /// That there are.
    batches: usize,
    worker: JoinHandle<Back>,
}

impl Pipe {
    /// Starts `back`; gives it back if the system has no thread for it.
    pub(crate) fn start(back: Back) -> std::io::Result<Self> {
        let (to, batches) = channel();
        let (done, used) = channel();
        let worker = std::thread::Builder::new()
            .name("memory".to_owned())
            .spawn(move || work(back, &batches, &done))?;
        Ok(Self {
            to,
            used,
            free: Vec::new(),
            batches: 0,
            worker,
        })
    }

    /// An empty batch, used before if there is one; waits where the back is too far behind. It is to be handed on.
    pub(crate) fn batch(&mut self) -> Batch {
        if self.free.is_empty() {
            self.free = match self.batches < UNDER_WAY {
                true => self.used.try_recv().ok(),
                false => self.used.recv().ok(),
            }
            .unwrap_or_default();
        }
        self.free.pop().unwrap_or_else(|| {
            self.batches += 1;
            Batch::default()
        })
    }

    /// Hands a batch on.
    pub(crate) fn send(&self, batch: Batch) {
        // It fails only when the back panicked, which `finish` passes on.
        drop(self.to.send(batch));
    }

    /// Waits for the back to come to the end.
    pub(crate) fn finish(self) -> Back {
        drop(self.to);
        match self.worker.join() {
            Ok(back) => back,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

fn work(mut back: Back, batches: &Receiver<Batch>, done: &Sender<Vec<Batch>>) -> Back {
    let mut used = Vec::new();
    loop {
        let next = batches.try_recv().or_else(|_| {
            give_back(&mut used, done);
            batches.recv()
        });
        let Ok(mut batch) = next else {
            return back;
        };
        back.take(&mut batch);
        batch.clear();
        used.push(batch);
        if used.len() >= TOGETHER {
            give_back(&mut used, done);
        }
    }
}

fn give_back(used: &mut Vec<Batch>, done: &Sender<Vec<Batch>>) {
    if !used.is_empty() {
        // Nobody wants them back once the front has ended.
        drop(done.send(std::mem::take(used)));
    }
}
