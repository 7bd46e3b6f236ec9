//! Packed files from text: by the usual libraries, and by hand, which is faster and reaches unusual headers.

use std::io::Write;

use crate::random::Random;

/// Packs a text in one of several ways, mostly validly.
pub(crate) fn pack(text: &[u8], random: &mut Random) -> Vec<u8> {
    match random.below(16) {
        0 => gzip(text),
        1 => zstd(text),
        2..6 => stored_gzip(text, random),
        6..9 => raw_zstd(text, random),
        // Files that were appended to have several members.
        9 => [stored_gzip(&text[..text.len() / 2], random), stored_gzip(&text[text.len() / 2..], random)]
            .concat(),
        10 => [raw_zstd(&text[..text.len() / 2], random), raw_zstd(&text[text.len() / 2..], random)].concat(),
        // Trailing bytes.
        11 => [stored_gzip(text, random), vec![0; random.below(4)]].concat(),
        12 => [b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec(), raw_zstd(text, random)].concat(),
        13 => [raw_zstd(text, random), b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec()].concat(),
        _ => text.to_vec(),
    }
}

/// The text in all ways that every reader of such files accepts.
pub(crate) fn pack_validly(text: &[u8]) -> [Vec<u8>; 5] {
    let mut random = Random::new(0);
    let stored = stored_gzip(text, &mut random);
    let members = [gzip(&text[..text.len() / 2]), gzip(&text[text.len() / 2..])].concat();
    [gzip(text), zstd(text), stored, members, text.to_vec()]
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).expect("to memory");
    encoder.finish().expect("to memory")
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).expect("to memory")
}

/// A gzip member of stored blocks, with a random set of optional header fields.
fn stored_gzip(text: &[u8], random: &mut Random) -> Vec<u8> {
    let flags = if random.one_in(3) { random.byte() & 0b1_1110 } else { 0 };
    let mut bytes = vec![0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3];
    if flags & 4 != 0 {
        bytes.extend(*b"\x04\0extr");
    }
    if flags & 8 != 0 {
        bytes.extend(*b"name.tsv\0");
    }
    if flags & 16 != 0 {
        bytes.extend(*b"comment\0");
    }
    if flags & 2 != 0 {
        let sum = crc32fast::hash(&bytes) as u16;
        bytes.extend(sum.to_le_bytes());
    }
    let pieces: Vec<&[u8]> = if text.is_empty() { vec![text] } else { text.chunks(60_000).collect() };
    for (at, piece) in pieces.iter().enumerate() {
        bytes.push(u8::from(at + 1 == pieces.len()));
        let length = piece.len() as u16;
        bytes.extend(length.to_le_bytes());
        bytes.extend((!length).to_le_bytes());
        bytes.extend_from_slice(piece);
    }
    bytes.extend(crc32fast::hash(text).to_le_bytes());
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes
}

/// A zstd frame of raw blocks, sometimes with a block that repeats a byte, or without the size of its content.
fn raw_zstd(text: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = b"\x28\xb5\x2f\xfd".to_vec();
    let repeat = if random.one_in(6) { random.below(1000) } else { 0 };
    let size = (text.len() + repeat) as u32;
    if random.one_in(2) {
        // A single segment with a size of four bytes.
        bytes.push(0xa0);
        bytes.extend(size.to_le_bytes());
    } else {
        // No size; a window of 1 KB to 8 MB, or, rarely, of any size that can be written.
        let window = if random.one_in(20) { random.byte() } else { (random.below(14) as u8) << 3 };
        bytes.extend([0, window]);
    }
    let mut block = |kind: u32, length: usize, last: bool, content: &[u8]| {
        let header = u32::from(last) | kind << 1 | (length as u32) << 3;
        bytes.extend_from_slice(&header.to_le_bytes()[..3]);
        bytes.extend_from_slice(content);
    };
    let pieces: Vec<&[u8]> = if text.is_empty() { vec![text] } else { text.chunks(1000).collect() };
    for (at, piece) in pieces.iter().enumerate() {
        block(0, piece.len(), at + 1 == pieces.len() && repeat == 0, piece);
    }
    if repeat > 0 {
        block(1, repeat, true, random.pick(&[&b"\n"[..], b" ", b"a"]));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn files_packed_by_hand_are_valid() {
        let mut random = Random::new(1);
        for length in [0, 1, 7, 999, 1001, 60_000, 70_000] {
            let text = vec![b'x'; length];
            for _ in 0..10 {
                let mut found = Vec::new();
                let packed = stored_gzip(&text, &mut random);
                flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut found).unwrap();
                assert_eq!(found, text);
                let packed = raw_zstd(&text, &mut random);
                // Windows of other sizes may be refused.
                if packed[4] == 0xa0 || packed[5] & 7 == 0 && packed[5] < 0x70 {
                    let found = zstd::decode_all(&packed[..]).unwrap();
                    assert_eq!(found[..length], text);
                }
            }
        }
    }
}
