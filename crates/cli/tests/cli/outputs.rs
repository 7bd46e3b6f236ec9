//! The files and the output of a run.

use std::fs;

use serde_json::Value;

use super::support::{CALLS, MAILS, Place, Run, SMALL, npy};

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn vectors_and_ids_fit_together() {
    let place = Place::with_views();
    place.done(&format!("embed calls.tsv mails.tsv -o result {SMALL}"));
    assert_eq!(place.names("result"), ["embedding.npy", "nodes.txt", "run.json"]);
    assert_eq!(place.text("result/nodes.txt"), "ann\nbob\ncat\ndan\neve\nfay\n");
    let bytes = place.read("result/embedding.npy");
    let (header, numbers) = npy(&bytes);
    for part in ["'descr': '<f4'", "'fortran_order': False", "'shape': (6, 16)"] {
        assert!(header.contains(part), "{header}");
    }
    assert_eq!(numbers.len(), 6 * 16 * 4);
    let numbers = numbers.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
    let numbers: Vec<f32> = numbers.collect();
    assert!(numbers.iter().all(|x| x.is_finite() && *x >= 0.0) && numbers.iter().any(|x| *x > 0.0));
}

#[test]
fn run_json_keeps_the_contract() {
    let place = Place::with_views();
    place.done(&format!(
        "embed calls.tsv mails.tsv --seed 7 --threads 2 --consensus shared -o result {SMALL}"
    ));
    let run = place.json("result/run.json");
    let expected = "command config date inputs memory method network notes peak_memory_bytes platform rank_records ranks \
                    seconds settings skipped_lines stages threads vector_scale version warnings wide_vectors";
    assert_eq!(keys(&run).join(" "), expected);
    assert_eq!(run["version"], env!("CARGO_PKG_VERSION"));
    let command = run["command"].as_str().unwrap();
    assert!(command.starts_with("manyview embed calls.tsv mails.tsv --seed 7"), "{command}");
    assert_eq!((&run["threads"], &run["ranks"], &run["method"]), (&2.into(), &1.into(), &"mnmf".into()));
    assert!(
        run["warnings"].is_array()
            && (run["peak_memory_bytes"].is_u64() || run["peak_memory_bytes"].is_null())
    );
    assert_eq!(keys(&run["memory"]).join(" "), "estimated_bytes phases");
    assert_eq!(keys(&run["memory"]["phases"]).join(" "), "factorize proximity read");
    assert_eq!(keys(&run["seconds"]).join(" "), "factorize fit proximity read total write");
    assert!(run["seconds"].as_object().unwrap().values().all(|time| time.as_f64().unwrap() >= 0.0));

    let rank = &run["rank_records"][0];
    assert_eq!(keys(rank).join(" "), "bytes calls entries peak_memory_bytes rank rows seconds");
    assert_eq!(keys(&rank["seconds"]).join(" "), "communication pass proximity read write");
    assert!(rank["seconds"].as_object().unwrap().values().all(|time| time.as_f64().unwrap() >= 0.0));
    assert_eq!((&rank["rank"], &rank["rows"]), (&0.into(), &6.into()));

    let config = &run["config"];
    assert_eq!((&config["seed"], &config["dim"], &config["stages"]), (&7.into(), &16.into(), &2.into()));
    assert_eq!((&config["consensus"], &config["negative"]), (&"shared".into(), &1.0.into()));
    // Settings that were not given are resolved.
    assert_eq!(config["consensus_stages"], 1);
    assert_eq!(config["stage_dims"], Value::from(vec![8, 8]));

    assert_eq!(keys(&run["network"]).join(" "), "fingerprint joint nodes overlap views");
    assert_eq!(keys(&run["network"]["joint"]).join(" "), "edges entries isolated name squared_norm");
    assert_eq!((&run["network"]["joint"]["name"], &config["joint"]), (&"joint".into(), &"on".into()));
    assert_eq!(run["network"]["nodes"], 6);
    let views = run["network"]["views"].as_array().unwrap();
    assert_eq!(views.len(), 2);
    for (view, (name, edges)) in views.iter().zip([("calls", 7), ("mails", 4)]) {
        assert_eq!(keys(view).join(" "), "edges entries isolated name squared_norm");
        assert_eq!(
            (&view["name"], &view["edges"], &view["isolated"]),
            (&name.into(), &edges.into(), &0.into())
        );
        assert!(view["entries"].as_u64().unwrap() > 0 && view["squared_norm"].as_f64().unwrap() > 0.0);
    }
}

/// A result can be traced to its files, its machine and its date.
#[test]
fn run_json_names_the_files_that_were_read() {
    let place = Place::with_views();
    place.write("nodes.txt", "ann\nbob\ncat\ndan\neve\nfay\n");
    let run = place
        .feed(&format!("embed --view x=- --view y=calls.tsv --nodes nodes.txt -q -o result {SMALL}"), MAILS);
    assert_eq!(run.code, 0, "{}", run.err);
    let run = place.json("result/run.json");
    let inputs: Vec<(&str, u64)> = run["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str().unwrap(), file["bytes"].as_u64().unwrap()))
        .collect();
    let expected = [("nodes.txt", 24), ("-", MAILS.len() as u64), ("calls.tsv", CALLS.len() as u64)];
    assert_eq!(inputs, expected);
    // As xxh128sum prints it.
    assert_eq!(run["inputs"][2]["xxh128"], "206604d462cd3226520608eba5ba05c5");
    let date = run["date"].as_str().unwrap();
    assert!(date.len() == 20 && date.starts_with("20") && date.ends_with('Z'), "{date}");
    let platform = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    assert_eq!(run["platform"], platform.as_str());
    // The record differs between runs; the vectors do not.
    place.done(&format!("embed --view y=calls.tsv --nodes nodes.txt -q -o again {SMALL}"));
    place.done(&format!("embed --view y=calls.tsv --nodes nodes.txt -q -o once-more {SMALL}"));
    assert!(place.read("again/embedding.npy") == place.read("once-more/embedding.npy"));
    // Labels that a method learns from are inputs, too.
    place.write("labels.tsv", "ann\tx\nbob\tx\ncat\tx\ndan\ty\neve\ty\nfay\ty\n");
    place
        .done("embed calls.tsv mails.tsv --method mve --attention yes --labels labels.tsv --dim 4 -q -o mve");
    let run = place.json("mve/run.json");
    assert_eq!(run["inputs"][2]["path"], "labels.tsv");
}

#[test]
fn results_are_not_written_to_standard_output() {
    let place = Place::with_views();
    place.write("labels.tsv", "ann\tx\nbob\ty\n");
    let folder = ["-o", "cannot be written to standard output; give a folder"];
    for line in [
        "embed calls.tsv -o -",
        "proximity calls.tsv -o -",
        "generate -o -",
        "demo -o -",
        "compare calls.tsv --labels labels.tsv -o -",
        "tune calls.tsv -o -",
        "figures calls.tsv --labels labels.tsv -o -",
    ] {
        place.fails(line, 2, &folder);
    }
    let file = "cannot be written to standard output; give the name of a file";
    place.fails("report result -o -", 2, &["-o", file]);
    place.fails("evaluate classify result --labels labels.tsv --predictions -", 2, &["--predictions", file]);
    // A folder that is really called so.
    place.done(&format!("embed calls.tsv -q -o ./- {SMALL}"));
    assert_eq!(place.names("-").len(), 3);
}

#[test]
fn stages_in_run_json_cover_all_columns() {
    let place = Place::with_views();
    for consensus in ["shared", "pooled"] {
        let line =
            format!("embed calls.tsv mails.tsv --consensus {consensus} --negative 0.2 --dim 17 --stages 4");
        place.done(&format!("{line} -q --force -o result"));
        let run = place.json("result/run.json");
        let stages = run["stages"].as_array().unwrap();
        let (mut columns, mut joint) = (Vec::new(), false);
        for stage in stages {
            assert_eq!(
                keys(stage).join(" "),
                "columns consensus converged entries iterations kind residual seconds stage view weights"
            );
            columns.push([0, 1].map(|end| stage["columns"][end].as_u64().unwrap()));
            let weights = stage["weights"].as_object().unwrap();
            let sum: f64 = weights.values().map(|weight| weight.as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{weights:?}");
            match stage["kind"].as_str().unwrap() {
                "consensus" => {
                    assert_eq!((&stage["view"], &stage["consensus"]), (&Value::Null, &consensus.into()));
                    assert_eq!(keys(&stage["weights"]), ["calls", "joint", "mails"]);
                }
                kind => {
                    // The union of the views is not a view.
                    let view =
                        if kind == "joint" { &Value::Null } else { &keys(&stage["weights"])[0].into() };
                    assert_eq!((&stage["view"], &stage["consensus"]), (view, &Value::Null));
                    assert_eq!(stage["weights"].as_object().unwrap().len(), 1);
                    joint |= kind == "joint";
                }
            }
            assert!(stage["iterations"].as_u64().unwrap() > 0 && stage["converged"].is_boolean());
            assert!(stage["seconds"].is_f64());
            assert_eq!(keys(&stage["residual"]), keys(&stage["weights"]));
            assert_eq!(keys(&stage["entries"]), keys(&stage["weights"]));
            for left in stage["residual"].as_object().unwrap().values() {
                assert!((0.0..=1.0).contains(&left.as_f64().unwrap()));
            }
        }
        columns.sort_unstable();
        assert_eq!((columns[0][0], columns[columns.len() - 1][1]), (0, 17));
        assert!(columns.windows(2).all(|next| next[0][1] == next[1][0]), "no gap: {columns:?}");
        assert_eq!((stages[0]["stage"].as_u64(), stages.len()), (Some(1), 1 + 3), "narrow stages take turns");
        assert!(joint);
    }
}

#[test]
fn text_formats_hold_the_same_numbers() {
    let place = Place::with_views();
    place.done(&format!("embed calls.tsv --format tsv,csv,word2vec -o result {SMALL}"));
    let expected = [
        "embedding.csv",
        "embedding.npy",
        "embedding.tsv",
        "embedding.word2vec.txt",
        "nodes.txt",
        "run.json",
    ];
    assert_eq!(place.names("result"), expected);
    let matrix = manyview::io::read_npy(&place.path("result/embedding.npy")).unwrap();
    let columns: Vec<String> = (0..16).map(|column| column.to_string()).collect();
    for (file, separator, first) in [
        ("embedding.tsv", '\t', format!("node\t{}", columns.join("\t"))),
        ("embedding.csv", ',', format!("node,{}", columns.join(","))),
        ("embedding.word2vec.txt", ' ', "6 16".to_owned()),
    ] {
        let text = place.text(&format!("result/{file}"));
        let (found, rows) = text.split_once('\n').unwrap();
        assert_eq!(found, first, "{file}");
        let rows: Vec<Vec<&str>> = rows.lines().map(|line| line.split(separator).collect()).collect();
        let ids: Vec<&str> = rows.iter().map(|row| row[0]).collect();
        assert_eq!(ids, ["ann", "bob", "cat", "dan", "eve", "fay"], "{file}");
        let numbers = rows.iter().flat_map(|row| &row[1..]).map(|number| number.parse::<f32>().unwrap());
        assert_eq!(numbers.collect::<Vec<f32>>(), matrix.values, "{file}");
    }
}

#[test]
fn an_earlier_result_is_kept_unless_forced() {
    let place = Place::with_views();
    let line = format!("embed calls.tsv -o result {SMALL}");
    place.done(&line);
    let before = place.read("result/embedding.npy");
    let words =
        ["result/embedding.npy already exists; pass --force to overwrite it, or choose another folder"];
    place.fails(&format!("{line} --seed 1"), 2, &words);
    assert!(place.read("result/embedding.npy") == before);
    place.done(&format!("{line} --seed 1 --force"));
    assert!(place.read("result/embedding.npy") != before);
    assert_eq!(place.json("result/run.json")["config"]["seed"], 1);
    // A failed run keeps the old result.
    let before = place.read("result/embedding.npy");
    place.fails("embed calls.tsv -o result --force --negative 999", 1, &["has an empty proximity matrix"]);
    assert!(place.read("result/embedding.npy") == before);
    // Other files in the folder are kept.
    place.write("mine/notes.md", "mine");
    place.done(&format!("embed calls.tsv -o mine {SMALL}"));
    assert_eq!(place.text("mine/notes.md"), "mine");
}

#[test]
fn folders_that_cannot_be_written() {
    let place = Place::with_views();
    place.write("file", "text");
    let words = ["file: is a file where a folder is expected"];
    let run = place.fails("embed calls.tsv -o file", 1, &words);
    assert_eq!(run.err.lines().count(), 1, "printed before the network is read: {}", run.err);
    // The message names the file, not the folder below it.
    place.fails(
        "embed calls.tsv -o file/below/it",
        1,
        &["error: file: is a file where a folder is expected"],
    );
    fs::create_dir_all(place.path("taken/nodes.txt")).unwrap();
    place.fails("embed calls.tsv -o taken --force", 1, &["nodes.txt: is a folder where a file is expected"]);
}

#[cfg(target_os = "linux")]
#[test]
fn folders_of_the_system() {
    let place = Place::with_views();
    for command in ["embed calls.tsv", "proximity calls.tsv", "generate"] {
        for folder in ["/proc", "/proc/result"] {
            place.fails(&format!("{command} -o {folder}"), 1, &[folder, "choose another"]);
        }
    }
}

#[test]
fn quiet_means_quiet() {
    let place = Place::with_views();
    for line in [
        format!("embed calls.tsv -q -o a {SMALL}"),
        "proximity calls.tsv --negative 1 --quiet -o b".to_owned(),
        "generate --nodes 50 --degree 4 -q -o c".to_owned(),
    ] {
        let Run { out, err, .. } = place.done(&line);
        assert_eq!((out.as_str(), err.as_str()), ("", ""), "{line}");
    }
    // Errors are still printed.
    place.fails("embed none.tsv -q -o result", 1, &["none.tsv"]);
}

#[test]
fn the_end_is_a_sentence_a_table_and_what_to_do_next() {
    let place = Place::with_views();
    let Run { out, err, .. } = place.done(&format!("embed calls.tsv mails.tsv -o result {SMALL}"));
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "calls.tsv: tab-separated, no header, no weights",
            "mails.tsv: tab-separated, no header, no weights"
        ]
    );
    assert!(lines[2].starts_with("6 nodes, 2 views: calls (7 edges), mails (4 edges); read in "), "{err}");
    assert!(lines[3].starts_with("expecting about 50 proximity entries and "), "{err}");
    assert_eq!(lines[4..], ["computing proximities"]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[1].starts_with("mnmf wrote 6 nodes x 16 columns to result/embedding.npy in "), "{out}");
    let words: Vec<Vec<&str>> = lines[3..7].iter().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["view", "edges", "own", "columns", "explained"]);
    assert_eq!((words[1][0], words[1][1], words[2][0], words[2][1]), ("calls", "7", "mails", "4"));
    assert_eq!(words[3][..4], ["union", "of", "the", "views"]);
    assert_eq!(
        lines[7..],
        [
            "(8 columns are shared by all views; explained: share of squared proximity)",
            "",
            "next: manyview report result"
        ]
    );
    assert!(lines[2..].iter().all(|line| line.len() <= 80), "{out}");
    // The next command works as it is printed, also for names with blanks.
    let mut command = place.command(&format!("embed calls.tsv -q {SMALL}"));
    assert_eq!(command.args(["-o", "two words"]).output().unwrap().status.code(), Some(0));
    let mut command = place.command(&format!("embed calls.tsv --force {SMALL}"));
    let out = String::from_utf8(command.args(["-o", "two words"]).output().unwrap().stdout).unwrap();
    assert!(out.ends_with("next: manyview report 'two words'\n"), "{out}");
}

#[test]
fn stages_are_told_with_verbose() {
    let place = Place::with_views();
    let Run { out, err, .. } = place.done(&format!("embed calls.tsv mails.tsv -v -o result {SMALL}"));
    let lines: Vec<&str> = err.lines().collect();
    assert!(lines[5].starts_with("stage 1 (unique): ") && lines[5].contains("residual: calls "), "{err}");
    assert!(lines[6].starts_with("stage 2 (consensus): "), "{err}");
    assert!(!err.contains('\r') && !err.contains('\u{1b}'), "no control characters: {err:?}");
    for words in ["stage  kind         columns  iterations", "consensus"] {
        assert!(out.contains(words), "no {words:?} in\n{out}");
    }
    assert!(!out.contains('\u{1b}'));
    place.fails(&format!("embed calls.tsv -v -q -o other {SMALL}"), 2, &["cannot be used with"]);
}

#[test]
fn one_line_of_json_for_scripts() {
    let place = Place::with_views();
    place.write("zero.tsv", "ann\tbob\n");
    for quiet in ["", "-q"] {
        let line = format!("embed calls.tsv mails.tsv {quiet} --json --force -o result {SMALL}");
        let Run { out, err, .. } = place.done(&line);
        assert_eq!((out.lines().count(), err.is_empty()), (1, !quiet.is_empty()), "{out}{err}");
        let found: Value = serde_json::from_str(&out).unwrap();
        let expected = "columns folder joint method nodes peak_memory_bytes seconds shared_columns version views warnings";
        assert_eq!(keys(&found).join(" "), expected);
        assert_eq!((&found["folder"], &found["method"]), (&"result".into(), &"mnmf".into()));
        assert_eq!(
            (&found["nodes"], &found["columns"], &found["shared_columns"]),
            (&6.into(), &16.into(), &8.into())
        );
        assert!(found["seconds"].as_f64().unwrap() > 0.0 && found["warnings"].as_array().unwrap().is_empty());
        assert_eq!(keys(&found["views"][0]).join(" "), "columns edges explained view");
        assert_eq!((&found["views"][1]["view"], &found["views"][1]["edges"]), (&"mails".into(), &4.into()));
    }
    let run = place.done(&format!("embed zero.tsv --json -q --solver hals -o zero {SMALL}"));
    let found: Value = serde_json::from_str(&run.out).unwrap();
    assert!(
        found["warnings"][0].as_str().unwrap().starts_with("the views are fully explained before stage 2")
    );
    let run = place.done("embed calls.tsv mails.tsv --method netmf-concat --dim 4 --json -q -o netmf");
    let found: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&found["views"][0]["columns"], &found["views"][0]["explained"]), (&2.into(), &Value::Null));
    place.fails("embed calls.tsv --plan --json", 2, &["cannot be used with"]);
}

/// The empty sum is -0 in Rust.
#[test]
fn a_zero_residual_is_not_printed_as_minus_zero() {
    let place = Place::new();
    place.write("x.tsv", "a\tb\n");
    // Plain updates explain it to the last bit.
    let Run { out, err, .. } = place.done(&format!("embed x.tsv -v -o result --solver hals {SMALL}"));
    assert!(out.contains(" 0.0%") && !out.contains("-0.0%"), "{out}");
    assert!(err.contains("residual: x 0.0%"), "{err}");
    assert!(err.contains("warning: the views are fully explained before stage 2 of 2"), "{err}");
    assert!(!place.text("result/run.json").contains("-0.0"));
}

#[cfg(target_os = "linux")]
#[test]
fn readers_that_leave_are_no_failure_and_full_disks_are() {
    use std::process::{Command, Stdio};
    let place = Place::with_views();
    let embed = format!("embed calls.tsv --force -o result {SMALL}");
    for line in [embed.as_str(), "completions bash"] {
        let start = |out: Stdio| {
            let mut command = Command::new(assert_cmd::cargo::cargo_bin("manyview"));
            command.current_dir(place.path(".")).args(line.split_whitespace());
            command.stdout(out).stderr(Stdio::piped()).spawn().unwrap()
        };
        let mut child = start(Stdio::piped());
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && !err.contains("pipe"), "{line}: {err}");

        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = start(full.into()).wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {err}");
        assert!(
            err.contains("error: cannot write to standard output") && !err.contains("panicked"),
            "{line}: {err}"
        );
    }
}

/// As with `2>&1 | head -1`, which once ended a run with exit code 101: both streams go to a reader that leaves.
#[cfg(unix)]
#[test]
fn a_reader_that_leaves_ends_no_command() {
    use std::io::{PipeReader, pipe};
    use std::process::{Command, Stdio};
    let place = Place::new();
    place.done("generate --nodes 60 --views 2 --communities 3 -q -o net");
    place.done("embed net --dim 16 -q -o result");
    let labels = "--labels net/labels.tsv";
    let compared = format!("{labels} --methods mnmf,netmf-sum --dim 16 --repeats 1 --c 1");
    for (line, made) in [
        ("embed net --dim 16 -v -o again".to_owned(), "again/run.json"),
        ("proximity net -o proximity".into(), "proximity/nodes.txt"),
        ("views net".into(), ""),
        (format!("views net --alone {labels} --dim 16 --repeats 1"), ""),
        (format!("report result {labels}"), "result/report.html"),
        ("explain result n1".into(), ""),
        ("neighbors result --all".into(), ""),
        ("cluster result --k 3".into(), ""),
        (format!("evaluate classify result {labels}"), ""),
        ("evaluate links net --dim 16 --repeats 1".into(), ""),
        (format!("compare net {compared} -o compared"), "compared/compare.html"),
        (format!("tune net {labels} --over stages=1,2 --dim 16 -o tuned"), "tuned/best.toml"),
        (format!("figures net {labels} --only ablation --dim 16 -o figures"), "figures/figures.html"),
        ("generate --nodes 30 -o other".into(), "other/nodes.txt"),
        ("methods".into(), ""),
        ("embed net --plan".into(), ""),
    ] {
        let (reader, writer): (PipeReader, _) = pipe().unwrap();
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("manyview"));
        command.current_dir(place.path(".")).args(line.split_whitespace()).stdin(Stdio::null());
        let mut child = command.stdout(writer.try_clone().unwrap()).stderr(writer).spawn().unwrap();
        drop((reader, command));
        assert_eq!(child.wait().unwrap().code(), Some(0), "{line}");
        assert!(made.is_empty() || place.path(made).exists(), "{line}");
    }
}
