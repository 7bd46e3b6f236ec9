//! Counts the memory that each thread holds, so that an input that makes a reader ask for too much is a failure.
#![allow(unsafe_code)] // An allocator cannot be written without; it only counts and passes everything on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use manyview_fuzz::runner::current;

/// The allocator of the system, with counters.
pub(crate) struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static BEGIN: Cell<isize> = const { Cell::new(0) };
}

fn add(bytes: isize) {
    // At the end of a thread the counters may be gone.
    _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

/// Returns the most bytes that this thread has held since the last call, beyond what it held then.
pub(crate) fn peak() -> usize {
    let (held, begin, peak) = (HELD.get(), BEGIN.get(), PEAK.get());
    BEGIN.set(held);
    PEAK.set(held);
    usize::try_from(peak - begin).unwrap_or(0)
}

fn counted(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        // The process is going to end, and this is the last place that knows the input.
        let (target, seed, execution) = current();
        eprintln!(
            "no memory for {size} bytes: --target {target} --seed {seed} --from {execution} --executions 1"
        );
    } else {
        add(size as isize);
    }
    pointer
}

// SAFETY: every call is passed to the allocator of the system with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        counted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        counted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(-(layout.size() as isize));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        let new = unsafe { System.realloc(pointer, layout, size) };
        if !new.is_null() {
            add(-(layout.size() as isize));
        }
        counted(new, size)
    }
}
