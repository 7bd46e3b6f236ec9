//! What is to be embedded: rows of the tables, and the jobs that fill them.
//!
//! A row of a method of a single view has a job for each view, one of metapath2vec a job for each path: the candidates,
//! of which the row shows the best. MVE with labels has a job for each repeat, because it may learn from the nodes that
//! train in that repeat and from no others. All other rows have one job.

use anyhow::Result;
use manyview::methods::{all_paths, usual_paths};
use manyview::mnmf::Consensus;
use manyview::{Group, Method, Mnmf, Model, Network};
use serde_json::{Map, Value, json};

use crate::args::{CompareArgs, Metapaths, Sweep};

/// A row of the tables.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// How the method is called.
    pub(super) title: String,
    pub(super) section: Section,
    /// What the candidates are, where there are several: "view", "path".
    pub(super) candidates: Option<&'static str>,
}

/// Where a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Method(Group),
    Ours,
    Ablations,
    /// A value of a setting that is varied.
    Sweep(&'static str),
}

impl Section {
    pub(super) fn title(self) -> String {
        match self {
            Section::Method(group) => group.name().into(),
            Section::Ours => "ours".into(),
            Section::Ablations => "mnmf without its parts".into(),
            Section::Sweep(setting) => format!("mnmf over {setting}"),
        }
    }
}

/// An embedding to be made and measured.
pub(super) struct Job {
    /// The row it belongs to.
    pub(super) row: usize,
    /// The candidate's name, where there are several.
    pub(super) candidate: Option<String>,
    /// Its folder.
    pub(super) folder: String,
    pub(super) model: Model,
    /// Embed this view alone.
    pub(super) view: Option<usize>,
    /// Learn from the training nodes of this repeat, and measure that repeat alone.
    pub(super) repeat: Option<usize>,
}

/// Rows and jobs, in the order of the tables.
#[derive(Default)]
pub(super) struct Work {
    pub(super) rows: Vec<Row>,
    pub(super) jobs: Vec<Job>,
    /// Which values of settings cannot be had, and why: sentences.
    pub(super) left_out: Vec<String>,
}

impl Work {
    pub(super) fn of(args: &CompareArgs, network: &Network) -> Result<Self> {
        let mut work = Work::default();
        let wanted = |method: &Method| args.methods.is_empty() || args.methods.contains(method);
        let groups = [Group::Single, Group::Heterogeneous, Group::Multi, Group::Plain];
        for group in groups {
            let others = Method::ALL.into_iter().filter(|&method| method != Method::Mnmf);
            for method in others.filter(|method| method.group() == group).filter(wanted) {
                work.method(method, args, network)?;
            }
        }
        let ours = ours(args);
        if wanted(&Method::Mnmf) {
            work.mnmf(Section::Ours, "mnmf", ours.clone(), args);
        }
        if args.ablations {
            ablations(&ours)
                .into_iter()
                .for_each(|(title, config)| work.mnmf(Section::Ablations, title, config, args));
        }
        for &sweep in &args.sweep {
            work.sweep(sweep, &ours, network.views().len(), args);
        }
        Ok(work)
    }

    fn row(&mut self, title: &str, section: Section, candidates: Option<&'static str>) -> usize {
        self.rows.push(Row { title: title.to_owned(), section, candidates });
        self.rows.len() - 1
    }

    fn job(&mut self, row: usize, candidate: Option<String>, model: Model) -> &mut Job {
        let section = match self.rows[row].section {
            Section::Ablations => "without-",
            Section::Sweep(setting) => &format!("{setting}-"),
            _ => "",
        };
        let own = candidate.iter().map(|candidate| format!("-{candidate}")).collect::<String>();
        let folder = file_name(&format!("{section}{}{own}", self.rows[row].title));
        // Names that differ in odd characters alone must not share a folder.
        let taken = self.jobs.iter().filter(|job| job.folder == folder).count();
        let folder = if taken == 0 { folder } else { format!("{folder}-{}", self.jobs.len()) };
        self.jobs.push(Job { row, candidate, folder, model, view: None, repeat: None });
        self.jobs.last_mut().expect("just pushed")
    }

    fn mnmf(&mut self, section: Section, title: &str, settings: Mnmf, args: &CompareArgs) {
        let row = self.row(title, section, None);
        let model = Model { settings: settings.into(), seed: args.seed, threads: args.threads };
        self.job(row, None, model);
    }

    /// A row for each value of a setting. Some numbers of stages need more columns than there are.
    fn sweep(&mut self, sweep: Sweep, ours: &Mnmf, views: usize, args: &CompareArgs) {
        let (mut unfit, mut why) = (Vec::new(), None);
        for (value, config) in values(sweep, ours) {
            match config.plan(views) {
                Ok(_) => self.mnmf(Section::Sweep(name(sweep)), &value, config, args),
                Err(error) => {
                    unfit.push(value);
                    why.get_or_insert(error);
                }
            }
        }
        if let Some(why) = why {
            let (name, unfit) = (name(sweep), unfit.join(", "));
            self.left_out.push(format!("mnmf over {name} leaves out {unfit}: {why}"));
        }
    }

    fn method(&mut self, method: Method, args: &CompareArgs, network: &Network) -> Result<()> {
        let model = |own: Value| -> Result<Model> {
            let mut values: Map<String, Value> = own.as_object().cloned().unwrap_or_default();
            values.insert("dim".into(), args.dim.into());
            values.insert("seed".into(), args.seed.into());
            values.insert("threads".into(), args.threads.into());
            Ok(Model::with_settings(method, args.preset, &values)?)
        };
        let (section, views) = (Section::Method(method.group()), network.views());
        match method {
            Method::Metapath2Vec if views.len() > 1 => {
                let row = self.row(title(method), section, Some("path"));
                let paths = match args.metapaths {
                    Metapaths::Some => usual_paths(views.len()),
                    Metapaths::All => all_paths(views.len()),
                };
                for path in paths {
                    let path: Vec<&str> = path.iter().map(|&view| views[view].name.as_str()).collect();
                    self.job(row, Some(path.join("-")), model(json!({"metapath": path}))?);
                }
            }
            Method::Mve => {
                let row = self.row("mve, no labels", section, None);
                self.job(row, None, model(json!({"attention": false}))?);
                let row = self.row("mve", section, None);
                for repeat in 0..args.repeats {
                    let learning = model(json!({"attention": true}))?;
                    self.job(row, Some(format!("repeat-{repeat}")), learning).repeat = Some(repeat);
                }
            }
            _ if method.group() == Group::Single => {
                let row = self.row(title(method), section, Some("view"));
                for (at, view) in views.iter().enumerate() {
                    self.job(row, Some(view.name.clone()), model(json!({}))?).view = Some(at);
                }
            }
            _ => {
                let row = self.row(title(method), section, None);
                self.job(row, None, model(json!({}))?);
            }
        }
        Ok(())
    }
}

/// The method's name in the tables; a reconstruction says so wherever it is named.
fn title(method: Method) -> &'static str {
    if method == Method::MtneC { "mtne-c (reconstructed)" } else { method.name() }
}

/// A name that every file system takes.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(plain).collect::<String>().replace("--", "-")
}

fn ours(args: &CompareArgs) -> Mnmf {
    Mnmf { dim: args.dim, ..Mnmf::preset(args.preset) }
}

/// MNMF without one of its parts. Pooled stages have no weights, so the one of equal weights has shared stages, and stands
/// beside the weighted one.
fn ablations(ours: &Mnmf) -> [(&'static str, Mnmf); 6] {
    let stages = ours.stages;
    let shared = Mnmf { consensus: Consensus::Shared, ..ours.clone() };
    [
        ("no consensus", Mnmf { consensus_stages: Some(0), ..ours.clone() }),
        ("no unique", Mnmf { consensus_stages: Some(stages), ..ours.clone() }),
        ("one stage", Mnmf { stages: 1, consensus_stages: Some(1), ..ours.clone() }),
        ("order swapped", Mnmf { unique_first: true, ..ours.clone() }),
        ("shared, weighted", shared.clone()),
        // As gamma falls to 0, all views count alike.
        ("shared, equal weights", Mnmf { gamma: 0.01, ..shared }),
    ]
}

fn name(sweep: Sweep) -> &'static str {
    match sweep {
        Sweep::Dim => "dim",
        Sweep::Gamma => "gamma",
        Sweep::Stages => "stages",
        Sweep::ConsensusStages => "consensus stages",
    }
}

/// The values of the paper's figures, and some more.
fn values(sweep: Sweep, ours: &Mnmf) -> Vec<(String, Mnmf)> {
    let whole = |values: &[usize], set: &dyn Fn(usize) -> Mnmf| {
        values.iter().map(|&value| (value.to_string(), set(value))).collect()
    };
    match sweep {
        Sweep::Dim => whole(&[32, 64, 128, 256, 512], &|dim| Mnmf { dim, ..ours.clone() }),
        Sweep::Stages => {
            whole(&[1, 2, 4, 8, 16, 32], &|stages| Mnmf { stages, consensus_stages: None, ..ours.clone() })
        }
        Sweep::ConsensusStages => {
            let all: Vec<usize> = (0..=ours.stages).collect();
            whole(&all, &|stages| Mnmf { consensus_stages: Some(stages), ..ours.clone() })
        }
        Sweep::Gamma => {
            let shared = Mnmf { consensus: Consensus::Shared, ..ours.clone() };
            let gammas = [0.05, 0.1, 0.5, 1.5, 2.0, 5.0, 10.0, 50.0];
            gammas.iter().map(|&gamma| (gamma.to_string(), Mnmf { gamma, ..shared.clone() })).collect()
        }
    }
}
