//! Counts the memory that each thread holds: tests run side by side in one process.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(bytes: isize) {
    // A thread that ends frees memory after its counters are gone.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + bytes, most.max(now + bytes)));
    });
}

// SAFETY: every call is handed to the system's allocator as it is, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above; what is given back came from there.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may exist for a moment.
        count(size as isize);
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The most bytes that this thread held more than at the beginning while `work` ran.
pub fn most_held<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let start = HELD.get().0;
    HELD.set((start, start));
    let result = work();
    (result, (HELD.get().1 - start).max(0) as usize)
}

#[test]
fn memory_is_counted() {
    let ((), most) = most_held(|| drop(std::hint::black_box(vec![1u8; 1 << 20])));
    assert!((1 << 20..2 << 20).contains(&most), "{most}");
    let (kept, most) = most_held(|| std::hint::black_box(vec![1u8; 100]));
    assert!((100..1000).contains(&most), "{most} {}", kept.len());
}
