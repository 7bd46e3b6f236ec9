//! What is wrong with the value of a setting, in words of a person: the reader of JSON has words of its own.

use serde_json::Value;

/// The sentence for a value that was read with this error.
///
/// Kinds of errors are told by their texts, as the reader has no other way to tell what it expected.
pub(super) fn sentence(name: &str, value: &Value, error: &str) -> String {
    let wrong = format!("{name} = {value}");
    let Some((_, expected)) = error.rsplit_once(", expected ") else {
        return format!("{wrong} does not fit: {error}");
    };
    let names: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    if !names.is_empty() {
        return format!("{wrong} is not one of {}", names.join(", "));
    }
    let kind = match expected {
        "a boolean" => return format!("{wrong} is neither true nor false"),
        "u8" | "u16" | "u32" | "u64" | "usize" if value.as_i64().is_some() => "a whole number of 0 or more",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number",
        "f32" | "f64" => "a number",
        "a string" => "text",
        "a sequence" => "a list",
        other => match other.strip_prefix("an array of length ") {
            Some(length) => return format!("{wrong} is not a list of {length} numbers"),
            None => other,
        },
    };
    format!("{wrong} is not {kind}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Method, Model};
    use manyview_core::config::Preset;

    #[test]
    fn values_that_do_not_fit_are_told_in_plain_words() {
        for (method, name, value, words) in [
            (Method::NetMf, "dim", json!("x"), "dim = \"x\" is not a whole number"),
            (Method::NetMf, "dim", json!(-1), "dim = -1 is not a whole number of 0 or more"),
            (Method::NetMf, "dim", json!(null), "dim = null is not a whole number"),
            (Method::NetMf, "dim", json!(2.5), "dim = 2.5 is not a whole number"),
            (Method::NetMf, "threads", json!([1]), "threads = [1] is not a whole number"),
            (Method::NetMf, "factor", json!("foo"), "factor = \"foo\" is not one of svd, nmf"),
            (Method::NetMf, "factor", json!(3), "factor = 3 is not one of svd, nmf"),
            (Method::NetMf, "negative", json!("x"), "negative = \"x\" is not a number"),
            (Method::DeepWalk, "walks", json!(1.5), "walks = 1.5 is not a whole number"),
            (Method::DeepWalk, "weighted", json!(3), "weighted = 3 is neither true nor false"),
            (
                Method::DeepWalk,
                "softmax",
                json!(", expected x"),
                "is not one of negative, hierarchical, both",
            ),
            (Method::Metapath2Vec, "metapath", json!("a"), "metapath = \"a\" is not a list"),
            (Method::Metapath2Vec, "metapath", json!([1]), "metapath = [1] is not text"),
            (Method::TuckEr, "dropout", json!([0.1]), "dropout = [0.1] is not a list of 3 numbers"),
            (Method::TuckEr, "dropout", json!(0.1), "dropout = 0.1 is not a list of 3 numbers"),
        ] {
            let values = [(name.to_owned(), value)].into_iter().collect();
            let told = Model::new(method, Preset::Default, &values).unwrap_err().to_string();
            assert!(told.contains(words), "{told}");
        }
    }
}
