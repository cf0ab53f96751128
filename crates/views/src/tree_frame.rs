//! What a box of a flame graph stands for: a name, the kind of code that it is, and whether the
//! compiler merged it into its caller. These three, and not the address, decide what is merged.

use model::{CodeKind, Frame, LocationId, Profile};

/// What a frame of a [`CallTree`](crate::CallTree) is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FrameKind {
    /// The frame below all others.
    Root,
    /// A thread's name.
    Task,
    /// A function.
    Code(CodeKind),
}

/// A frame of a [`CallTree`](crate::CallTree); equal frames under the same parent are one node.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TreeFrame {
    /// The function's or thread's name, as it is known: not escaped for any output.
    pub name: Box<str>,
    /// What it is.
    pub kind: FrameKind,
    /// Whether the compiler merged the function into its caller.
    pub inlined: bool,
}

/// The classes of frames that a picture tells apart by hue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FrameClass {
    /// Thread names, and the frame of everything.
    Task,
    /// Compiled functions of a process.
    User,
    /// Functions of a process that were merged into their callers.
    Inlined,
    /// The kernel, inlined functions too.
    Kernel,
    /// Code that a process generated at run time.
    Jit,
    /// A virtual machine's or hypervisor's code.
    Guest,
}

impl FrameClass {
    /// Every class, in the order of a legend.
    pub const ALL: [Self; 6] = [Self::Task, Self::User, Self::Inlined, Self::Kernel, Self::Jit, Self::Guest];

    /// What a legend calls it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Task => "thread",
            Self::User => "user code",
            Self::Inlined => "inlined",
            Self::Kernel => "kernel",
            Self::Jit => "generated (JIT) code",
            Self::Guest => "guest",
        }
    }
}

impl TreeFrame {
    /// The frame of everything.
    pub(crate) fn root() -> Self {
        Self { name: "all".into(), kind: FrameKind::Root, inlined: false }
    }

    /// What stands where a sample came without any frame.
    pub(crate) fn no_stack() -> Self {
        Self { name: "[no stack]".into(), kind: FrameKind::Code(CodeKind::User), inlined: false }
    }

    /// The class that gives the frame its hue.
    pub fn class(&self) -> FrameClass {
        match self.kind {
            FrameKind::Root | FrameKind::Task => FrameClass::Task,
            FrameKind::Code(CodeKind::Kernel) => FrameClass::Kernel,
            FrameKind::Code(CodeKind::Guest) => FrameClass::Guest,
            FrameKind::Code(_) if self.inlined => FrameClass::Inlined,
            FrameKind::Code(CodeKind::Jit) => FrameClass::Jit,
            FrameKind::Code(CodeKind::User) => FrameClass::User,
        }
    }

    /// The kind in words, where it is not the plain one: colour is never the only carrier.
    pub fn kind_words(&self) -> Option<&'static str> {
        match (self.kind, self.inlined) {
            (FrameKind::Root, _) | (FrameKind::Code(CodeKind::User), false) => None,
            (FrameKind::Task, _) => Some("thread"),
            (FrameKind::Code(CodeKind::User), true) => Some("inlined"),
            (FrameKind::Code(CodeKind::Kernel), false) => Some("kernel"),
            (FrameKind::Code(CodeKind::Kernel), true) => Some("kernel, inlined"),
            (FrameKind::Code(CodeKind::Jit), false) => Some("generated code"),
            (FrameKind::Code(CodeKind::Jit), true) => Some("generated code, inlined"),
            (FrameKind::Code(CodeKind::Guest), false) => Some("guest"),
            (FrameKind::Code(CodeKind::Guest), true) => Some("guest, inlined"),
        }
    }
}

/// The frames of a location, innermost first: its functions, or the one that stands for the
/// name that is missing.
pub(crate) fn frames_of(profile: &Profile, id: LocationId) -> Vec<TreeFrame> {
    let kind = FrameKind::Code(profile.location(id).kind);
    match profile.frames(id) {
        Ok(frames) => frames
            .iter()
            .map(|&Frame { function, inlined, .. }| TreeFrame {
                name: profile.function_name(function).into(),
                kind,
                inlined,
            })
            .collect(),
        Err(_) => vec![TreeFrame { name: profile.placeholder(id).into(), kind, inlined: false }],
    }
}
