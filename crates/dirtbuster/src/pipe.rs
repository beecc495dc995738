//! Front and back side by side: the back has a thread of its own.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use crate::back::Back;
use crate::batch::Batch;

/// Batches under way: enough that neither waits for the other's unevenness.
const UNDER_WAY: usize = 8;

/// The way to a [`Back`] that works by itself.
#[derive(Debug)]
pub(crate) struct Pipe {
    to: SyncSender<Batch>,
    used: Receiver<Batch>,
    worker: JoinHandle<Back>,
}

impl Pipe {
    /// Starts `back`; gives it back if the system has no thread for it.
    pub(crate) fn start(back: Back) -> std::io::Result<Self> {
        let (to, batches) = sync_channel(UNDER_WAY);
        let (done, used) = channel();
        let worker = std::thread::Builder::new()
            .name("memory".to_owned())
            .spawn(move || work(back, &batches, &done))?;
        Ok(Self { to, used, worker })
    }

    /// An empty batch, used before if there is one.
    pub(crate) fn batch(&self) -> Batch {
        self.used.try_recv().unwrap_or_default()
    }

    /// Hands a batch on; waits where the back is too far behind.
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

fn work(mut back: Back, batches: &Receiver<Batch>, done: &Sender<Batch>) -> Back {
    for mut batch in batches {
        back.take(&mut batch);
        batch.clear();
        // Nobody wants it back once the front has ended.
        drop(done.send(batch));
    }
    back
}
