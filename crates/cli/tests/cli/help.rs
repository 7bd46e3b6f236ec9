//! Help, version and completions.

use super::support::Place;

#[track_caller]
fn says(line: &str, words: &[&str]) {
    let run = Place::new().done(line);
    // Help is wrapped to the terminal.
    let text = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(text.contains(word), "manyview {line}\nno {word:?} in\n{}", run.out);
    }
}

#[test]
fn help_shows_examples_and_defaults() {
    says(
        "--help",
        &[
            "Usage: manyview",
            "embed",
            "proximity",
            "evaluate",
            "views",
            "report",
            "explain",
            "neighbors",
            "generate",
            "demo",
        ],
    );
    says("--help", &["manyview embed --view calls=calls.tsv", "numpy.load(\"result/embedding.npy\")"]);
    says(
        "help embed",
        &["Examples:", "--relation kind", "-o result", "embedding.npy (nodes x dim, float32)", "nodes.txt"],
    );
    for default in [
        "[default: 256]",
        "[default: 200]",
        "[default: 5]",
        "[default: accelerated-hals]",
        "[default: all cores]",
    ] {
        says("embed --help", &[default]);
    }
    says(
        "embed --help",
        &[
            "--view <NAME=PATH[:COLS]>",
            ".gz or .zst",
            "--preset",
            "--seed",
            "--force",
            "standard input",
            "--plan",
            "--max-memory <SIZE>",
        ],
    );
    says("proximity --help", &["scipy.sparse.load_npz", "--window", "--negative", "[default: 5]"]);
    says("views --help", &["Jaccard", "--no-proximity", "--json"]);
    says("report --help", &["DIR/report.html", "--labels", "makes no requests"]);
    says("explain --help", &["NODE2", "--top", "[default: 5]"]);
    says("neighbors --help", &["cosine", "--count", "[default: 10]", "--nodes <FILE>", "--all"]);
    says("cluster --help", &["--k <N>", "label file", "[default: standard output]"]);
    says("views --help", &["--alone", "contribution", "[default: 0.5]"]);
    says("compare --help", &["--sweep <NAME[=X,...]>", "dim=16,32"]);
    says("evaluate --help", &["classify", "cluster", "links"]);
    says("figures --help", &["--only <NAME,...>", "DIR/figures.html", "- weights:", "[default: 0.5]"]);
    says(
        "tune --help",
        &[
            "--search <NAME,...>",
            "--over <NAME[=X,...]>",
            "2..64",
            "early-stopping",
            "DIR/best.toml",
            "[default: 0.1]",
        ],
    );
    says(
        "evaluate classify --help",
        &["--labels <FILE>", "[default: 0.3,0.5,0.7]", "[default: 10]", "auto", "--json"],
    );
    says(
        "evaluate cluster --help",
        &["[default: the number of labels]", "[default: arithmetic]", "--restarts"],
    );
    says(
        "evaluate links --help",
        &["[default: 0.2]", "[default: cosine]", "--dim", "--view <NAME=PATH[:COLS]>"],
    );
    says("generate --help", &["--nodes", "[default: 1000]", "labels.tsv", "--consensus", "[default: 0.5]"]);
    says("demo --help", &["digits", "[default: manyview-demo]", "--quiet", "--stages"]);
    let demo = Place::new().done("demo --help").out;
    assert!(!demo.contains("--epochs") && !demo.contains("--no-"), "the demo runs mnmf only: {demo}");
    says("completions --help", &["bash", "zsh", "fish", "manyview completions bash >"]);
}

/// The short help was 278 lines long, most of them settings of other methods.
#[test]
fn help_has_the_settings_of_one_method() {
    let place = Place::new();
    let short = place.done("embed -h").out;
    assert!(short.lines().count() <= 50, "{short}");
    let long = place.done("embed --help").out;
    assert!(
        long.contains("--joint <NAME>") && !long.contains("--epochs") && !short.contains("--joint"),
        "{long}"
    );
    let mve = place.done("embed --method mve --help").out;
    assert!(
        mve.contains("--epochs <N>") && mve.contains("Settings of mve:") && !mve.contains("--joint"),
        "{mve}"
    );
    assert!(place.done("evaluate links --method deepwalk --help").out.contains("--length <N>"));
    // What is not shown is accepted as before.
    place.fails("embed x.tsv --epochs 3 -o y", 2, &["--epochs: mnmf has no such setting; it belongs to "]);
}

#[test]
fn no_command_shows_the_help() {
    let run = Place::new().run("");
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.contains("First steps: ") && run.err.contains("manyview demo"), "{}", run.err);
}

#[test]
fn version() {
    let run = Place::new().done("--version");
    assert_eq!(run.out, format!("manyview {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_name_commands_and_options() {
    for shell in ["bash", "zsh", "fish"] {
        says(&format!("completions {shell}"), &["manyview", "embed", "preset"]);
    }
    Place::new().fails("completions tcsh", 2, &["possible values", "bash"]);
}
