//! Several files in one input: each follows a line `--- NAME`.
//!
//! Legible for text, and what libFuzzer and people can cut and join. A binary file may contain such a line by chance; then
//! it is split there, which is an input like any other.

/// The files of an input, in order.
pub fn split(input: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut rest = input;
    while let Some(start) = find(rest) {
        let line = &rest[start + 4..];
        let end = line.iter().position(|&byte| byte == b'\n').unwrap_or(line.len());
        let name = String::from_utf8_lossy(&line[..end]).into_owned();
        let body = &line[(end + 1).min(line.len())..];
        let next = find(body).unwrap_or(body.len());
        // The line break before the next name belongs to the name.
        let content = if next < body.len() && next > 0 { &body[..next - 1] } else { &body[..next] };
        files.push((name, content.to_vec()));
        rest = &body[next..];
    }
    files
}

/// The input of some files.
pub fn join(files: &[(impl AsRef<str>, impl AsRef<[u8]>)]) -> Vec<u8> {
    let mut input = Vec::new();
    for (at, (name, content)) in files.iter().enumerate() {
        if at > 0 {
            input.push(b'\n');
        }
        input.extend_from_slice(b"--- ");
        input.extend_from_slice(name.as_ref().as_bytes());
        input.push(b'\n');
        input.extend_from_slice(content.as_ref());
    }
    input
}

/// The position of the next line that begins with `--- `.
fn find(bytes: &[u8]) -> Option<usize> {
    let begins = |at: usize| bytes[at..].starts_with(b"--- ");
    if begins(0) {
        return Some(0);
    }
    (1..bytes.len()).find(|&at| bytes[at - 1] == b'\n' && bytes[at] == b'-' && begins(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back() {
        for files in [
            vec![("a.tsv", &b"a\tb\n"[..]), ("empty", b""), ("b", b"\0\xff\n\n")],
            vec![("one", b"no line break")],
            vec![],
        ] {
            let owned: Vec<(String, Vec<u8>)> =
                files.iter().map(|(name, content)| ((*name).to_owned(), content.to_vec())).collect();
            assert_eq!(split(&join(&files)), owned);
        }
        assert!(split(b"no names").is_empty());
        assert_eq!(split(b"--- x"), [("x".to_owned(), vec![])]);
    }
}
