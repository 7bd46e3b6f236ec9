//! Text that all threads format and that is written in order.
//!
//! Invariant: the bytes do not depend on the number of threads, and only a few blocks are in memory at a time.

use std::io::{self, Write};
use std::ops::Range;

use rayon::prelude::*;

use manyview_base::parallel::Pool;

/// The number of blocks that are formatted before they are written: enough to keep many cores busy.
const BATCH: usize = 64;

/// Calls `format` for each range of `block` rows to append its text, on the threads of the pool, and writes the texts
/// in row order, on the calling thread.
pub fn write_blocks(
    pool: &Pool,
    writer: &mut impl Write,
    rows: usize,
    block: usize,
    format: impl Fn(Range<usize>, &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    let block = block.max(1);
    let blocks = rows.div_ceil(block);
    for first in (0..blocks).step_by(BATCH) {
        let text = |index: usize| {
            let mut text = Vec::new();
            format(index * block..rows.min((index + 1) * block), &mut text);
            text
        };
        let batch = first..blocks.min(first + BATCH);
        let texts: Vec<Vec<u8>> = pool.run(|| batch.into_par_iter().map(text).collect());
        texts.iter().try_for_each(|text| writer.write_all(text))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_order_whatever_the_block() {
        let pool = Pool::new(Some(2)).unwrap();
        for rows in [0, 1, 6, 7, 8, 500] {
            for block in [0, 1, 7, 1000] {
                let mut text = Vec::new();
                write_blocks(&pool, &mut text, rows, block, |range, text| {
                    range.for_each(|row| writeln!(text, "{row}").expect("writing to memory cannot fail"));
                })
                .unwrap();
                let expected: String = (0..rows).map(|row| format!("{row}\n")).collect();
                assert_eq!(String::from_utf8(text).unwrap(), expected);
            }
        }
    }
}
