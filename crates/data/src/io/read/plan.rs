//! Determines the list of files to read from what the user gave.
//!
//! Invariant: views have different names, and standard input is read at most once.

use std::path::{Path, PathBuf};

use super::columns::Format;
use super::manifest::read_manifest;
use super::table::{extension, stem};
use super::text::{is_stdin, place};
use super::view_source::{PathColumns, split_columns};
use super::{Directed, ReadOptions, Source, ViewSource};
use crate::io::Files;
use crate::network::Duplicates;
use manyview_base::error::{Error, Result};
use manyview_base::message::{Message, option, option_value};

/// The files to read.
#[derive(Debug)]
pub(super) struct Plan {
    pub jobs: Vec<Job>,
    pub nodes: Option<PathBuf>,
    pub notes: Vec<Message>,
}

/// A file to read.
#[derive(Debug)]
pub(super) struct Job {
    /// The name of the view; `None` if the format has a relation column.
    pub name: Option<String>,
    pub path: PathBuf,
    pub format: Format,
    pub directed: Directed,
    pub duplicates: Duplicates,
}

impl Plan {
    pub(super) fn new(files: &dyn Files, source: &Source, options: &ReadOptions) -> Result<Plan> {
        let plan = match source {
            Source::Views(views) => {
                let job = |view: &ViewSource| Job::file(files, Some(&view.name), &view.path, options);
                let jobs = views.iter().map(job).collect::<Result<_>>()?;
                Plan::of(without_relation(options, jobs)?, options)
            }
            Source::Table(path) => Plan::of(vec![Job::table(path, options)?], options),
            Source::Paths(paths) => Plan::of_paths(files, paths, options)?,
        };
        plan.check(options)?;
        Ok(plan)
    }

    fn of(jobs: Vec<Job>, options: &ReadOptions) -> Plan {
        Plan { jobs, nodes: options.nodes.clone(), notes: Vec::new() }
    }

    fn of_paths(files: &dyn Files, paths: &[PathBuf], options: &ReadOptions) -> Result<Plan> {
        match paths {
            [path] if files.is_folder(path) && files.is_file(&path.join("network.toml")) => {
                read_manifest(files, &path.join("network.toml"), options)
            }
            [path] if files.is_folder(path) => Plan::of_folder(files, path, options),
            [path] if is_manifest(path) => read_manifest(files, path, options),
            [path] if options.relation.is_some() => Ok(Plan::of(vec![Job::table(path, options)?], options)),
            [path] => {
                let mut job = Job::file(files, None, path, options)?;
                job.format.lone = true;
                Ok(Plan::of(vec![job], options))
            }
            _ => {
                if let Some(alone) = paths.iter().find(|path| files.is_folder(path) || is_manifest(path)) {
                    let what = if files.is_folder(alone) { "folder" } else { "manifest" };
                    return Err(Error::config(format!(
                        "{}: a {what} is a whole network and cannot be combined with other paths; use it alone",
                        alone.display()
                    )));
                }
                let job = |path: &PathBuf| Job::file(files, None, path, options);
                let jobs = paths.iter().map(job).collect::<Result<_>>()?;
                Ok(Plan::of(without_relation(options, jobs)?, options))
            }
        }
    }

    fn of_folder(files: &dyn Files, folder: &Path, options: &ReadOptions) -> Result<Plan> {
        let mut tables = Vec::new();
        let mut node_files = Vec::new();
        let mut others = 0;
        for name in files.names(folder).map_err(|error| Error::io(folder, error))? {
            let path = folder.join(&name);
            match kind(files, &path, &name) {
                Kind::View => tables.push(path),
                Kind::Nodes => node_files.push(path),
                Kind::Known => {}
                Kind::Other => others += 1,
            }
        }
        if tables.is_empty() {
            return Err(Error::parse(
                folder.display().to_string(),
                "the folder has no views; expected files such as calls.tsv, mails.csv or visits.txt.gz",
            ));
        }
        if let ([first, second, ..], None) = (&node_files[..], &options.nodes) {
            return Err(Error::config(format!(
                "both {} and {} could be the node file; remove one, or use {}",
                first.display(),
                second.display(),
                option_value("nodes", "FILE")
            )));
        }
        let jobs = tables.iter().map(|path| Job::view(view_name(path), path, options)).collect();
        let mut plan = Plan::of(without_relation(options, jobs)?, options);
        // File names sort "a-b.tsv" before "a.tsv"; views are sorted by their own names.
        plan.jobs.sort_by(|one, other| one.name.cmp(&other.name));
        plan.nodes = plan.nodes.or_else(|| node_files.pop());
        if others > 0 {
            let noun = if others == 1 { "other file" } else { "other files" };
            plan.notes.push(format!("{}: ignored {others} {noun}", folder.display()).into());
        }
        Ok(plan)
    }

    fn check(&self, options: &ReadOptions) -> Result<()> {
        if self.jobs.is_empty() {
            return Err(Error::config("no network given; give a folder, a network.toml or edge lists"));
        }
        let paths = self.jobs.iter().map(|job| &job.path).chain(&self.nodes);
        if paths.filter(|path| is_stdin(path)).count() > 1 {
            return Err(Error::config("standard input (-) can be read only once; use files for the others"));
        }
        for (at, job) in self.jobs.iter().enumerate() {
            let twin = self.jobs[..at].iter().find(|other| other.name == job.name);
            if let (Some(name), Some(twin)) = (&job.name, twin) {
                return Err(Error::config(format!(
                    "two views are called {name:?}: {} and {}; rename one, or use {}",
                    place(&twin.path),
                    place(&job.path),
                    option_value("view", "NAME=PATH")
                )));
            }
        }
        // The views of a table are not known before it has been read.
        let names: Option<Vec<&str>> = self.jobs.iter().map(|job| job.name.as_deref()).collect();
        names.map_or(Ok(()), |names| check_directed(&options.directed, &names))
    }
}

/// Checks that directed views exist.
pub(super) fn check_directed(directed: &Directed, views: &[&str]) -> Result<()> {
    match directed.names().iter().find(|name| !views.contains(&name.as_str())) {
        Some(name) => Err(Error::config(format!(
            "{}: unknown view; the views are {}",
            option_value("directed", name),
            views.join(", ")
        ))),
        None => Ok(()),
    }
}

impl Job {
    /// A file of one view, whose path may be followed by its columns. Without a name, the view is called as the file.
    fn file(files: &dyn Files, name: Option<&str>, path: &Path, options: &ReadOptions) -> Result<Job> {
        let (path, columns) = split_columns(files, path)?;
        let mut job = Job::view(name.map_or_else(|| view_name(&path), str::to_owned), &path, options);
        if let Some(PathColumns { source, target, weight }) = columns {
            let format = &mut job.format;
            (format.source, format.target) = (Some(source), Some(target));
            // A weight that is chosen here comes before what holds for all files.
            format.unweighted &= weight.is_none();
            format.weight = weight.or(format.weight.take());
        }
        Ok(job)
    }

    fn view(name: String, path: &Path, options: &ReadOptions) -> Job {
        Job {
            name: Some(name),
            path: path.to_owned(),
            format: Format {
                delimiter: options.delimiter,
                header: options.header,
                source: options.source.clone(),
                target: options.target.clone(),
                weight: options.weight.clone(),
                relation: None,
                unweighted: options.unweighted,
                decimal: options.decimal,
                on_error: options.on_error,
                lone: false,
                named: false,
            },
            directed: options.directed.clone(),
            duplicates: options.duplicates,
        }
    }

    fn table(path: &Path, options: &ReadOptions) -> Result<Job> {
        if options.relation.is_none() {
            return Err(Error::config(format!(
                "{}: a table with several views needs {}, the column with the name of the view",
                place(path),
                option_value("relation", "COL")
            )));
        }
        let mut job = Job::view(String::new(), path, options);
        job.name = None;
        job.format.relation = options.relation.clone();
        Ok(job)
    }
}

fn without_relation(options: &ReadOptions, jobs: Vec<Job>) -> Result<Vec<Job>> {
    match options.relation {
        Some(_) => Err(Error::config(format!(
            "{} splits one table into views; use it with a single file",
            option("relation")
        ))),
        None => Ok(jobs),
    }
}

fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

fn view_name(path: &Path) -> String {
    if is_stdin(path) { "stdin".into() } else { stem(path) }
}

enum Kind {
    View,
    Nodes,
    /// Known not to be a view, so it is ignored without a note.
    Known,
    Other,
}

fn kind(files: &dyn Files, path: &Path, name: &str) -> Kind {
    let extension = extension(path);
    let lower = name.to_lowercase();
    match extension.as_deref() {
        _ if name.starts_with('.') || files.is_folder(path) => Kind::Known,
        Some("txt" | "tsv") if stem(path) == "nodes" => Kind::Nodes,
        _ if lower.starts_with("labels") || lower.starts_with("nodes") => Kind::Known,
        _ if lower.starts_with("readme") || lower.starts_with("license") => Kind::Known,
        Some("md") => Kind::Known,
        Some("tsv" | "csv" | "txt") => Kind::View,
        _ => Kind::Other,
    }
}
