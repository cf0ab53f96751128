//! Where a recording's bytes come from. Files are read with pread(2) and not mapped: one that is
//! cut while it is read would kill the reader of a mapping with SIGBUS.

use crate::error::Error;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileExt as _;

/// A recording's bytes.
pub enum Input {
    /// A file; any part can be read at any time.
    File(File),
    /// Bytes in memory.
    Bytes(Vec<u8>),
    /// A pipe, which is read once from its beginning.
    Stream(Stream),
}

/// A pipe and how far it was read.
pub struct Stream {
    reader: Box<dyn Read + Send>,
    position: u64,
}

impl Input {
    /// The bytes of an open file, or of the pipe or device that it is.
    pub fn new(file: File) -> io::Result<Self> {
        if file.metadata()?.is_file() { Ok(Self::File(file)) } else { Ok(Self::stream(file)) }
    }

    /// The bytes that a reader gives.
    pub fn stream(reader: impl Read + Send + 'static) -> Self {
        Self::Stream(Stream { reader: Box::new(reader), position: 0 })
    }

    /// How many bytes there are now; `None` for a pipe.
    pub(crate) fn len(&self) -> Result<Option<u64>, Error> {
        match self {
            Self::File(file) => file.metadata().map(|metadata| Some(metadata.len())).map_err(Error::Read),
            Self::Bytes(bytes) => Ok(Some(bytes.len() as u64)),
            Self::Stream(_) => Ok(None),
        }
    }

    /// Reads what is there from `offset` on, as much as fits; 0 at the end. In a pipe `offset` must
    /// not lie before what was read.
    pub(crate) fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Error> {
        // The kernel's offsets have a sign: what a damaged length points behind is the end, no error.
        if i64::try_from(offset).is_err() {
            return Ok(0);
        }
        loop {
            let read = match self {
                Self::File(file) => file.read_at(buffer, offset),
                Self::Bytes(bytes) => {
                    let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
                    let count = rest.len().min(buffer.len());
                    buffer[..count].copy_from_slice(&rest[..count]);
                    Ok(count)
                }
                Self::Stream(stream) => stream.read_at(offset, buffer),
            };
            match read {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read.map_err(Error::Read),
            }
        }
    }

    /// Reads until the buffer is full or the input ends; how much it was.
    pub(crate) fn fill_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read_at(offset.saturating_add(filled as u64), &mut buffer[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        Ok(filled)
    }

    /// A part of a file, as far as it is there: a section that is cut is shorter.
    pub(crate) fn section(&mut self, section: Section) -> Result<Vec<u8>, Error> {
        let len = self.len()?.unwrap_or(0);
        let available = section.size.min(len.saturating_sub(section.offset));
        let mut bytes = vec![0; usize::try_from(available).map_err(|_| Error::Unsupported("it is too large"))?];
        let filled = self.fill_at(section.offset, &mut bytes)?;
        bytes.truncate(filled);
        Ok(bytes)
    }

    /// A pipe whose contents turn out to be a file, `head` of it being read, is held in memory.
    pub(crate) fn into_seekable(self, head: &[u8]) -> Result<Self, Error> {
        match self {
            Self::Stream(mut stream) => {
                let mut bytes = head.to_vec();
                stream.reader.read_to_end(&mut bytes).map_err(Error::Read)?;
                Ok(Self::Bytes(bytes))
            }
            seekable => Ok(seekable),
        }
    }
}

impl Stream {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        while self.position < offset {
            let skip = (offset - self.position).min(buffer.len() as u64) as usize;
            match self.reader.read(&mut buffer[..skip])? {
                0 => return Ok(0),
                count => self.position += count as u64,
            }
        }
        let count = self.reader.read(buffer)?;
        self.position += count as u64;
        Ok(count)
    }
}

/// A part of a file: `struct perf_file_section`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Section {
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

impl Section {
    pub(crate) fn end(self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}
