//! Places in code, and the functions that they stand for. The two are apart: a location is
//! known when a sample arrives, its functions only once names were looked up, and inlining
//! makes several functions of one location.

use crate::reason::NameMissing;
use crate::{Address, BuildId, FileOffset, FunctionId, MappingId, StringId};

/// A file (or region) that held code, in one version.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MappedFile {
    /// Its path, or a name in brackets: `[kernel]`, `[vdso]`, `[jit 123]`.
    pub path: StringId,
    /// The identity of its contents, where it has one.
    pub build_id: Option<BuildId>,
    /// Tells versions of a path apart that have no build id.
    pub version: u32,
}

/// A place in code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Location {
    /// The file that the code lies in, where one is known.
    pub mapping: Option<MappingId>,
    /// Where the code lies. Return addresses have been moved back into the call instruction
    /// ([`CodeAddress::lookup`](crate::CodeAddress::lookup)).
    pub address: LocationAddress,
    /// What kind of code it is.
    pub kind: CodeKind,
}

/// Where code lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LocationAddress {
    /// At this offset of the mapped file.
    File(FileOffset),
    /// At this address of the kernel.
    Kernel(Address),
    /// At this address of a process, in memory that no file stands behind.
    Memory(Address),
    /// Nowhere: the input was symbolised text, and the location is just this function.
    Symbol {
        /// The function.
        function: FunctionId,
        /// Whether the text marks it as inlined into its caller.
        inlined: bool,
    },
}

/// Who runs the code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CodeKind {
    /// Compiled code of a process.
    User,
    /// The kernel or one of its modules.
    Kernel,
    /// Code that a process generated at run time.
    Jit,
    /// A virtual machine's or hypervisor's.
    Guest,
}

/// One function of a location. A location's frames stand innermost first; all but the last
/// were inlined into the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The function.
    pub function: FunctionId,
    /// The line in the function's file, 0 where it is not known.
    pub line: u32,
    /// Whether the compiler merged the function into its caller.
    pub inlined: bool,
    /// How many bytes the location's address lies behind the function's first one; `None` for an
    /// inlined function and where it is not known. The address of a caller has been moved back
    /// into its call ([`Location::address`]), so that the recorded one lies one byte further.
    pub offset: Option<u64>,
}

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Function {
    /// Its name, demangled.
    pub name: StringId,
    /// The source file that it stands in, where that is known.
    pub file: Option<StringId>,
}

/// What the look-up of a location's names gave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Naming {
    /// Nobody looked yet.
    Pending,
    /// Frames `start..start + len` of the profile's list.
    Named { start: u32, len: u32 },
    /// There is no name, because.
    Missing(NameMissing),
}
