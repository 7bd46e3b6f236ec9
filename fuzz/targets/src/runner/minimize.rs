//! Makes an input that fails smaller.

/// More attempts are rarely worth it.
const MOST_ATTEMPTS: usize = 4000;

/// Returns whether two messages are about the same defect: the same place in the source, or the same limit.
pub(super) fn same(one: &str, other: &str) -> bool {
    // A place is `file.rs:12: `; what follows may quote the input.
    let place = |text: &str| text.splitn(3, ':').take(2).collect::<Vec<_>>().join(":");
    let limit = |text: &str| text.split(':').next().unwrap_or_default().to_owned();
    if one.contains(".rs:") { place(one) == place(other) } else { limit(one) == limit(other) }
}

/// Removes ever smaller pieces, then makes bytes plain, as long as the input still fails.
pub(super) fn smallest(input: &[u8], fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut best = input.to_vec();
    let mut attempts = 0;
    let mut size = best.len().div_ceil(2);
    while size > 0 && attempts < MOST_ATTEMPTS {
        let mut at = 0;
        let mut removed = false;
        while at < best.len() && attempts < MOST_ATTEMPTS {
            let end = (at + size).min(best.len());
            let without = [&best[..at], &best[end..]].concat();
            attempts += 1;
            if fails(&without) {
                best = without;
                removed = true;
            } else {
                at = end;
            }
        }
        if !removed || size > 1 {
            size /= 2;
        }
    }
    for at in 0..best.len() {
        for plain in *b"a1" {
            if attempts < MOST_ATTEMPTS && !best[at].is_ascii_alphanumeric() {
                let before = std::mem::replace(&mut best[at], plain);
                attempts += 1;
                if fails(&best) {
                    break;
                }
                best[at] = before;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_removed() {
        let input = [&[b'x'; 500][..], b"<b>", &[b'y'; 500], b"</b>"].concat();
        let small = smallest(&input, |input| {
            let text = String::from_utf8_lossy(input);
            text.contains("<b>") && text.contains("</b>")
        });
        assert_eq!(small, b"<b></b>");
    }

    #[test]
    fn messages_are_compared_by_their_place() {
        assert!(same("src/a.rs:12: weight 3", "src/a.rs:12: weight 4"));
        assert!(!same("src/a.rs:12: weight 3", "src/a.rs:13: weight 3"));
        assert!(same("too slow: took 3 s", "too slow: took 4 s"));
        assert!(!same("too slow: took 3 s", "too much memory: 4"));
    }
}
