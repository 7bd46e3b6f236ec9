//! The usual names of columns.
//!
//! Invariant: names are compared by their letters and digits only, in lower case, so `Source ID`, `source_id` and `sourceId` are the
//! same name.

/// Words for the two ends of an edge, alone or with one of [`AFFIXES`] before or after both.
const ENDS: [(&str, &str); 33] = [
    ("source", "target"),
    ("source", "dest"),
    ("source", "destination"),
    ("source", "sink"),
    ("from", "to"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("src", "trg"),
    ("head", "tail"),
    ("caller", "callee"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("origin", "destination"),
    ("origin", "dest"),
    ("subject", "object"),
    ("subj", "obj"),
    ("follower", "followee"),
    ("follower", "followed"),
    ("citing", "cited"),
    ("parent", "child"),
    ("buyer", "seller"),
    ("payer", "payee"),
    ("user", "item"),
    ("user", "movie"),
    ("user", "product"),
    ("user", "artist"),
    ("user", "book"),
    ("user", "song"),
    ("user", "tag"),
    ("customer", "product"),
    ("customer", "item"),
    ("reviewer", "product"),
];

/// Words that mean the ends only with an affix: alone, they are rather times or nodes.
const ENDS_WITH_AFFIX: [(&str, &str); 2] = [("start", "end"), ("begin", "end")];

const AFFIXES: [&str; 20] = [
    "",
    "id",
    "node",
    "nodeid",
    "key",
    "name",
    "code",
    "label",
    "user",
    "userid",
    "username",
    "person",
    "personid",
    "account",
    "accountid",
    "station",
    "stationid",
    "vertex",
    "entity",
    "entityid",
];

/// Words that mean the ends with `1` and `2`, or `a` and `b`, after them.
const NUMBERED: [&str; 30] = [
    "node",
    "id",
    "nodeid",
    "vertex",
    "entity",
    "person",
    "user",
    "userid",
    "name",
    "member",
    "actor",
    "author",
    "account",
    "agent",
    "gene",
    "protein",
    "interactor",
    "drug",
    "species",
    "paper",
    "page",
    "word",
    "item",
    "station",
    "airport",
    "city",
    "country",
    "company",
    "player",
    "team",
];

const WEIGHTS: [&str; 10] =
    ["weight", "weights", "w", "value", "score", "count", "counts", "strength", "frequency", "edgeweight"];

/// Last words of the names of numbers that count nothing: ids and times.
const UNCOUNTED: [&str; 13] =
    ["id", "ids", "key", "code", "no", "nr", "index", "year", "month", "day", "time", "timestamp", "date"];

const RELATIONS: [&str; 10] = [
    "relation",
    "view",
    "layer",
    "edgetype",
    "kind",
    "type",
    "predicate",
    "rel",
    "relationship",
    "relationtype",
];

/// Which columns are called as the two ends of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    None,
    Known(usize, usize),
    /// Names of several kinds, such as `caller`, `callee`, `from`, `to`.
    Several,
}

/// Finds the columns called as the ends of an edge.
pub(super) fn ends(row: &[String]) -> Ends {
    let names: Vec<String> = row.iter().map(|name| plain(name)).collect();
    let mut found: Option<(usize, usize)> = None;
    for (source, target) in pairs() {
        let position = |name: &str| names.iter().position(|known| known == name);
        let (Some(source), Some(target)) = (position(&source), position(&target)) else { continue };
        match found {
            None => found = Some((source, target)),
            // Names that share a column, such as user_id, item_id and movie_id, or differ in the affix only, such as from_id and
            // from_name, are one answer: the first.
            Some(first) if shares(first, (source, target)) || akin(&names, first, (source, target)) => {}
            Some(_) => return Ends::Several,
        }
    }
    found.map_or(Ends::None, |(source, target)| Ends::Known(source, target))
}

fn shares(one: (usize, usize), other: (usize, usize)) -> bool {
    [one.0, one.1].iter().any(|column| [other.0, other.1].contains(column))
}

/// Returns whether the names of two pairs of columns begin or end with the same words.
fn akin(names: &[String], one: (usize, usize), other: (usize, usize)) -> bool {
    let words = || ENDS.iter().chain(&ENDS_WITH_AFFIX).flat_map(|ends| [ends.0, ends.1]);
    let has = |name: &str, word: &str| name.starts_with(word) || name.ends_with(word);
    let related = |one: &str, other: &str| words().any(|word| has(one, word) && has(other, word));
    related(&names[one.0], &names[other.0]) && related(&names[one.1], &names[other.1])
}

/// All pairs of names, the usual ones first.
fn pairs() -> impl Iterator<Item = (String, String)> {
    let both = |(one, other): (&str, &str), affix: &str| {
        [
            (format!("{one}{affix}"), format!("{other}{affix}")),
            (format!("{affix}{one}"), format!("{affix}{other}")),
        ]
    };
    let words = AFFIXES.into_iter().flat_map(move |affix| {
        let with = ENDS_WITH_AFFIX.into_iter().filter(move |_| !affix.is_empty());
        ENDS.into_iter().chain(with).flat_map(move |ends| both(ends, affix))
    });
    let numbered = NUMBERED.into_iter().flat_map(|word| {
        [("1", "2"), ("a", "b")].map(|(one, other)| (format!("{word}{one}"), format!("{word}{other}")))
    });
    let letters = std::iter::once(("u".to_owned(), "v".to_owned()));
    words.chain(letters).chain(numbered)
}

pub(super) fn is_weight(name: &str) -> bool {
    WEIGHTS.contains(&plain(name).as_str())
}

pub(super) fn is_relation(name: &str) -> bool {
    RELATIONS.contains(&plain(name).as_str())
}

/// Returns whether a column has the name that pandas gives to its row numbers.
pub(super) fn is_index(name: &str) -> bool {
    name.is_empty() || plain(name) == "unnamed0"
}

/// Returns whether numbers in a column of this name may be weights: they may not if they are row numbers, ids or times.
pub(super) fn may_be_weight(name: &str) -> bool {
    let name = name.trim();
    // The last word of call_id, callId and "Call ID".
    let start = name.char_indices().rev().find_map(|(at, c)| match c {
        _ if !c.is_alphanumeric() => Some(at + c.len_utf8()),
        _ if c.is_uppercase() && name[..at].ends_with(char::is_lowercase) => Some(at),
        _ => None,
    });
    let last = plain(&name[start.unwrap_or(0)..]);
    !is_index(name) && !UNCOUNTED.contains(&last.as_str())
}

/// Removes the `#` that some programs write before the first column name.
pub(super) fn bare(field: &str) -> &str {
    field.strip_prefix('#').map_or(field, str::trim)
}

/// Returns the letters and digits of a name in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &str) -> Ends {
        ends(&names.split(',').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn ids_and_times_are_no_weights() {
        for name in
            ["call_id", "callId", "Call ID", "id", "", "Unnamed: 0", "year", "start time", "Timestamp"]
        {
            assert!(!may_be_weight(name), "{name}");
        }
        for name in ["minutes", "paid", "amount", "call_minutes", "idle", "n"] {
            assert!(may_be_weight(name), "{name}");
        }
    }

    #[test]
    fn ends_are_known_by_name_wherever_they_are() {
        for (names, expected) in [
            ("source,target", (0, 1)),
            ("to,from", (1, 0)),
            ("#From,TO", (0, 1)),
            ("call_id,date,caller,callee", (2, 3)),
            ("Source ID,weight,Target ID", (0, 2)),
            ("fromNodeId,toNodeId", (0, 1)),
            (":START_ID,:END_ID,:TYPE", (0, 1)),
            ("user_id,movie_id,rating,timestamp", (0, 1)),
            ("protein1,protein2,combined_score", (0, 1)),
            ("date,person_a,person_b", (1, 2)),
            ("id_1,id_2", (0, 1)),
            ("from_id,from_name,to_id,to_name", (0, 2)),
            ("user_id,item_id,product_id", (0, 1)),
            ("start_station_id,start_time,end_time,end_station_id", (0, 3)),
        ] {
            assert_eq!(found(names), Ends::Known(expected.0, expected.1), "{names}");
        }
        for names in ["a,b", "source,b", "person,friend", "start,end", "from_date,to_date", "node1,node3"] {
            assert_eq!(found(names), Ends::None, "{names}");
        }
    }

    #[test]
    fn names_of_two_kinds_are_not_decided() {
        for names in ["caller,callee,from,to", "gene1,gene2,id1,id2", "source,target,user_id,item_id"] {
            assert_eq!(found(names), Ends::Several, "{names}");
        }
    }
}
