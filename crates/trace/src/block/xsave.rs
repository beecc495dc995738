//! The area that processor state is saved to (`xsave` family).

/// With a component's size: [`XsaveComponent::aligned`].
const ALIGNED: u32 = 1 << 31;

/// One state component of the `xsave` area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct XsaveComponent {
    /// Offset in the standard form, bytes.
    pub offset: u32,
    /// Size, bytes.
    pub size: u32,
    /// In the compacted form it begins at a multiple of 64.
    pub aligned: bool,
}

impl XsaveComponent {
    /// As a process's record has it.
    pub(super) fn of_words(offset: u32, size: u32) -> Self {
        Self {
            offset,
            size: size & !ALIGNED,
            aligned: size & ALIGNED != 0,
        }
    }
}

/// How an instruction of the `xsave` family treats its area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XsaveForm {
    /// Saves all of what is requested (`xsave`).
    All,
    /// Saves what is in use, in the compacted form (`xsavec`).
    Compacted,
    /// Saves what is in use (`xsaveopt`).
    InUse,
    /// Restores what the area has, in either form (`xrstor`).
    Restored,
}
