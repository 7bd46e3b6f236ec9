//! Reads `network.toml`, which describes how to read the files of a network.
//!
//! Invariant: paths are relative to the manifest, and an unknown key is an error.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, de};

use super::columns::Format;
use super::plan::{Job, Plan};
use super::table::stem;
use super::{Decimal, Delimiter, Directed, Header, OnError, ReadOptions};
use crate::io::Files;
use crate::network::Duplicates;
use manyview_base::error::{Error, Result};
use manyview_base::message::{Message, option};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    nodes: Option<PathBuf>,
    #[serde(default)]
    view: Vec<ViewEntry>,
    table: Option<TableEntry>,
}

// serde cannot refuse unknown keys of flattened structs, so the two structs repeat their common fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ViewEntry {
    name: Option<String>,
    path: PathBuf,
    #[serde(default)]
    directed: bool,
    unweighted: Option<bool>,
    duplicates: Option<Duplicates>,
    delimiter: Option<Delimiter>,
    decimal: Option<Decimal>,
    on_error: Option<OnError>,
    #[serde(default, deserialize_with = "header")]
    header: Option<Header>,
    #[serde(default, deserialize_with = "column")]
    source: Option<String>,
    #[serde(default, deserialize_with = "column")]
    target: Option<String>,
    #[serde(default, deserialize_with = "column")]
    weight: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableEntry {
    path: PathBuf,
    #[serde(default, deserialize_with = "column")]
    relation: Option<String>,
    #[serde(default)]
    directed: Vec<String>,
    unweighted: Option<bool>,
    duplicates: Option<Duplicates>,
    delimiter: Option<Delimiter>,
    decimal: Option<Decimal>,
    on_error: Option<OnError>,
    #[serde(default, deserialize_with = "header")]
    header: Option<Header>,
    #[serde(default, deserialize_with = "column")]
    source: Option<String>,
    #[serde(default, deserialize_with = "column")]
    target: Option<String>,
    #[serde(default, deserialize_with = "column")]
    weight: Option<String>,
}

/// Returns the plan that follows from a manifest and the options.
pub(super) fn read_manifest(files: &dyn Files, path: &Path, options: &ReadOptions) -> Result<Plan> {
    let text = files.read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => {
            Error::parse(path.display().to_string(), "is not UTF-8; convert it")
        }
        _ => Error::io(path, error),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let manifest: Manifest = toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = 1 + text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count();
        Error::parse(format!("{}:{line}", path.display()), error.message())
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let refuse = |message: Message| Err(Error::parse(path.display().to_string(), message));
    if options.relation.is_some() {
        let relation = option("relation");
        return refuse(format!("{relation} cannot be used with a manifest; set it in [table]").into());
    }
    let jobs = match (manifest.view, manifest.table) {
        (views, None) if !views.is_empty() => {
            views.into_iter().map(|view| view.job(folder, options)).collect()
        }
        (views, Some(table)) if views.is_empty() => {
            if table.relation.is_none() {
                return refuse(
                    "[table] needs relation = \"COLUMN\", the column with the name of the view".into(),
                );
            }
            vec![table.job(folder, options)]
        }
        (_, None) => {
            return refuse(
                "no views; add a [[view]] with a path, or a [table] with path and relation".into(),
            );
        }
        (_, Some(_)) => return refuse("has both [[view]] and [table]; use only one of them".into()),
    };
    let nodes = options.nodes.clone().or_else(|| manifest.nodes.map(|nodes| folder.join(nodes)));
    Ok(Plan { jobs, nodes, notes: Vec::new() })
}

impl ViewEntry {
    fn job(self, folder: &Path, options: &ReadOptions) -> Job {
        let name = self.name.unwrap_or_else(|| stem(&self.path));
        Job {
            directed: if self.directed { Directed::All } else { options.directed.clone() },
            name: Some(name),
            path: folder.join(self.path),
            duplicates: self.duplicates.unwrap_or(options.duplicates),
            format: Format {
                delimiter: self.delimiter.or(options.delimiter),
                decimal: self.decimal.unwrap_or(options.decimal),
                on_error: self.on_error.unwrap_or(options.on_error),
                header: self.header.unwrap_or(options.header),
                source: self.source.or_else(|| options.source.clone()),
                target: self.target.or_else(|| options.target.clone()),
                unweighted: unweighted(self.unweighted, &self.weight, options),
                weight: weight(self.unweighted, self.weight, options),
                relation: None,
                lone: false,
                named: false,
            },
        }
    }
}

impl TableEntry {
    fn job(self, folder: &Path, options: &ReadOptions) -> Job {
        let directed = match &options.directed {
            Directed::All => Directed::All,
            others => Directed::Views([&self.directed[..], others.names()].concat()),
        };
        Job {
            directed,
            name: None,
            path: folder.join(self.path),
            duplicates: self.duplicates.unwrap_or(options.duplicates),
            format: Format {
                delimiter: self.delimiter.or(options.delimiter),
                decimal: self.decimal.unwrap_or(options.decimal),
                on_error: self.on_error.unwrap_or(options.on_error),
                header: self.header.unwrap_or(options.header),
                source: self.source.or_else(|| options.source.clone()),
                target: self.target.or_else(|| options.target.clone()),
                unweighted: unweighted(self.unweighted, &self.weight, options),
                weight: weight(self.unweighted, self.weight, options),
                relation: self.relation,
                lone: false,
                named: false,
            },
        }
    }
}

/// A weight column in the manifest takes precedence over the option `unweighted`, which only applies where the
/// manifest has no setting.
fn unweighted(entry: Option<bool>, weight: &Option<String>, options: &ReadOptions) -> bool {
    entry.unwrap_or(weight.is_none() && options.unweighted)
}

/// Likewise, `unweighted = true` in the manifest takes precedence over the option `weight`.
fn weight(unweighted: Option<bool>, entry: Option<String>, options: &ReadOptions) -> Option<String> {
    entry.or_else(|| options.weight.clone().filter(|_| unweighted != Some(true)))
}

/// Reads a column by name, or by number with or without quotes.
fn column<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    struct Visitor;
    impl de::Visitor<'_> for Visitor {
        type Value = String;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("the name or the number of a column")
        }
        fn visit_str<E: de::Error>(self, name: &str) -> Result<String, E> {
            Ok(name.to_owned())
        }
        fn visit_i64<E: de::Error>(self, number: i64) -> Result<String, E> {
            Ok(number.to_string())
        }
    }
    deserializer.deserialize_any(Visitor).map(Some)
}
/// A header is also `true` or `false`.
fn header<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Header>, D::Error> {
    struct Visitor;
    impl de::Visitor<'_> for Visitor {
        type Value = Header;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("\"auto\", \"yes\" or \"no\"")
        }
        fn visit_bool<E: de::Error>(self, yes: bool) -> std::result::Result<Header, E> {
            Ok(if yes { Header::Yes } else { Header::No })
        }
        fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Header, E> {
            Header::from_name(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
        }
    }
    deserializer.deserialize_any(Visitor).map(Some)
}
