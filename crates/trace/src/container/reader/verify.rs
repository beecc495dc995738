//! All of a recording against its checksums, without decoding it.

use super::{Damage, DamageKind, ReadError, Trace};
use crate::container::stored::HEADER;

impl Trace {
    /// Reads every stored block and compares its checksum; returns those that are corrupt. What is
    /// wrong elsewhere, [`Trace::damage`] tells.
    ///
    /// # Errors
    /// [`ReadError::Io`].
    pub fn verify(&self) -> Result<Vec<Damage>, ReadError> {
        let mut damage = Vec::new();
        for thread in &self.manifest().threads {
            let reader = self.stream(thread.id, 0)?;
            for (offset, block) in reader.ahead() {
                let payload = reader.payload(*offset, block)?;
                self.tell_read(block.words);
                if crc32fast::hash(&payload) != block.crc {
                    damage.push(Damage {
                        path: reader.path().to_owned(),
                        offset: *offset,
                        bytes: (HEADER + block.payload) as u64,
                        what: DamageKind::Corrupt(super::stream::CHECKSUM.to_owned()),
                    });
                }
            }
        }
        Ok(damage)
    }
}
