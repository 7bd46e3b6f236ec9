//! Text that all threads format and that is written in order.
//!
//! Invariant: the bytes do not depend on the number of threads, and only a few blocks are in memory at a time.

use std::io::{self, Write};
use std::ops::Range;

use rayon::prelude::*;

/// The number of blocks that are formatted before they are written: enough to keep many cores busy.
const BATCH: usize = 64;

/// Lets `format` append the text of each range of `block` rows and writes the texts in row order.
pub fn write_blocks(
    writer: &mut impl Write,
    rows: usize,
    block: usize,
    format: impl Fn(Range<usize>, &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    let block = block.max(1);
    let blocks = rows.div_ceil(block);
    for first in (0..blocks).step_by(BATCH) {
        let texts: Vec<Vec<u8>> = (first..blocks.min(first + BATCH))
            .into_par_iter()
            .map(|index| {
                let mut text = Vec::new();
                format(index * block..rows.min((index + 1) * block), &mut text);
                text
            })
            .collect();
        texts.iter().try_for_each(|text| writer.write_all(text))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_order_whatever_the_block() {
        for rows in [0, 1, 6, 7, 8, 500] {
            for block in [0, 1, 7, 1000] {
                let mut text = Vec::new();
                write_blocks(&mut text, rows, block, |range, text| {
                    range.for_each(|row| writeln!(text, "{row}").expect("writing to memory cannot fail"));
                })
                .unwrap();
                let expected: String = (0..rows).map(|row| format!("{row}\n")).collect();
                assert_eq!(String::from_utf8(text).unwrap(), expected);
            }
        }
    }
}
