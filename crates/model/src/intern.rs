//! A table that holds every value once and numbers it in order of arrival.

use crate::id::Id;
use indexmap::{Equivalent, IndexSet};
use rustc_hash::FxBuildHasher;
use std::hash::Hash;
use std::marker::PhantomData;

/// Distinct values, numbered from 0.
#[derive(Clone, Debug)]
pub struct Interner<I, T> {
    values: IndexSet<T, FxBuildHasher>,
    ids: PhantomData<I>,
}

impl<I, T> Default for Interner<I, T> {
    fn default() -> Self {
        Self { values: IndexSet::default(), ids: PhantomData }
    }
}

impl<I: Id, T: Eq + Hash> Interner<I, T> {
    /// The id of `value`, which is added if it is new.
    pub fn intern(&mut self, value: T) -> I {
        I::from_index(self.values.insert_full(value).0)
    }
    /// The id of `value`, if the table holds it.
    pub fn find<Q: ?Sized + Hash + Equivalent<T>>(&self, value: &Q) -> Option<I> {
        self.values.get_index_of(value).map(I::from_index)
    }
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
    /// All values in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (I, &T)> {
        self.values.iter().enumerate().map(|(index, value)| (I::from_index(index), value))
    }
}

impl<I: Id> Interner<I, Box<str>> {
    /// The id of `text`, which is copied only if it is new.
    pub fn intern_str(&mut self, text: &str) -> I {
        match self.values.get_index_of(text) {
            Some(index) => I::from_index(index),
            None => self.intern(text.into()),
        }
    }
}

impl<I: Id, T> std::ops::Index<I> for Interner<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.values[id.index()]
    }
}
