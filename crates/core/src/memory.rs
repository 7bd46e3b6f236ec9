//! How much memory the process has used.

/// The most memory the process has held at once, in bytes; `None` where the system does not tell.
pub fn peak_resident_bytes() -> Option<u64> {
    // Linux only: elsewhere it takes a call that safe Rust does not offer.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
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
}
