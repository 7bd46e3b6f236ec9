//! `manyview report`. The page itself is tested in a browser (`tests/test_report.py`).

use super::support::{Place, SMALL};

/// Returns a folder with a finished result in `result`.
pub(crate) fn finished() -> Place {
    let place = Place::with_views();
    place.done(&format!("embed calls.tsv mails.tsv {SMALL} -q -o result"));
    place
}

#[test]
fn the_page_is_one_file() {
    let place = finished();
    let run = place.done("report result");
    assert!(run.out.starts_with("result/report.html: 6 nodes, "), "{}", run.out);
    assert!(run.out.ends_with("open it in a browser\n"));
    assert_eq!(place.names("result"), ["embedding.npy", "nodes.txt", "report.html", "run.json"]);
    let page = place.text("result/report.html");
    assert!(page.starts_with("<!doctype html>") && page.contains("default-src 'none'"));
    for outside in ["src=\"", "href=\"http", "url(", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn columns_of_methods_without_stages_are_not_called_consensus() {
    let place = Place::with_views();
    place.done("embed calls.tsv mails.tsv --method netmf-sum --dim 2 -q -o other");
    place.done("report other -q");
    let page = place.text("other/report.html");
    assert!(
        page.contains(r#""sources":[]"#)
            && page.contains("<section id=\"stages\" aria-labelledby=\"stages-heading\" hidden>")
    );
}

#[test]
fn labels_are_in_the_page() {
    let place = finished();
    place.write("labels.tsv", "ann\tred\nbob\tred\tblue\nzoe\tred\n");
    let run = place.done("report result --labels labels.tsv -o page.html");
    assert!(
        run.err.contains("labels.tsv: 2 labels\nlabels.tsv: ignored 1 id that is not in the result\n"),
        "{}",
        run.err
    );
    let page = place.text("page.html");
    assert!(page.contains(r#""names":["blue","red"],"of":[[1],[0,1],[],"#), "the labels are in the page");
    assert_eq!(place.names("result").len(), 3);
}

#[test]
fn a_sample_of_the_nodes_is_shown_and_said_so() {
    let place = finished();
    place.write("labels.tsv", "ann\tred\nbob\tred\tblue\ncat\tred\ndan\tblue\nfay\tblue\neve\tred\n");
    let run = place.done("report result --sample 3 --labels labels.tsv");
    assert!(run.out.starts_with("result/report.html: 3 of 6 nodes, "), "{}", run.out);
    let words = "the page shows 3 of 6 nodes, drawn at random, and their neighbors among all nodes\n";
    assert!(run.err.contains(words), "{}", run.err);
    let page = place.text("result/report.html");
    assert!(page.contains(r#""sample":{"drawn":3,"of":6}"#));
    place.done("report result --sample 3 --labels labels.tsv -q --threads 3 -o again.html");
    assert_eq!(place.text("again.html"), page, "threads and file names change nothing");
    place.done("report result --sample 6 -q -o whole.html");
    place.done("report result -q -o plain.html");
    assert!(place.text("plain.html").contains(r#""sample":null"#));
    assert_eq!(place.read("whole.html"), place.read("plain.html"));
    place.fails("report result --sample 0 -o none.html", 2, &["--sample must be at least 1"]);
}

#[test]
fn labels_that_no_drawn_node_has_are_not_evaluated() {
    let place = finished();
    for seed in 0..4 {
        place.write("labels.tsv", "ann\tred\n");
        let run = place.done(&format!("report result --sample 1 --labels labels.tsv --seed {seed} --force"));
        assert!(run.err.contains("not evaluated: "), "{}", run.err);
    }
}

#[test]
fn an_earlier_page_is_replaced_and_other_files_only_by_force() {
    let place = finished();
    place.done("report result -q");
    let page = place.read("result/report.html");
    place.done("report result --seed 1 -q");
    assert!(place.read("result/report.html") != page, "it is another page");
    for other in ["", "<!doctype html>\n<title>mine</title>\n", "\u{feff}notes"] {
        place.write("notes.html", other);
        place.fails("report result -o notes.html", 2, &["notes.html already exists", "--force"]);
        assert_eq!(place.text("notes.html"), other);
    }
    place.done("report result --force -q -o notes.html");
    assert!(place.text("notes.html").contains("content=\"manyview report\""));
}

#[test]
fn markup_in_names_does_not_end_the_script() {
    let place = Place::new();
    place.write("x.tsv", "</script><b>\t<!--\n<!--\tc\nc\t</script><b>\nc\td\n");
    place.done("embed x.tsv --negative 1 --dim 16 --stages 2 --header no -q -o result");
    place.done("report result -q");
    let page = place.text("result/report.html");
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("\\u003c/script>\\u003cb>") && !page.contains("<!--"));
}

#[test]
fn folders_without_a_result_are_rejected() {
    let place = finished();
    place.fails(
        "report nowhere",
        1,
        &["nowhere is not a result folder: run.json is missing", "manyview embed"],
    );
    place.fails("report calls.tsv", 1, &["calls.tsv"]);
    place.fails("report result --labels none.tsv", 1, &["none.tsv", "no such file"]);
    place.fails("report result --threads 0", 2, &["--threads 0 must be at least 1"]);
    place.fails("report result -o result", 1, &["is a folder where a file is expected"]);
    place.fails("report result -o ..", 2, &[".. is not a file name"]);
    place.write("labels.tsv", "ann red\n");
    place.fails("report result --labels labels.tsv", 1, &["labels.tsv:1", "expected a node and a label"]);
}

#[test]
fn files_that_do_not_belong_together_are_rejected() {
    let place = finished();
    let (ids, run, vectors) =
        (place.text("result/nodes.txt"), place.text("result/run.json"), place.read("result/embedding.npy"));
    place.write("result/nodes.txt", format!("{ids}gus\n"));
    place.fails("report result", 1, &["embedding.npy has 6 rows and nodes.txt 7 ids", "of one run"]);
    place.write("result/nodes.txt", &ids);
    place.write("result/run.json", run.replace("\"nodes\": 6", "\"nodes\": 60"));
    place.fails("report result", 1, &["run.json has 60 nodes"]);
    place.write("result/run.json", "{}");
    place.fails("report result", 1, &["result/run.json:1", "missing field", "complete run.json"]);
    place.write("result/run.json", &run);
    let mut broken = vectors.clone();
    let end = broken.len();
    broken[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    place.write("result/embedding.npy", broken);
    place.fails("report result", 1, &["the vector of node \"fay\" is not finite", "column 15 is NaN"]);
    place.write("result/embedding.npy", &vectors[..end - 1]);
    place.fails("report result", 1, &["embedding.npy", "is truncated"]);
}

#[test]
fn threads_change_no_byte_and_seeds_do() {
    let place = finished();
    for (name, flags) in [("a", "--threads 1"), ("b", "--threads 3"), ("c", "--seed 5")] {
        place.done(&format!("report result -q {flags} -o {name}.html"));
    }
    assert!(place.read("a.html") == place.read("b.html") && place.read("a.html") != place.read("c.html"));
}
