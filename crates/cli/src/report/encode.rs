//! Data as text that a page can hold: base64, JSON without markup, and the hashes of its policy.

use anyhow::{Context, Result};
use serde::Serialize;
use sha2::{Digest, Sha256};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Three bytes as four letters.
pub(super) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, at| bits << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for letter in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * letter) & 63) as usize];
            text.push(if letter <= three.len() { digit.into() } else { '=' });
        }
    }
    text
}

/// JSON that can stand in a script element: nothing in it can be taken for the element's end or for a comment.
pub(super) fn json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string(value).context("the data of the page cannot be written as JSON")?;
    // Outside of strings, JSON has none of these; inside, an escape means the same.
    Ok(text.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029"))
}

/// A script or style as a content security policy names it.
pub(crate) fn hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_everyone_else() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (bytes, text) in cases {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }

    #[test]
    fn json_ends_no_script() {
        let text = json(&["</script><!--", "a\u{2028}b"]).unwrap();
        assert_eq!(text, r#"["\u003c/script>\u003c!--","a\u2028b"]"#);
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap()[1], "a\u{2028}b");
    }

    #[test]
    fn hashes_are_those_of_browsers() {
        // From the specification of content security policies.
        assert_eq!(hash("alert('Hello, world.');"), "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
    }
}
