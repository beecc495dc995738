//! What went wrong last, by thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Remembers a message.
pub(super) fn set(message: &str) {
    let text = message.replace('\0', " ");
    LAST.set(CString::new(text).unwrap_or_default());
}

/// The last one; empty if there was none.
pub(super) fn last() -> *const c_char {
    LAST.with_borrow(|text| text.as_ptr())
}
