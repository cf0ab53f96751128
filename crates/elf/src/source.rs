//! Where the bytes of an ELF file come from: pread(2) on a descriptor, or memory. A read is
//! refused before anything is allocated where it would go past the end.

use crate::error::{Error, ErrorKind};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) enum Source {
    File { file: File, len: u64 },
    Bytes(Vec<u8>),
}

impl Source {
    /// A second descriptor of `file`, so that sections can be read for as long as the image lives.
    pub(crate) fn from_file(file: &File) -> Result<Self, Error> {
        let context = "the file's size";
        let len = file.metadata().map_err(|error| Error::io(error, context))?.len();
        let file = file.try_clone().map_err(|error| Error::io(error, context))?;
        Ok(Self::File { file, len })
    }

    /// The number of bytes that can be read.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::File { len, .. } => *len,
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// The `len` bytes at `offset`; `what` names them in an error.
    pub(crate) fn read(&self, offset: u64, len: u64, what: &'static str) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.checked_len(offset, len, what)?];
        self.fill(offset, &mut bytes, what)?;
        Ok(bytes)
    }

    /// Like [`Self::read`], without the copy that making an `Arc` of a `Vec` costs.
    pub(crate) fn read_shared(&self, offset: u64, len: u64, what: &'static str) -> Result<Arc<[u8]>, Error> {
        let len = self.checked_len(offset, len, what)?;
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, len).collect();
        if let Some(bytes) = Arc::get_mut(&mut bytes) {
            self.fill(offset, bytes, what)?;
        }
        Ok(bytes)
    }

    /// The bytes at `offset`, as many as are there up to `len`.
    pub(crate) fn read_up_to(&self, offset: u64, len: u64, what: &'static str) -> Result<Vec<u8>, Error> {
        self.read(offset, len.min(self.len().saturating_sub(offset)), what)
    }

    fn checked_len(&self, offset: u64, len: u64, what: &'static str) -> Result<usize, Error> {
        let cut = || Error::new(ErrorKind::CutShort, what);
        let end = offset.checked_add(len).ok_or_else(cut)?;
        if end > self.len() {
            return Err(cut());
        }
        usize::try_from(len).map_err(|_| cut())
    }

    fn fill(&self, offset: u64, into: &mut [u8], what: &'static str) -> Result<(), Error> {
        match self {
            Self::File { file, .. } => file.read_exact_at(into, offset).map_err(|error| Error::io(error, what)),
            Self::Bytes(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                let from = start.checked_add(into.len()).and_then(|end| bytes.get(start..end));
                into.copy_from_slice(from.ok_or_else(|| Error::new(ErrorKind::CutShort, what))?);
                Ok(())
            }
        }
    }
}
