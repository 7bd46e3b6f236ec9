//! Rows of the tables, and the jobs (embeddings to compute and measure) that fill them.
//!
//! A row of a single-view method has one job per view, and the row of metapath2vec one job per path. These are the
//! candidates of the row, which shows the best of them. MVE with labels has one job per repeat, because it may learn
//! from the training nodes of that repeat only. All other rows have one job.
//!
//! Invariant: each job has a folder name of its own, which depends on settings and view names only.

use std::fmt::{self, Display};

use manyview_base::error::Result;
use manyview_baselines::{all_paths, usual_paths};
use manyview_core::mnmf::Mnmf;
use manyview_data::Network;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::settings::{CompareSettings, Metapaths, Sweep, Swept};
use super::variants::{ablations, swept};
use crate::model::{Group, Method, Model};

/// A row of the tables.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The name of the method, or what is changed in MNMF.
    pub(super) title: String,
    pub(super) section: Section,
    /// What the candidates are, if the row has several.
    pub(super) kind: Option<CandidateKind>,
}

/// What the candidates of a row are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CandidateKind {
    /// Views, for methods of a single view.
    View,
    /// Metapaths.
    Path,
}

impl CandidateKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            CandidateKind::View => "view",
            CandidateKind::Path => "path",
        }
    }
}

/// The section of the tables that a row is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Section {
    /// Other methods, by what they look at.
    Method(Group),
    /// MNMF.
    Ours,
    /// MNMF without one of its parts.
    Ablations,
    /// MNMF with one value of a setting that is varied.
    Sweep(Sweep),
}

impl Display for Section {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Section::Method(group) => formatter.write_str(group.name()),
            Section::Ours => formatter.write_str("ours"),
            Section::Ablations => formatter.write_str("ablations of mnmf"),
            Section::Sweep(sweep) => write!(formatter, "mnmf over {}", words(*sweep)),
        }
    }
}

/// As its title.
impl Serialize for Section {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An embedding to compute and measure.
pub(super) struct Job {
    /// The index of its row.
    pub(super) row: usize,
    /// The name of the candidate, if the row has several.
    pub(super) candidate: Option<String>,
    /// The name of its folder.
    pub(super) folder: String,
    pub(super) model: Model,
    /// Embed this view only.
    pub(super) view: Option<usize>,
    /// Learn from the training nodes of this repeat, and measure this repeat only.
    pub(super) repeat: Option<usize>,
}

/// Rows and jobs, in the order of the tables.
#[derive(Default)]
pub(super) struct Jobs {
    pub(super) rows: Vec<Row>,
    pub(super) jobs: Vec<Job>,
    /// Which values of a sweep are impossible, and why: sentences.
    pub(super) left_out: Vec<String>,
}

impl Jobs {
    /// # Errors
    /// When a method does not have the preset, or a setting is invalid.
    pub(super) fn new(settings: &CompareSettings, network: &Network) -> Result<Self> {
        let mut jobs = Jobs::default();
        let wanted = |method: &Method| settings.methods.is_empty() || settings.methods.contains(method);
        for group in [Group::Single, Group::Heterogeneous, Group::Multi, Group::Plain] {
            let others = Method::ALL.into_iter().filter(|&method| method != Method::Mnmf);
            for method in others.filter(|method| method.group() == group).filter(wanted) {
                jobs.add_method(method, settings, network)?;
            }
        }
        let ours = Mnmf { dim: settings.dim, ..Mnmf::preset(settings.preset) };
        if wanted(&Method::Mnmf) {
            jobs.add_mnmf(Section::Ours, "mnmf", ours.clone(), settings);
        }
        if settings.ablations {
            for (title, variant) in ablations(&ours, network.views().len()) {
                jobs.add_mnmf(Section::Ablations, title, variant, settings);
            }
        }
        for range in &settings.sweep {
            jobs.add_sweep(range, &ours, network.views().len(), settings)?;
        }
        Ok(jobs)
    }

    fn add_row(&mut self, title: &str, section: Section, kind: Option<CandidateKind>) -> usize {
        self.rows.push(Row { title: title.to_owned(), section, kind });
        self.rows.len() - 1
    }

    fn add_job(&mut self, row: usize, candidate: Option<String>, model: Model) -> &mut Job {
        let section = match self.rows[row].section {
            Section::Ablations => "without-",
            Section::Sweep(sweep) => &format!("{}-", sweep.name()),
            Section::Method(_) | Section::Ours => "",
        };
        let own = candidate.iter().map(|candidate| format!("-{candidate}")).collect::<String>();
        let folder = file_name(&format!("{section}{}{own}", self.rows[row].title));
        // Names that differ only in replaced characters must not share a folder.
        let exists = self.jobs.iter().any(|job| job.folder == folder);
        let folder = if exists { format!("{folder}-{}", self.jobs.len()) } else { folder };
        self.jobs.push(Job { row, candidate, folder, model, view: None, repeat: None });
        self.jobs.last_mut().expect("just pushed")
    }

    fn add_mnmf(&mut self, section: Section, title: &str, mnmf: Mnmf, settings: &CompareSettings) {
        let row = self.add_row(title, section, None);
        let model = Model { settings: mnmf.into(), seed: settings.seed, threads: settings.threads };
        self.add_job(row, None, model);
    }

    /// Adds one row per value. Some numbers of stages need more columns than there are.
    fn add_sweep(
        &mut self,
        range: &Swept,
        ours: &Mnmf,
        views: usize,
        settings: &CompareSettings,
    ) -> Result<()> {
        let (mut impossible, mut reason) = (Vec::new(), None);
        let sweep = range.setting;
        for (value, mnmf) in swept(range, ours)? {
            match mnmf.plan(views) {
                Ok(_) => self.add_mnmf(Section::Sweep(sweep), &value, mnmf, settings),
                Err(error) => {
                    impossible.push(value);
                    reason.get_or_insert(error);
                }
            }
        }
        if let Some(reason) = reason {
            let section = Section::Sweep(sweep);
            self.left_out.push(format!("{section} leaves out {}: {reason}", impossible.join(", ")));
        }
        Ok(())
    }

    fn add_method(&mut self, method: Method, settings: &CompareSettings, network: &Network) -> Result<()> {
        let model = |own: Value| -> Result<Model> {
            let mut values: Map<String, Value> = own.as_object().cloned().unwrap_or_default();
            values.insert("dim".into(), settings.dim.into());
            values.insert("seed".into(), settings.seed.into());
            values.insert("threads".into(), settings.threads.into());
            Model::with_settings(method, settings.preset, &values)
        };
        let (section, views) = (Section::Method(method.group()), network.views());
        match method {
            Method::Metapath2Vec if views.len() > 1 => {
                let row = self.add_row(title(method), section, Some(CandidateKind::Path));
                let paths = match settings.metapaths {
                    Metapaths::Some => usual_paths(views.len()),
                    Metapaths::All => all_paths(views.len()),
                };
                for path in paths {
                    let path: Vec<&str> = path.iter().map(|&view| views[view].name.as_str()).collect();
                    self.add_job(row, Some(path.join("-")), model(json!({"metapath": path}))?);
                }
            }
            Method::Mve => {
                let row = self.add_row("mve, no labels", section, None);
                self.add_job(row, None, model(json!({"attention": false}))?);
                let row = self.add_row("mve", section, None);
                for repeat in 0..settings.repeats {
                    let learning = model(json!({"attention": true}))?;
                    self.add_job(row, Some(format!("repeat-{repeat}")), learning).repeat = Some(repeat);
                }
            }
            _ if method.group() == Group::Single => {
                let row = self.add_row(title(method), section, Some(CandidateKind::View));
                for (at, view) in views.iter().enumerate() {
                    self.add_job(row, Some(view.name.clone()), model(json!({}))?).view = Some(at);
                }
            }
            _ => {
                let row = self.add_row(title(method), section, None);
                self.add_job(row, None, model(json!({}))?);
            }
        }
        Ok(())
    }
}

/// The name of a method in the tables; a reconstruction is always marked as one.
fn title(method: Method) -> &'static str {
    if method == Method::MtneC { "mtne-c (reconstructed)" } else { method.name() }
}

/// A name that is valid on every file system.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(plain).collect::<String>().replace("--", "-")
}

/// The name of a setting in a sentence.
fn words(sweep: Sweep) -> String {
    sweep.name().replace('-', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(views: [&str; 2]) -> Network {
        let edges = [("a", "b", 1.0), ("b", "c", 1.0), ("c", "a", 1.0)];
        Network::from_edges(&views.map(|name| (name, &edges[..]))).unwrap()
    }

    #[test]
    fn each_job_has_a_folder_of_its_own() {
        let settings = CompareSettings {
            methods: vec![Method::NetMf, Method::Mve, Method::Metapath2Vec, Method::Mnmf],
            repeats: 2,
            dim: 16,
            ablations: true,
            sweep: vec![Sweep::ConsensusStages.into(), Sweep::Stages.into()],
            ..CompareSettings::default()
        };
        let jobs = Jobs::new(&settings, &network(["a/b", "a b"])).unwrap();
        let folders: Vec<&str> = jobs.jobs.iter().map(|job| job.folder.as_str()).collect();
        assert_eq!(folders[..4], ["netmf-a-b", "netmf-a-b-1", "metapath2vec-a-b-a-b", "mve-no-labels"]);
        for folder in
            ["mve-repeat-1", "mnmf", "without-shared-equal-weights", "consensus-stages-0", "stages-1"]
        {
            assert!(folders.contains(&folder), "{folder}: {folders:?}");
        }
        let mut distinct = folders.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), folders.len());
        assert!(jobs.left_out[0].starts_with("mnmf over stages leaves out 16, 32: "), "{:?}", jobs.left_out);
    }

    #[test]
    fn sections_are_written_as_their_titles() {
        let sections = [
            (Section::Method(Group::Multi), "multi-view"),
            (Section::Ours, "ours"),
            (Section::Ablations, "ablations of mnmf"),
            (Section::Sweep(Sweep::ConsensusStages), "mnmf over consensus stages"),
        ];
        for (section, title) in sections {
            assert_eq!(serde_json::to_value(section).unwrap(), title);
        }
    }
}
