//! What is to be done where, and how the source does it.

use prestore_trace::SiteId;

/// A pre-store operation (P0, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PreStore {
    /// Write the line back, keep it.
    Clean,
    /// Move the line to a farther level.
    Demote,
    /// Write around the caches.
    Skip,
}

/// How the source is changed to do an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// Clean and demote: a call of `prestore()` after the data is written.
    Call,
    /// Skip: `prestore_copy_skip()` in the place of `memcpy()`, or `prestore_fill_skip()` of `memset()`.
    CopyCall,
    /// Skip: the stores that are there, made non-temporal by the compiler.
    InPlace,
    /// Skip: each store becomes a `prestore_writer_put()`, which gathers a line on the stack.
    Writer,
    /// Skip: the data is built in a buffer that stays in the caches, and copied by `prestore_copy_skip()`.
    Buffer,
}

/// One finding's advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The store instructions it is about.
    pub sites: Vec<SiteId>,
    /// What to do with what they write.
    pub op: PreStore,
    /// How.
    pub way: Way,
}

impl Rule {
    /// `op` at `sites`, with no store more than there is: a call after the data is written, or in the place of
    /// the copy that writes it.
    pub fn new(sites: Vec<SiteId>, op: PreStore) -> Self {
        let way = match op {
            PreStore::Clean | PreStore::Demote => Way::Call,
            PreStore::Skip => Way::CopyCall,
        };
        Self { sites, op, way }
    }
}

/// Instructions that a change adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// A call of `prestore()` for neighbouring lines.
    pub call: u32,
    /// Each line of it.
    pub line: u32,
    /// A call of `prestore_copy_skip()`, more than the copy that it replaces.
    pub copy: u32,
    /// Each line of it.
    pub copy_line: u32,
    /// A call of `prestore_copy_skip()` that replaces none: all its instructions.
    pub buffer: u32,
    /// Each line of it.
    pub buffer_line: u32,
    /// A `prestore_writer_put` of at most eight bytes that does not complete a line.
    pub put: u32,
    /// One that does, or of more bytes.
    pub put_line: u32,
}

impl Costs {
    /// Those of this project's library, as it executes them: the instructions of the bundled key-value store and
    /// of listing 1 with an operation, less those without, per line of 64 B (`scope count`; a test counts again). A copy
    /// by the library is set beside one by the C library, both with SSE2, which all x86-64 processors have: then a line
    /// costs the same. With wider vectors the C library's copy takes fewer instructions, by processor and size: for
    /// 1 KiB the difference was 46, 78, 78 and 104 on four hosts. The copy of a buffer comes on top of all that the program
    /// does; it is counted with 32 B (a line is 12 instructions with SSE2, 6 with AVX-512).
    pub const LIBRARY: Self = Self {
        call: 9,
        line: 4,
        copy: 45,
        copy_line: 0,
        buffer: 90,
        buffer_line: 8,
        put: 8,
        put_line: 94,
    };
}
