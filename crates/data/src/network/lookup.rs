//! Looks up nodes by id, and suggests similar ids for an unknown one.
//!
//! Similar ids are equal except for case, or a few typing errors away (inserted, omitted, replaced or transposed
//! letters), or begin with the given text.

use super::{Nodes, lossy};
use manyview_base::error::{Error, Result};

/// The maximum number of suggestions.
const SUGGESTED: usize = 3;

/// Longer ids are not compared.
const LONGEST: usize = 200;

impl Nodes {
    /// Returns the row of an id.
    pub fn find(&self, id: &str) -> Option<usize> {
        (0..self.len()).find(|&node| self.bytes(node) == id.as_bytes())
    }

    /// Returns the row of an id given by a user.
    ///
    /// # Errors
    /// [`Error::Config`] with similar ids, when there is no such node.
    pub fn look_up(&self, id: &str) -> Result<usize> {
        self.find(id).ok_or_else(|| {
            let near: Vec<String> = self.near(id).into_iter().map(|id| format!("{id:?}")).collect();
            let advice = match near.as_slice() {
                [] => "nodes.txt lists all nodes".into(),
                [one] => format!("did you mean {one}?"),
                [first @ .., last] => format!("did you mean {} or {last}?", first.join(", ")),
            };
            Error::config(format!("unknown node {:?}; {advice}", lossy(id.as_bytes())))
        })
    }

    /// Returns the ids most similar to a text, the most similar first. Ties are in row order.
    fn near(&self, typed: &str) -> Vec<&str> {
        let wanted: Vec<char> = typed.to_lowercase().chars().collect();
        if wanted.is_empty() || wanted.len() > LONGEST {
            return Vec::new();
        }
        let limit = (wanted.len() / 3).clamp(1, 3);
        let mut found: Vec<(usize, &str)> = Vec::new();
        for id in self.iter().filter(|id| id.len() <= 4 * LONGEST) {
            let letters: Vec<char> = id.to_lowercase().chars().collect();
            let distance = match slips(&wanted, &letters, limit) {
                Some(slips) => slips,
                None if letters.starts_with(&wanted) => limit + 1,
                None => continue,
            };
            if found.len() == SUGGESTED && found[SUGGESTED - 1].0 <= distance {
                continue;
            }
            found.insert(found.partition_point(|other| other.0 <= distance), (distance, id));
            found.truncate(SUGGESTED);
        }
        found.into_iter().map(|(_, id)| id).collect()
    }
}

/// Returns the number of typing errors between two texts, if it is at most `limit`.
fn slips(a: &[char], b: &[char], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    // Rows i - 2, i - 1 and i of the table of distances between prefixes of the two.
    let (mut before, mut last) = (vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<usize>>());
    let mut now = last.clone();
    for i in 1..=a.len() {
        now[0] = i;
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            now[j] = replaced.min(last[j] + 1).min(now[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                now[j] = now[j].min(before[j - 2] + 1);
            }
        }
        (before, last, now) = (last, now, before);
    }
    Some(last[b.len()]).filter(|&slips| slips <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(ids: &[&str], typed: &str) -> String {
        Nodes::from_iter(ids).look_up(typed).unwrap_err().to_string()
    }

    #[test]
    fn ids_are_found_as_they_are() {
        let nodes = Nodes::from_iter(["ann", "Ann", ""]);
        assert_eq!((nodes.find("Ann"), nodes.find("a"), nodes.find("")), (Some(1), None, Some(2)));
    }

    #[test]
    fn near_names_are_offered_nearest_first() {
        let ids = ["TP53", "TP63", "BRCA1", "BRCA2", "tp53-like"];
        assert_eq!(
            said(&ids, "tp53"),
            "unknown node \"tp53\"; did you mean \"TP53\", \"TP63\" or \"tp53-like\"?"
        );
        assert_eq!(said(&ids, "BRAC1"), "unknown node \"BRAC1\"; did you mean \"BRCA1\"?");
        assert_eq!(said(&ids, "xyzzy"), "unknown node \"xyzzy\"; nodes.txt lists all nodes");
    }

    #[test]
    fn slips_are_counted() {
        let count = |a: &str, b: &str| {
            let [a, b] = [a, b].map(|text| text.chars().collect::<Vec<_>>());
            slips(&a, &b, 9)
        };
        let cases =
            [("", "", 0), ("a", "", 1), ("abcd", "acbd", 1), ("kitten", "sitting", 3), ("ab", "ba", 1)];
        for (a, b, expected) in cases {
            assert_eq!((count(a, b), count(b, a)), (Some(expected), Some(expected)), "{a} {b}");
        }
    }
}
