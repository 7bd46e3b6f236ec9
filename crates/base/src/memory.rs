//! The memory that the process has used and can use.
//!
//! Supported on Linux only. Other systems need calls that safe Rust does not offer, and the functions return `None`.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns the peak resident memory of the process in bytes, or `None` if the system does not report it.
///
/// The value never decreases between calls. Linux counts pages per thread and adds them up from time to time, so two
/// readings of its high-water mark may differ by some pages in either direction.
pub fn peak_resident_bytes() -> Option<u64> {
    static HIGHEST: AtomicU64 = AtomicU64::new(0);
    let now = kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")?;
    Some(now.max(HIGHEST.fetch_max(now, Ordering::Relaxed)))
}

/// Returns the memory in bytes that the process can use in total: what it uses now plus what the machine can provide
/// without swapping, or the limit of its control group (of a container or a batch job) if that is lower.
pub fn available_bytes() -> Option<u64> {
    let free = kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    let held = kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limit = group_limit(Path::new("/sys/fs/cgroup"), &groups);
    Some((free + held).min(limit.unwrap_or(u64::MAX)))
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
