//! What depends on the machine: the width of vectors must not affect the result, and `--threads` is a limit.

use super::support::Place;

/// Each way to compute that has kernels of its own.
const WAYS: [&str; 6] = [
    "--preset default",
    "--preset paper",
    "--preset authors",
    "--solver mu",
    "--method netmf",
    "--method deepwalk --walks 2",
];

#[test]
fn machines_without_wide_vectors_get_the_same_bits() {
    let place = Place::new();
    place.done("generate --nodes 300 --views 3 --degree 6 --weighted -q -o net");
    let portable = |line: &str| {
        let output = place.command(line).env("MANYVIEW_PORTABLE", "1").output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    };
    for way in WAYS {
        let line = format!("embed net {way} --dim 64 -q --force");
        place.done(&format!("{line} -o wide"));
        portable(&format!("{line} -o narrow"));
        let same = place.read("wide/embedding.npy") == place.read("narrow/embedding.npy");
        assert!(same, "{way}: the vectors differ");
        assert_eq!(place.json("narrow/run.json")["wide_vectors"], false, "{way}");
        let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        if flags.split_whitespace().any(|flag| flag == "avx2") {
            assert_eq!(place.json("wide/run.json")["wide_vectors"], true, "{way}");
        }
    }
    for line in ["report wide --labels net/labels.tsv -q", "report wide --seed 3 -q"] {
        place.done(&format!("{line} -o wide.html --force"));
        portable(&format!("{line} -o narrow.html --force"));
        assert!(place.read("wide.html") == place.read("narrow.html"), "{line}: the pages differ");
    }
    place.done("proximity net -q -o wide-proximity");
    portable("proximity net -q -o narrow-proximity");
    for file in place.names("wide-proximity") {
        let [wide, narrow] =
            ["wide", "narrow"].map(|folder| place.read(&format!("{folder}-proximity/{file}")));
        assert!(wide == narrow, "{file}: the proximities differ");
    }
}

/// Runs a command and returns the names of its threads besides the main one.
///
/// A thread sets its name itself and has that of the process until then, so a thread with that name counts only if it is
/// asleep 50 ms after it was first seen.
#[cfg(target_os = "linux")]
fn threads_of(place: &Place, line: &str) -> std::collections::BTreeSet<String> {
    use std::collections::{BTreeSet, HashMap};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("manyview"));
    command.current_dir(place.path(".")).args(line.split_whitespace());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let main = child.id().to_string();
    let (mut names, mut asleep) = (BTreeSet::new(), HashMap::new());
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        let tasks = std::fs::read_dir(format!("/proc/{main}/task")).into_iter().flatten();
        for task in tasks.filter_map(Result::ok).filter(|task| task.file_name() != main.as_str()) {
            // A thread may end at any time.
            let Ok(stat) = std::fs::read_to_string(task.path().join("stat")) else { continue };
            let (name, state) = stat.split_once('(').unwrap().1.rsplit_once(") ").unwrap();
            let is_new = name == "manyview" && {
                let since = asleep.entry(task.file_name()).or_insert_with(Instant::now);
                !state.starts_with('S') || since.elapsed() < Duration::from_millis(50)
            };
            if !is_new {
                names.insert(name.to_owned());
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    assert!(status.success(), "manyview {line}");
    names
}

/// Threads without a name, such as those of rayon's global pool, are called like the process.
#[cfg(target_os = "linux")]
#[test]
fn threads_are_never_more_than_asked_for() {
    let place = Place::new();
    place.done("generate --nodes 1500 --views 3 -q -o net");
    place.done("embed net --dim 32 --stages 4 -q -o z");
    for (line, threads) in [
        ("embed net -o a --dim 64 --max-iter 20", 2),
        ("embed net -o b --dim 64 --max-iter 5", 1),
        ("embed net -o c --method deepwalk --walks 2 --dim 32", 2),
        ("embed net -o d --method netmf-sum --dim 32", 2),
        ("embed net -o e --dim 64 --max-iter 5 --format tsv,csv", 2),
        ("embed net --plan", 2),
        ("report z", 2),
        ("views net", 2),
        ("proximity net -o p", 2),
        ("evaluate classify z --labels net/labels.tsv --repeats 2", 2),
        ("evaluate cluster z --labels net/labels.tsv --repeats 2", 2),
        ("evaluate links net --dim 32 --repeats 1 --max-iter 5", 2),
        ("compare net --labels net/labels.tsv -o x --methods netmf-sum --dim 16 --repeats 1 --c 1", 2),
    ] {
        let found = threads_of(&place, &format!("{line} --threads {threads}"));
        let allowed: Vec<String> = (0..threads).map(|number| format!("manyview-{number}")).collect();
        let others: Vec<&String> =
            found.iter().filter(|name| !allowed.contains(name) && *name != "ctrl-c").collect();
        assert!(others.is_empty(), "{line} --threads {threads}: {others:?}");
        assert!(found.contains(&allowed[threads - 1]), "{line} --threads {threads}: only {found:?}");
    }
}
