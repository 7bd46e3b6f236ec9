//! What `manyview compare` keeps of a job, to reuse it: `made.json`, `scores.json`, `map.npy`, and the files of a result.
//!
//! A file is used only by the comparison that wrote it, so the seeds are those of a small one that is made at the start.
//! Mutators mostly change what follows the identity.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;

use manyview::compare::{CompareSettings, Kept, KeptJob, Scores, compare, kept_jobs};
use manyview::evaluate::Cost;
use manyview::generate::Planted;
use manyview::io::{Files, Memory};
use manyview::parallel::Pool;
use manyview::{Labels, Method, Network};
use serde_json::{Value, json};

use super::result::{change_file, change_numbers};
use crate::container::{join, split};
use crate::mutate::{Words, change_bytes, change_text};
use crate::random::Random;
use crate::{Outcome, Target, check};

pub(super) const TARGET: Target = Target { name: "compare", made, mutate, run };

const WORDS: Words = Words {
    words: &[
        "classify",
        "shares",
        "train",
        "micro_f1",
        "macro_f1",
        "known_micro_f1",
        "validation",
        "nmi",
        "ami",
        "seconds",
        "dim",
        "notes",
        "null",
        "true",
        "auto",
        "\u{1b}",
    ],
    lines: &["", "{", "}", "[]", "0.5,", "\"nmi\": [],", "\"notes\": [\"a note\"],"],
    rough: 12,
};

/// The folder of the comparison, and that of its only job.
const FOLDER: &str = "compared";
const JOB: &str = "mnmf";

const FILES: [&str; 6] = ["made.json", "scores.json", "map.npy", "embedding.npy", "nodes.txt", "run.json"];

/// The comparison that the files belong to.
struct Fixture {
    network: Network,
    labels: Labels,
    settings: CompareSettings,
    files: Vec<(String, Vec<u8>)>,
}

fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let planted = Planted { nodes: 12, views: 2, communities: 2, ..Planted::default() };
        let planted = planted.generate().expect("a small network");
        let network = planted.network().expect("a valid network");
        let sets = planted.labels.iter().map(|label| [label.to_string()]);
        let labels = Labels::from_sets(network.nodes().iter(), sets).expect("a label for each node");
        let settings = CompareSettings {
            methods: vec![Method::Mnmf],
            dim: 16,
            train: vec![0.5, 0.7],
            repeats: 2,
            c: vec![Cost::Fixed(1.0)],
            threads: Some(1),
            ..CompareSettings::default()
        };
        let place = tempfile::tempdir().expect("a folder for a small comparison");
        let found =
            compare(&network, &labels, &settings, Some(place.path()), &mut |_| ControlFlow::Continue(()));
        let found = found.expect("a comparison");
        assert!(found.rows[0].failures.is_empty(), "{:?}", found.rows[0].failures);
        let pool = Pool::new(Some(1)).expect("a thread");
        let map = found.maps().first().expect("the map of the only method");
        map.coordinates(&pool, &mut |_| ControlFlow::Continue(())).expect("a map");
        let read = |name: &str| {
            let content = fs::read(place.path().join(JOB).join(name)).expect("a file of the job");
            (format!("{JOB}/{name}"), without_times(content))
        };
        Fixture { files: FILES.map(read).to_vec(), network, labels, settings }
    })
}

/// The same file without what differs from run to run and between machines: an input has to follow from the seed.
fn without_times(content: Vec<u8>) -> Vec<u8> {
    let Ok(mut file) = serde_json::from_slice::<Value>(&content) else { return content };
    if let Some(fields) = file.as_object_mut() {
        for name in ["memory", "rank_records", "wide_vectors", "peak_memory_bytes"] {
            fields.remove(name);
        }
    }
    same_seconds(&mut file);
    serde_json::to_vec_pretty(&file).expect("JSON")
}

fn same_seconds(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::Number(_) if name == "seconds" => *value = json!(0.25),
                    Value::Object(times) if name == "seconds" => {
                        times.values_mut().for_each(|time| *time = json!(0.25));
                    }
                    _ => same_seconds(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(same_seconds),
        _ => {}
    }
}

fn made() -> Vec<Vec<u8>> {
    let files = &fixture().files;
    let without = |left_out: &str| {
        let kept: Vec<_> = files.iter().filter(|file| !file.0.ends_with(left_out)).cloned().collect();
        join(&kept)
    };
    vec![join(files), without("scores.json"), without("map.npy")]
}

fn mutate(input: &mut Vec<u8>, _: &[Vec<u8>], random: &mut Random) {
    let mut files = split(input);
    if files.is_empty() {
        *input = join(&fixture().files);
        return;
    }
    let at = random.below(files.len());
    if random.one_in(30) {
        files.remove(at);
    } else {
        let (name, content) = &mut files[at];
        match name.strip_prefix(JOB).map_or(name.as_str(), |name| name.trim_start_matches('/')) {
            "made.json" => change_after(content, b"\"seconds\":", random),
            "scores.json" => change_after(content, b"\"scores\": {\n    \"ami\"", random),
            "map.npy" if random.one_in(4) => change_bytes(content, random),
            "map.npy" => change_numbers(content, random),
            other => change_file(other, content, random),
        }
    }
    *input = join(&files);
}

/// Changes a file after the identity, which must be that of the comparison; rarely the identity too.
fn change_after(content: &mut Vec<u8>, begin: &[u8], random: &mut Random) {
    let begin = content.windows(begin.len()).rposition(|bytes| bytes == begin).unwrap_or(0);
    let mut tail = content.split_off(if random.one_in(16) { 0 } else { begin });
    change_text(&mut tail, &[], &WORDS, random);
    content.append(&mut tail);
}

fn described(jobs: &Vec<KeptJob>) -> String {
    format!("{jobs:?}")
}

fn run(input: &[u8], _: &Pool) -> Outcome {
    let Fixture { network, labels, settings, .. } = fixture();
    let folder = Path::new(FOLDER);
    let files = Memory::new(split(input).into_iter().map(|(name, content)| (folder.join(name), content)));
    let read = |files: &dyn Files| kept_jobs(files, folder, network, labels, settings);
    let jobs = check::read_twice(input, &files, read, described).expect("bad files are computed again");
    let [KeptJob { folder: job, kept, map, .. }] = &jobs[..] else { panic!("{} jobs, not 1", jobs.len()) };
    assert_eq!(job, JOB);
    let finite = |pair: &[f32; 2]| pair.iter().all(|x| x.is_finite());
    if let Some(map) = map {
        assert_eq!(map.len(), network.nodes().len(), "a pair per node");
        assert!(map.iter().flatten().all(finite), "coordinates are finite");
    }
    match kept {
        Kept::Nothing => return Outcome::Refused,
        Kept::Embedding(saved, seconds) => {
            let embedding = &saved.embedding;
            assert_eq!(embedding.nodes(), network.nodes());
            assert!(embedding.values().iter().all(|value| value.is_finite()), "every number is finite");
            assert!(seconds.is_finite() && *seconds >= 0.0);
        }
        Kept::Scores(scores) => check_scores(scores, settings),
    }
    Outcome::Parsed
}

/// What the tables rely on.
fn check_scores(scores: &Scores, settings: &CompareSettings) {
    let usual = |values: &[f64]| values.iter().all(|x| (-1.0..=1.001).contains(x));
    assert_eq!(scores.classify.len(), settings.c.len());
    for cost in &scores.classify {
        let trains: Vec<f64> = cost.shares.iter().map(|share| share.train).collect();
        assert_eq!(trains, settings.train);
        for share in &cost.shares {
            assert_eq!((share.micro_f1.len(), share.macro_f1.len()), (settings.repeats, settings.repeats));
            assert_eq!(share.known_micro_f1.len(), share.known_macro_f1.len());
            assert!(usual(&share.micro_f1) && usual(&share.macro_f1) && usual(&share.validation));
            assert!(usual(&share.known_micro_f1) && usual(&share.known_macro_f1));
        }
    }
    assert_eq!(scores.nmi.len(), scores.ami.len());
    assert!(usual(&scores.nmi) && usual(&scores.ami));
    assert!(scores.seconds.is_finite() && scores.seconds >= 0.0);
    scores.notes.iter().for_each(|note| check::plain(note));
}
