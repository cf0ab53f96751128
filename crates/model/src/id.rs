//! Indices into a [`Profile`](crate::Profile)'s tables. Each table has its own type of index,
//! so that a stack cannot be looked up where a location is meant.

/// An index into one table.
pub trait Id: Copy + Eq {
    /// The id of the `index`-th entry.
    ///
    /// # Panics
    /// If a table has outgrown `u32`, which at the sizes of its entries means tens of gigabytes.
    fn from_index(index: usize) -> Self;
    /// The position of the entry in its table.
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(u32);

        impl Id for $name {
            fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("a profile's table holds fewer than 2^32 entries"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A string of [`Profile::strings`](crate::Profile::strings).
    StringId;
    /// A file or region of [`Profile::mappings`](crate::Profile::mappings).
    MappingId;
    /// A function of [`Profile::functions`](crate::Profile::functions).
    FunctionId;
    /// A place in code of [`Profile`](crate::Profile).
    LocationId;
    /// A node of the [`StackTree`](crate::StackTree): the whole stack from the root to it.
    StackId;
    /// A thread under one name of [`Profile::tasks`](crate::Profile::tasks).
    TaskId;
    /// An event of [`Profile::events`](crate::Profile::events) or of a source.
    EventId;
}
