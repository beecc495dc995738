//! What a core waits for, in words.

/// A cause of stalls (docs/metrics.md), explained.
pub(crate) fn in_words(cause: &str) -> String {
    let words = match cause {
        "fence_loads" => "a fence waits for loads",
        "fence_stores" => "a fence waits for stores to reach the cache",
        "fence_flushes" => "a fence waits for flushes and non-temporal stores to be accepted",
        "atomic_order" => "an atomic waits for what came before it",
        "atomic_line" => "an atomic waits for its line",
        "store_buffer_full" => "the store buffer is full",
        "store_forward" => "a load waits for a pending store to reach the cache",
        "fill_buffers_full" => "all line fill buffers are taken",
        "write_combining_full" => "all write-combining buffers are taken",
        "uncached" => "an access to memory that is not cached waits for the one before",
        "flush" => "too many flushes are pending",
        "await" => "waiting for another thread",
        "lock" => "another thread has the lock",
        "end" => "what was pending at the thread's end",
        "load_peer" => "loads from another core's cache",
        _ => match cause.strip_prefix("load_") {
            Some(from) => return format!("loads from {from}"),
            None => cause,
        },
    };
    words.to_owned()
}
