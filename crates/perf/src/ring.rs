//! The buffer that the kernel writes records into: one page of control words, then 2^n pages of
//! data, mapped at offset 0 of an event's descriptor (perf_event_open(2), "MMAP layout").
//!
//! Storing the tail tells the kernel that the records before it were read. Records wrap around
//! the end of the data; copying them out linearly makes them whole again.

use crate::counter::Counter;
use perf_event_open_sys::bindings::perf_event_mmap_page;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
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

    /// How many bytes of records fit.
    pub fn capacity(&self) -> usize {
        self.data_words * size_of::<u64>()
    }

    /// Appends all records that are there to `records` and gives their room back to the kernel.
    /// Returns how many words were appended.
    pub fn drain_into(&mut self, records: &mut Vec<u64>) -> usize {
        // The kernel publishes records before it moves the head (its side is a release).
        let head = self.head().load(Ordering::Acquire);
        // Only this side writes the tail.
        let tail = self.tail().load(Ordering::Relaxed);
        // Both count bytes since the start, and records are multiples of eight.
        let unread = (head.wrapping_sub(tail) as usize / size_of::<u64>()).min(self.data_words);
        let start = (tail as usize / size_of::<u64>()) & (self.data_words - 1);
        let before_wrap = unread.min(self.data_words - start);
        records.reserve(unread);
        self.append(start, before_wrap, records);
        self.append(0, unread - before_wrap, records);
        // Nothing is read from the room after the kernel may write there again.
        self.tail().store(head, Ordering::Release);
        unread
    }

    fn append(&self, start: usize, words: usize, records: &mut Vec<u64>) {
        debug_assert!(start + words <= self.data_words);
        // SAFETY: `start + words` lies within the mapped data (checked by `map` and the masks of
        // the caller), the data is page-aligned, and the kernel does not write between tail and
        // head. `records` has reserved the room and cannot overlap the mapping.
        unsafe {
            let from = self.control.as_ptr().cast::<u8>().add(self.data_offset).cast::<u64>().add(start);
            let to = records.as_mut_ptr().add(records.len());
            std::ptr::copy_nonoverlapping(from, to, words);
            records.set_len(records.len() + words);
        }
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

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `map` made, and nothing borrowed from it is left. An
        // error could only mean that it is gone already.
        let _ = unsafe { munmap(self.control.as_ptr().cast(), self.mapped_bytes) };
    }
}
