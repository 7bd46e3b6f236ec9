//! Encoding of data for a page: base64, coordinates, JSON without markup, and the hashes of its content security policy.

use anyhow::{Context, Result};
use serde::Serialize;
use sha2::{Digest, Sha256};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes as base64.
pub(crate) fn base64(bytes: &[u8]) -> String {
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

/// Marks missing coordinates.
const NOWHERE: u16 = u16::MAX;

/// Packs coordinates in [-1, 1], 16 bits each: a finer resolution would not be visible.
pub(super) fn places(places: &[Option<[f32; 2]>]) -> String {
    let pack = |place: &Option<[f32; 2]>| match place {
        Some(place) => place.map(|coordinate| ((coordinate + 1.0) * 32767.0).round() as u16),
        None => [NOWHERE; 2],
    };
    base64(&places.iter().flat_map(pack).flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
}

/// Encodes a value as JSON for a script element: no part of it can end the element or start a comment.
pub(super) fn json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string(value).context("cannot write the data of the page as JSON")?;
    // In JSON, these characters occur in strings only, where they can be escaped.
    Ok(text.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029"))
}

/// The hash of a script or style in a content security policy.
pub(crate) fn hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_follows_the_standard() {
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
