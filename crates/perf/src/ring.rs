//! The buffer that the kernel writes records into: one page of control words, then 2^n pages of
//! data, mapped at offset 0 of an event's descriptor (perf_event_open(2), "MMAP layout").
//!
//! Storing the tail tells the kernel that the records before it were read; until then it leaves
//! them alone, and they can be looked at where they lie. A record that wraps around the end of
//! the data is copied to be whole.

use crate::counter::Counter;
use crate::merge::Records;
use perf_event_open_sys::bindings::perf_event_mmap_page;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ops::Range;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// A mapped ring buffer.
#[derive(Debug)]
pub struct Ring {
    control: NonNull<perf_event_mmap_page>,
    mapped_bytes: usize,
    data_offset: usize,
    data_words: usize,
}

// SAFETY: the mapping belongs to this value alone and is shared with the kernel only, by way of
// atomics; nothing in it is bound to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps a ring of `data_pages` (a power of two) pages for the records of `counter` and of
    /// all that are joined to it.
    pub fn map(counter: &Counter, data_pages: usize) -> rustix::io::Result<Self> {
        let page = rustix::param::page_size();
        let mapped_bytes = (1 + data_pages) * page;
        // SAFETY: a fresh shared mapping at an address of the kernel's choice overlaps nothing.
        let address = unsafe {
            mmap(
                std::ptr::null_mut(),
                mapped_bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                counter.as_fd(),
                0,
            )?
        };
        let control = NonNull::new(address.cast::<perf_event_mmap_page>()).ok_or(rustix::io::Errno::NOMEM)?;
        // SAFETY: the first page was just mapped; the kernel filled these fields in before and
        // never changes them.
        let (offset, size) = unsafe { ((*control.as_ptr()).data_offset, (*control.as_ptr()).data_size) };
        // Kernels before 4.1 leave the two at 0: the data starts on the second page.
        let data_offset = if offset == 0 { page } else { offset as usize };
        let data_bytes = if size == 0 { data_pages * page } else { size as usize };
        let ring = Self { control, mapped_bytes, data_offset, data_words: data_bytes / size_of::<u64>() };
        if data_offset + data_bytes > mapped_bytes || !ring.data_words.is_power_of_two() {
            return Err(rustix::io::Errno::INVAL);
        }
        Ok(ring)
    }

    fn words_at(&self, word: usize, words: usize) -> &[u64] {
        assert!(word + words <= self.data_words);
        // SAFETY: the words lie within the mapped data, which is page-aligned, and between tail
        // and head (the callers see to it), where the kernel does not write until `free_until`,
        // for which the caller of that must hold the ring alone.
        unsafe {
            let data = self.control.as_ptr().cast::<u8>().add(self.data_offset).cast::<u64>();
            std::slice::from_raw_parts(data.add(word), words)
        }
    }

    /// The word of the data that a position falls on: positions count bytes and never go back.
    fn index_of(&self, position: u64) -> usize {
        (position / size_of::<u64>() as u64) as usize & (self.data_words - 1)
    }

    fn head(&self) -> &AtomicU64 {
        // SAFETY: the field lies in the mapped control page, is aligned, and is only accessed
        // atomically while the mapping lives.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.control.as_ptr()).data_head) }
    }

    fn tail(&self) -> &AtomicU64 {
        // SAFETY: as for `head`.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.control.as_ptr()).data_tail) }
    }
}

impl Records for Ring {
    fn unread(&self) -> Range<u64> {
        // The kernel publishes records before it moves the head (its side is a release).
        let head = self.head().load(Ordering::Acquire);
        // Only this side writes the tail.
        self.tail().load(Ordering::Relaxed)..head
    }

    fn word(&self, position: u64) -> u64 {
        debug_assert!(self.unread().contains(&position));
        self.words_at(self.index_of(position), 1)[0]
    }

    fn record<'a>(&'a self, position: u64, words: usize, scratch: &'a mut Vec<u64>) -> &'a [u64] {
        let start = self.index_of(position);
        let before_wrap = self.data_words - start;
        if words <= before_wrap {
            return self.words_at(start, words);
        }
        scratch.clear();
        scratch.extend_from_slice(self.words_at(start, before_wrap));
        scratch.extend_from_slice(self.words_at(0, words - before_wrap));
        scratch
    }

    fn free_until(&mut self, position: u64) {
        debug_assert!(self.unread().end >= position);
        // Whatever was read before is read for good when the kernel sees the new tail.
        self.tail().store(position, Ordering::Release);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `map` made, and nothing borrowed from it is left. An
        // error could only mean that it is gone already.
        let _ = unsafe { munmap(self.control.as_ptr().cast(), self.mapped_bytes) };
    }
}
