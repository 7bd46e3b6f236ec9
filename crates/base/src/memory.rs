//! The memory that the process has used and can use, and large allocations.
//!
//! The sizes are known on Linux only. Other systems need calls that safe Rust does not offer, and the functions return
//! `None`.
//!
//! An allocation that the system refuses aborts a Rust program, and the interpreter with it if the program is Python. So
//! what grows with the settings is allocated by [`zeros`] and [`with_capacity`], which panic with [`Refused`] instead; that
//! becomes an error ([`panics`](crate::panics)).

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::message::option;

/// Returns the peak resident memory of the process in bytes, or `None` if the system does not report it.
///
/// The value never decreases between calls. Linux counts pages per thread and adds them up from time to time, so two
/// readings of its high-water mark may differ by some pages in either direction.
pub fn peak_resident_bytes() -> Option<u64> {
    static HIGHEST: AtomicU64 = AtomicU64::new(0);
    let now = kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")?;
    Some(now.max(HIGHEST.fetch_max(now, Ordering::Relaxed)))
}

/// Returns the resident memory of the process in bytes, or `None` if the system does not report it.
pub fn resident_bytes() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// Returns the memory in bytes that the process can use in total: what it uses now plus what the machine can provide
/// without swapping, or the limit of its control group (of a container or a batch job) or of its address space
/// (`ulimit -v`) if that is lower.
pub fn available_bytes() -> Option<u64> {
    let free = kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let held = kilobytes(&status, "VmRSS:")?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = group_limit(Path::new("/sys/fs/cgroup"), &groups);
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    // Reserved addresses count, whether they are used or not.
    let reserved = kilobytes(&status, "VmSize:").unwrap_or(held);
    let addresses = address_limit(&limits).map(|limit| held + limit.saturating_sub(reserved));
    Some((free + held).min(group.unwrap_or(u64::MAX)).min(addresses.unwrap_or(u64::MAX)))
}

/// Returns the limit of the address space in `/proc/self/limits`, which may be `unlimited`.
fn address_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The memory that the process may use: what the user allows or what is available, whichever is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The size in bytes; without end if neither is known.
    pub bytes: u64,
    /// Whether it is what the user allows.
    pub given: bool,
}

impl Limit {
    /// Returns the limit of a process whose user allows `max_memory`.
    pub fn new(max_memory: Option<u64>) -> Self {
        Self::of(max_memory, available_bytes())
    }

    fn of(max_memory: Option<u64>, available: Option<u64>) -> Self {
        let [given, available] = [max_memory, available].map(|bytes| bytes.unwrap_or(u64::MAX));
        Limit { bytes: given.min(available), given: max_memory.is_some() && given <= available }
    }

    /// Checks what is needed in total.
    ///
    /// # Errors
    /// When it is more: the end of a sentence, "9 GB of memory, which exceeds the 4 GB that this machine has available".
    pub fn check(&self, needed: u64) -> Result<(), String> {
        if needed <= self.bytes {
            return Ok(());
        }
        let whose = if self.given {
            format!("that {} allows", option("max_memory"))
        } else {
            "that this machine has available".into()
        };
        Err(format!("{} of memory, which exceeds the {} {whose}", size_text(needed), size_text(self.bytes)))
    }
}

/// Returns a size for a sentence.
pub fn size_text(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes < 1e9 => format!("{:.0} MB", bytes / 1e6),
        bytes => format!("{:.1} GB", bytes / 1e9),
    }
}

/// What a panic carries when the system refused an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The size of the allocation in bytes.
    pub bytes: u128,
}

/// Smaller allocations are not checked first: a process that cannot get a megabyte is about to end anyway.
const LARGE: usize = 1 << 20;

/// Returns a vector of zeros.
///
/// # Panics
/// With [`Refused`] when the system has not enough memory.
pub fn zeros<T: Clone + Default>(len: usize) -> Vec<T> {
    if len.saturating_mul(size_of::<T>()) >= LARGE {
        // Only asked for, and given back: `vec!` gets memory that the system has zeroed, at no cost.
        drop(with_capacity::<T>(len));
    }
    vec![T::default(); len]
}

/// Returns an empty vector with room for `len` items.
///
/// # Panics
/// As [`zeros`].
pub fn with_capacity<T>(len: usize) -> Vec<T> {
    let mut empty = Vec::new();
    if empty.try_reserve_exact(len).is_err() {
        std::panic::panic_any(Refused { bytes: len as u128 * size_of::<T>() as u128 });
    }
    empty
}

fn kilobytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(field))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Returns the lowest limit of the groups listed in `/proc/self/cgroup` and of their parent groups.
fn group_limit(root: &Path, groups: &str) -> Option<u64> {
    let limits = groups.lines().filter_map(|line| {
        // `0::/path` in version 2, `7:memory:/path` in version 1.
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let (top, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        // A container may see a path of the host that does not exist inside. Only the folders that exist count.
        let own = top.join(path.trim_start_matches('/'));
        let around = own.ancestors().take_while(|folder| folder.starts_with(&top));
        // "max" does not parse as a number and means that there is no limit.
        let limit = |folder: &Path| fs::read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
        around.filter_map(limit).min()
    });
    limits.min()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn peak_covers_what_was_touched() {
        let before = peak_resident_bytes().unwrap();
        let block = vec![1u8; 64 << 20];
        assert!(block.iter().map(|&byte| u64::from(byte)).sum::<u64>() == 64 << 20);
        assert!(peak_resident_bytes().unwrap() >= before.max(64 << 20));
    }

    #[test]
    fn some_memory_is_available() {
        assert!(available_bytes().unwrap() > 1 << 20);
    }

    #[test]
    fn the_limit_of_addresses_is_read() {
        let text = |limit: &str| {
            format!(
                "Limit  Soft Limit  Hard Limit  Units\nMax address space         {limit}   unlimited   bytes\n"
            )
        };
        assert_eq!(address_limit(&text("4096000")), Some(4_096_000));
        assert_eq!(address_limit(&text("unlimited")), None);
        assert_eq!(address_limit(""), None);
    }

    #[test]
    fn the_lower_limit_counts_and_says_whose_it_is() {
        assert_eq!(Limit::of(None, None).check(u64::MAX), Ok(()));
        assert_eq!(Limit::of(Some(5), Some(9)), Limit { bytes: 5, given: true });
        assert_eq!(Limit::of(Some(9), Some(5)), Limit { bytes: 5, given: false });
        let text = Limit::of(None, Some(4_000_000_000)).check(9_000_000_000).unwrap_err();
        assert_eq!(text, "9.0 GB of memory, which exceeds the 4.0 GB that this machine has available");
        assert!(Limit::of(Some(50_000_000), None).check(50_000_001).unwrap_err().contains("allows"));
    }

    #[test]
    fn zeros_are_zeros() {
        assert!(zeros::<f64>(0).is_empty());
        assert!(zeros::<f32>(1 << 19).iter().all(|&x| x == 0.0));
    }

    #[test]
    fn the_lowest_limit_on_the_way_up_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let limit = |groups: &str| group_limit(root.path(), groups);
        assert_eq!(limit("0::/job/step\n"), None);
        write("job/step/memory.max", "max\n");
        assert_eq!(limit("0::/job/step\n"), None);
        write("job/memory.max", "5000\n");
        assert_eq!(limit("0::/job/step\n"), Some(5000));
        write("job/step/memory.max", "7000\n");
        assert_eq!(limit("0::/job/step\n"), Some(5000));
        write("memory/memory.limit_in_bytes", "3000\n");
        assert_eq!(limit("4:cpu,cpuacct:/x\n3:memory:/not/seen/here\n"), Some(3000));
        assert_eq!(limit("3:memory:/not/seen/here\n0::/job\n"), Some(3000));
        assert_eq!(limit(""), None);
    }
}
