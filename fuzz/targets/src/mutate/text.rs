//! Changes of text in lines and tokens: tables, TOML and JSON.

use std::ops::Range;

use super::{change_bytes, number};
use crate::random::Random;

/// What to say in the language of a format.
pub struct Words {
    /// Words that may replace a word.
    pub words: &'static [&'static str],
    /// Whole lines that may be inserted.
    pub lines: &'static [&'static str],
    /// Once in how many times a change may be one of bytes, which mostly makes the text invalid.
    pub rough: usize,
}

/// Makes one change.
pub fn change_text(text: &mut Vec<u8>, others: &[Vec<u8>], words: &Words, random: &mut Random) {
    if text.is_empty() || random.one_in(words.rough) {
        return change_bytes(text, random);
    }
    match random.below(16) {
        0..6 => change_token(text, words, random),
        6 | 7 => exchange_tokens(text, random),
        8 | 9 => repeat_line(text, random),
        10 => _ = remove(text, random),
        11 => {
            let line = remove(text, random);
            insert(text, line, random);
        }
        12 if !others.is_empty() => {
            let other = &others[random.below(others.len())];
            let line = other[a_line(other, random)].to_vec();
            insert(text, line, random);
        }
        13 if !words.lines.is_empty() => insert(text, random.pick(words.lines).as_bytes().to_vec(), random),
        14 if random.one_in(8) => {
            *text = String::from_utf8_lossy(text).replace('\n', "\r\n").into_bytes();
        }
        15 if random.one_in(8) => text.splice(0..0, *b"\xef\xbb\xbf").for_each(drop),
        _ => change_token(text, words, random),
    }
}

/// Replaces a number by a number and a word by a word.
fn change_token(text: &mut Vec<u8>, words: &Words, random: &mut Random) {
    let Some(token) = a_token(text, random) else { return change_bytes(text, random) };
    let is_number = text[token.start].is_ascii_digit() || text[token.start] == b'-';
    let new = if is_number { number(random) } else { random.pick(words.words) };
    text.splice(token, new.bytes());
}

/// Replaces a token by another one of the same text.
fn exchange_tokens(text: &mut Vec<u8>, random: &mut Random) {
    if let (Some(one), Some(other)) = (a_token(text, random), a_token(text, random)) {
        let copy = text[other].to_vec();
        text.splice(one, copy);
    }
}

/// A run of letters, digits and what numbers and names consist of, near a random place.
fn a_token(text: &[u8], random: &mut Random) -> Option<Range<usize>> {
    let from = random.below(text.len());
    let start = from + text[from..].iter().position(|&byte| is_part(byte))?;
    let before = text[..start].iter().rev().take_while(|&&byte| is_part(byte)).count();
    let after = text[start..].iter().take_while(|&&byte| is_part(byte)).count();
    Some(start - before..start + after)
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'_' | b'.' | b'-' | b'+')
}

/// A line near a random place, with its line break.
fn a_line(text: &[u8], random: &mut Random) -> Range<usize> {
    let from = random.below(text.len());
    let start = text[..from].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let end = text[from..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| from + at + 1);
    start..end
}

fn remove(text: &mut Vec<u8>, random: &mut Random) -> Vec<u8> {
    if text.is_empty() {
        return Vec::new();
    }
    let line = a_line(text, random);
    text.drain(line).collect()
}

fn repeat_line(text: &mut Vec<u8>, random: &mut Random) {
    let line = a_line(text, random);
    // Rarely so often that the text passes the first buffer of a reader.
    let times = if random.one_in(200) { 1 + 6000 / line.len().max(1) } else { 1 };
    let copy = text[line].repeat(times);
    insert(text, copy, random);
}

/// Inserts a line before or after a random one.
fn insert(text: &mut Vec<u8>, mut line: Vec<u8>, random: &mut Random) {
    if line.last() != Some(&b'\n') {
        line.push(b'\n');
    }
    let place = if text.is_empty() { 0..0 } else { a_line(text, random) };
    let at = if random.one_in(2) { place.start } else { place.end };
    if at > 0 && text[at - 1] != b'\n' {
        line.insert(0, b'\n');
    }
    text.splice(at..at, line);
}
