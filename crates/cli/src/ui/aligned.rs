//! Tables of cells as text.

/// Rows of cells below each other; the first of each is on the left.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let blanks = " ".repeat(width - cell.chars().count());
            text += &if column == 0 { format!("{cell}{blanks}") } else { format!("  {blanks}{cell}") };
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_below_each_other() {
        let rows = [vec!["".to_owned(), "a".into()], vec!["é".into(), "12 ± 3".into()]];
        assert_eq!(aligned(&rows), "        a\né  12 ± 3\n");
    }
}
