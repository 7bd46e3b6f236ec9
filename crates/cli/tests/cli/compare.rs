//! `manyview compare`.

use std::fs;

use super::support::{Place, npy};

fn planted() -> Place {
    let place = Place::new();
    place.done("generate --nodes 80 --views 2 --communities 3 -q -o net");
    place
}

const LINE: &str =
    "compare net --labels net/labels.tsv -o c --methods mnmf,netmf,netmf-sum --dim 16 --repeats 2 --c 1";

#[test]
fn tables_in_every_form() {
    let place = planted();
    let run = place.done(LINE);
    for words in [
        "netmf, best view *",
        "netmf, chosen view",
        "netmf-sum",
        "mnmf",
        "gain of mnmf",
        "NMI",
        "micro-F1 0.3",
    ] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    let record = place.json("c/compare.json");
    assert_eq!(record["methods"].as_array().unwrap().len(), 3);
    assert_eq!(record["methods"][0]["candidates"].as_array().unwrap().len(), 2);
    assert_eq!(record["tables"][0]["columns"][0], "micro-F1 0.3");
    assert!(place.text("c/compare.md").contains("| netmf, best view \\* |"));
    assert!(place.text("c/compare.tex").contains("netmf, best view$^*$ &"));
    let page = place.text("c/compare.html");
    assert_eq!(page.matches("\"places\":\"").count(), 3, "three maps");
    for job in ["netmf-view1", "netmf-view2", "netmf-sum", "mnmf"] {
        assert!(place.path(&format!("c/{job}/embedding.npy")).exists(), "{job}");
    }
}

#[test]
fn scores_are_those_of_evaluate() {
    let place = planted();
    place.done(LINE);
    place.done("embed net --dim 16 -o m -q");
    assert_eq!(place.read("m/embedding.npy"), place.read("c/mnmf/embedding.npy"));
    let run = place.done("evaluate classify m --labels net/labels.tsv --repeats 2 --json -q");
    let direct: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let line = &place.json("c/compare.json")["tables"][0]["lines"][3];
    assert_eq!(line["name"], "mnmf");
    assert_eq!(line["cells"][0]["mean"], direct["shares"][0]["micro_f1"]["mean"]);
    assert_eq!(line["cells"][5]["std"], direct["shares"][2]["macro_f1"]["std"]);
}

#[test]
fn what_is_done_is_not_done_again_and_what_changed_is() {
    let place = planted();
    place.done(LINE);
    let (kept, page) = (place.path("c/mnmf/embedding.npy"), place.text("c/compare.json"));
    let written = fs::metadata(&kept).unwrap().modified().unwrap();
    let again = place.done(LINE);
    assert_eq!(again.err.matches(": reused\n").count(), 4, "{}", again.err);
    assert!(place.text("c/compare.json") == page, "the same file");
    // Other measurements of the same vectors.
    let measured = place.done(&LINE.replace("--repeats 2", "--repeats 3"));
    assert_eq!(measured.err.matches(": embedding reused, measuring").count(), 4, "{}", measured.err);
    assert_eq!(fs::metadata(&kept).unwrap().modified().unwrap(), written);
    // A damaged file, and another network.
    fs::write(place.path("c/netmf-sum/made.json"), "{").unwrap();
    let mended = place.done(&LINE.replace("--repeats 2", "--repeats 3"));
    assert_eq!(mended.err.matches(": reused\n").count(), 3, "{}", mended.err);
    place.done("generate --nodes 80 --views 2 --communities 3 --seed 5 -q -o net --force");
    let words = "already exists and is not from a comparison of this network; pass --force to overwrite";
    place.fails(LINE, 2, &["c/netmf-view1", words]);
    let other = place.done(&format!("{LINE} --force"));
    assert!(!other.err.contains("reused"), "{}", other.err);
    assert_eq!(place.done(LINE).err.matches(": reused\n").count(), 4);
}

#[test]
fn a_method_that_fails_stops_no_other() {
    let place = Place::new();
    place.done("generate --nodes 60 --views 3 --communities 2 -q -o net");
    // Two columns cannot be shared out over three views.
    let line = "compare net --labels net/labels.tsv -o c --dim 2 --repeats 1 --c 1 --no-pictures --quiet";
    let run = place.done(&format!("{line} --methods netmf-concat,netmf-sum"));
    assert!(run.out.contains("failed: ") && run.out.contains("1 method failed"), "{}", run.out);
    let methods = place.json("c/compare.json")["methods"].clone();
    let of = |name: &str| {
        methods.as_array().unwrap().iter().find(|method| method["name"] == name).unwrap().clone()
    };
    assert_eq!(of("netmf-concat")["failures"].as_array().unwrap().len(), 1);
    assert_eq!(of("netmf-sum")["candidates"].as_array().unwrap().len(), 1);
}

#[test]
fn when_nothing_works_the_comparison_has_failed() {
    let place = Place::new();
    place.done("generate --nodes 60 --views 3 --communities 2 -q -o net");
    let line =
        "compare net --labels net/labels.tsv -o c --dim 2 --repeats 1 --c 1 --methods netmf-concat,mnmf";
    let run = place.run(line);
    run.failed(line, 1, &["every method failed", "see c/compare.json for the reasons"]);
    assert!(run.out.contains("failed: ") && !run.out.contains("gain of mnmf"), "{}", run.out);
    assert!(!run.out.contains("--stages") && !run.err.contains("--stages"), "an option of another command");
    assert!(!place.text("c/compare.md").contains("gain of mnmf"));
}

#[test]
fn marks_are_explained_where_they_are() {
    let place = planted();
    let run = place.done(LINE);
    let star = "selected on the test nodes";
    let over = "gain of mnmf: relative to the best row of another method";
    assert!(run.out.contains(&format!("* {star}")) && run.out.contains(over), "{}", run.out);
    for (file, mark) in [("c/compare.md", "\\* "), ("c/compare.tex", "$^*$ "), ("c/compare.html", "* ")] {
        let text = place.text(file);
        assert!(text.contains(&format!("{mark}{star}")) && text.contains(over), "{file}: {text}");
    }
    let page = place.text("c/compare.html");
    for row in page.lines().filter(|line| line.contains(" *</th>")) {
        assert!(!row.contains(" best\""), "{row}");
    }
    let plain = LINE.replace("mnmf,netmf,netmf-sum", "mnmf,netmf-sum");
    assert!(!place.done(&plain).out.contains(star));
    for file in ["c/compare.md", "c/compare.tex", "c/compare.html"] {
        let text = place.text(file);
        assert!(!text.contains(star) && text.contains(over), "{file}: {text}");
    }
    assert_eq!(place.json("c/compare.json")["methods"].as_array().unwrap().len(), 2, "what was asked for");
    assert!(place.path("c/netmf-view1/embedding.npy").exists(), "what was made stays");
}

#[test]
fn every_choice_is_recorded() {
    let place = planted();
    place.done(&LINE.replace("--repeats 2", "--repeats 3"));
    let tables = place.json("c/compare.json")["tables"].clone();
    for table in tables.as_array().unwrap() {
        let [best, chosen] = [&table["lines"][0], &table["lines"][1]];
        assert_eq!(
            (&best["name"], &chosen["name"]),
            (&"netmf, best view".into(), &"netmf, chosen view".into())
        );
        for column in 0..table["columns"].as_array().unwrap().len() {
            assert!(best["candidates"][column].as_str().unwrap().starts_with("view"), "{best}");
            let names = chosen["chosen"][column].as_array().unwrap();
            assert_eq!(names.len(), 3, "one for each repeat: {chosen}");
            let first = names[0].as_str().unwrap();
            assert!(chosen["candidates"][column].as_str().unwrap().starts_with(first), "{chosen}");
        }
    }
}

#[test]
fn labels_that_do_not_fit_are_told_and_recorded() {
    let place = planted();
    let labels = place.text("net/labels.tsv");
    let known: Vec<&str> = labels.lines().skip(4).collect();
    let rare = labels.lines().next().unwrap().split('\t').next().unwrap();
    place.write("labels.tsv", format!("{}\nnobody\t1\n{rare}\trare\n", known.join("\n")));
    let line =
        "compare net --labels labels.tsv -o c --methods netmf-sum --dim 8 --repeats 1 --c 1 --no-pictures";
    let run = place.done(line);
    let unlabeled = 80 - known.iter().filter(|line| line.starts_with('n')).count() - 1;
    for words in [
        format!("excluded {unlabeled} nodes without a label"),
        "labels.tsv: ignored 1 id that is not in the network".into(),
        "note: class \"rare\" has one node, which is always used for training".into(),
    ] {
        assert_eq!(run.err.matches(&words).count(), 1, "{words}: {}", run.err);
    }
    let record = place.json("c/compare.json");
    assert_eq!(record["unknown"], 1);
    assert!(record["notes"][0].as_str().unwrap().contains("rare"), "{record}");
    place.write("strangers.tsv", "x\t1\ny\t2\n");
    let strangers = line.replace("labels.tsv", "strangers.tsv");
    place.fails(&strangers, 1, &["is a node of the network"]);
}

#[test]
fn what_is_odd_about_vectors_is_told_with_their_scores() {
    let place = planted();
    let line =
        "compare net --labels net/labels.tsv -o c --methods netmf-sum --dim 8 --c 1 --no-pictures --repeats";
    place.done(&format!("{line} 1"));
    let mut equal = place.read("c/netmf-sum/embedding.npy");
    let numbers = equal.len() - npy(&equal).1.len();
    equal[numbers..].fill(0);
    place.write("c/netmf-sum/embedding.npy", equal);
    for _ in ["measured", "reused"] {
        let run = place.done(&format!("{line} 2"));
        assert_eq!(run.err.matches("  note: only 1 of 3 clusters have nodes").count(), 1, "{}", run.err);
    }
    let notes = place.json("c/compare.json")["methods"][0]["candidates"][0]["notes"].clone();
    assert!(notes[0].as_str().unwrap().starts_with("only 1 of 3 clusters"), "{notes}");
}

#[test]
fn what_others_made_is_not_replaced_unasked() {
    let place = planted();
    let line = "compare net --labels net/labels.tsv -o c --methods mnmf,netmf-sum --dim 16 --repeats 1 --c 1 --no-pictures";
    place.done("embed net --dim 8 --stages 2 -o c/mnmf -q");
    place.fails(line, 2, &["c/mnmf/embedding.npy already exists", "pass --force to overwrite"]);
    std::fs::remove_dir_all(place.path("c/mnmf")).unwrap();
    place.write("c/compare.md", "my own words");
    place.fails(line, 2, &["c/compare.md already exists", "pass --force to overwrite"]);
    assert_eq!(place.text("c/compare.md"), "my own words");
    place.done(&format!("{line} --force"));
    assert!(place.text("c/compare.md").contains("netmf-sum"));
    // Made by the same comparison; and what nobody replaces may lie there.
    place.write("c/notes.txt", "mine");
    assert_eq!(place.done(line).err.matches(": reused\n").count(), 2);
    // A record that does not name this network is somebody else's.
    place.write("c/compare.json", "{}");
    place.fails(line, 2, &["c/compare.json already exists", "pass --force to overwrite"]);
}

#[test]
fn a_lost_embedding_is_made_again_and_a_lost_map_costs_no_table() {
    let place = planted();
    let line = LINE.replace("mnmf,netmf,netmf-sum", "mnmf,netmf-sum");
    place.done(&line);
    let lost = place.read("c/mnmf/embedding.npy");
    fs::remove_file(place.path("c/mnmf/embedding.npy")).unwrap();
    fs::remove_file(place.path("c/mnmf/map.npy")).unwrap();
    let run = place.done(&line);
    assert_eq!(run.err.matches(": reused\n").count(), 1, "{}", run.err);
    assert!(place.read("c/mnmf/embedding.npy") == lost);
    // Scored before it was damaged.
    place.write("c/mnmf/embedding.npy", "no longer an array");
    fs::remove_file(place.path("c/mnmf/map.npy")).unwrap();
    let run = place.done(&line);
    assert!(run.err.contains("no map of mnmf: c/mnmf/embedding.npy"), "{}", run.err);
    assert_eq!(place.text("c/compare.html").matches("\"places\":\"").count(), 1);
}

#[test]
fn a_file_in_the_place_of_a_folder_gets_a_sentence() {
    let place = planted();
    place.write("c/mnmf", "");
    let line = "compare net --labels net/labels.tsv -o c --methods mnmf,netmf-sum --dim 16 --repeats 1 --c 1 --no-pictures";
    let run = place.done(line);
    assert!(run.out.contains("failed: c/mnmf: is a file where a folder is expected"), "{}", run.out);
}

#[test]
fn what_is_asked_for_twice_is_there_once() {
    let place = planted();
    place.done(
        "compare net --labels net/labels.tsv -o c --methods mnmf --dim 16 --repeats 1 --train 0.5,0.5 --c 1,1.0 \
         --sweep dim,dim --no-pictures",
    );
    let record = place.json("c/compare.json");
    assert_eq!(record["tables"].as_array().unwrap().len(), 2, "one C, and clusters");
    assert_eq!(record["tables"][0]["columns"].as_array().unwrap().len(), 2);
    assert_eq!(record["methods"].as_array().unwrap().len(), 1 + 5);
}

/// All kinds of rows: a view or a path to choose, an embedding for each repeat, and C chosen by validation.
#[test]
fn mve_metapaths_and_a_chosen_c_are_the_same_for_any_threads() {
    let place = Place::new();
    place.done("generate --nodes 24 --views 2 --communities 2 -q -o net");
    let tables = |threads: usize| {
        let folder = format!("c{threads}");
        place.done(&format!(
            "compare net --labels net/labels.tsv -o {folder} --methods mve,metapath2vec,netmf --dim 4 --repeats 2 \
             --train 0.5 --c 1,auto --no-pictures --threads {threads}"
        ));
        let text = place.text(&format!("{folder}/compare.md"));
        // All but the command and the running times.
        let scores = text.split("## Running time").next().unwrap();
        scores.split("```").nth(2).unwrap().to_owned()
    };
    let text = tables(1);
    assert_eq!(tables(3), text);
    for words in [
        "| mve, no labels |",
        "| mve |",
        "| metapath2vec, chosen path |",
        "C chosen by cross-validation",
        "NMI",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let record = place.json("c1/compare.json");
    let lines = record["tables"][0]["lines"].as_array().unwrap();
    assert!(lines.iter().all(|line| line["cells"][0]["mean"].is_number()), "{lines:?}");
    let methods = record["methods"].as_array().unwrap();
    let mve = methods.iter().find(|method| method["name"] == "mve").unwrap();
    assert_eq!(mve["candidates"].as_array().unwrap().len(), 2, "an embedding for each repeat");
    assert_eq!(mve["candidates"][0]["nmi"].as_array().unwrap().len(), 0, "it has seen labels");
    let runs = [0, 1].map(|repeat| place.read(&format!("c1/mve-repeat-{repeat}/embedding.npy")));
    assert!(runs[0] != runs[1], "each learned from its own training nodes");
}

/// Two tested nodes may swap their labels and MVE does not notice; two that train may not.
#[test]
fn mve_sees_labels_of_training_nodes_alone() {
    let place = Place::new();
    place.done("generate --nodes 24 --views 2 --communities 2 -q -o net");
    let labels = place.text("net/labels.tsv");
    let measure = "--train 0.5 --repeats 1 --c 1";
    let vectors = |file: &str, folder: &str| {
        let options = "--methods mve,netmf-sum --dim 4 --no-pictures -q";
        place.done(&format!("compare net --labels {file} -o {folder} {options} {measure}"));
        place.read(&format!("{folder}/mve-repeat-0/embedding.npy"))
    };
    let tested = |file: &str| -> Vec<String> {
        place.done(&format!("evaluate classify c/netmf-sum --labels {file} {measure} --predictions said -q"));
        let node = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["node"].to_string();
        place.text("said").lines().map(node).collect()
    };
    let first = vectors("net/labels.tsv", "c");
    let test = tested("net/labels.tsv");
    let pairs: Vec<(&str, &str)> = labels.lines().filter_map(|line| line.split_once('\t')).collect();
    for both_tested in [true, false] {
        let is = |node: &str| test.contains(&format!("{node:?}")) == both_tested;
        let able: Vec<_> = pairs.iter().filter(|pair| is(pair.0)).collect();
        // A swap may move the split, since classes are split one by one; most do not.
        let swapped = able.iter().flat_map(|a| able.iter().map(move |b| (a, b))).any(|(a, b)| {
            let of = |node: &str, own| match node {
                node if node == a.0 => b.1,
                node if node == b.0 => a.1,
                _ => own,
            };
            let line = |&(node, own): &(&str, _)| format!("{node}\t{}\n", of(node, own));
            place.write("swapped.tsv", pairs.iter().map(line).collect::<String>());
            a.1 != b.1 && tested("swapped.tsv") == test
        });
        assert!(swapped, "some swap leaves the split as it is");
        assert_eq!(vectors("swapped.tsv", &format!("c-{both_tested}")) == first, both_tested);
    }
}

#[test]
fn several_labels_have_both_rules_and_no_clusters() {
    let place = planted();
    let labels = place.text("net/labels.tsv");
    let second =
        |(at, line): (usize, &str)| if at % 4 == 0 { format!("{line}\tx\n") } else { format!("{line}\n") };
    place.write("labels.tsv", labels.lines().enumerate().map(second).collect::<String>());
    let options = "--repeats 2 --train 0.5";
    place.done(&format!(
        "compare net --labels labels.tsv -o c --methods mnmf,netmf-sum --dim 16 --c 1 --no-pictures {options}"
    ));
    let record = place.json("c/compare.json");
    let titles: Vec<&str> =
        record["tables"].as_array().unwrap().iter().map(|table| table["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Classification, C = 1", "Classification with known numbers of labels, C = 1"]);
    let run = place.done(&format!("evaluate classify c/mnmf --labels labels.tsv --json -q {options}"));
    let direct: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    for (table, of) in [(0, ""), (1, "known_")] {
        let line = record["tables"][table]["lines"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(line["name"], "mnmf");
        for (column, score) in [(0, "micro_f1"), (1, "macro_f1")] {
            assert_eq!(line["cells"][column]["mean"], direct["shares"][0][&format!("{of}{score}")]["mean"]);
        }
    }
}

#[test]
fn mnmf_without_its_parts_and_over_ranges() {
    let place = planted();
    let run = place.done(
        "compare net --labels net/labels.tsv -o c --methods mnmf --dim 16 --repeats 1 --c 1 --ablations --sweep stages,gamma",
    );
    for words in
        ["no consensus", "no unique", "one stage", "order swapped", "equal weights", "mnmf over gamma"]
    {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    let told = "note: mnmf over stages leaves out 16, 32: dim = 16 is too small";
    assert_eq!(run.err.matches(told).count(), 1, "{}", run.err);
    let page = place.text("c/compare.html");
    assert!(page.matches("class=\"line c0\"").count() >= 2, "a curve for each sweep");
}

/// Own values, running times, gains in points beside relative ones, and no row twice.
#[test]
fn own_values_times_and_gains_in_points() {
    let place = planted();
    let line = "compare net --labels net/labels.tsv -o c --methods mnmf,netmf --dim 16 --repeats 1 --c 1 --no-pictures \
                --preset paper --ablations --sweep dim=16,24,window=2";
    let run = place.done(line);
    for words in ["mnmf over dim", "mnmf over window", "Running time\n", "gain in points ", "gain of mnmf "] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    // The preset has shared stages, so they are not an ablation.
    assert!(
        !run.out.contains("shared, weighted") && run.out.contains("shared, equal weights"),
        "{}",
        run.out
    );
    let record = place.json("c/compare.json");
    let rows: Vec<&str> =
        record["methods"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(rows[rows.len() - 3..], ["16", "24", "2"]);
    let times = record["times"].as_array().unwrap();
    assert_eq!((times.len(), &times[0]["name"]), (rows.len(), &"netmf".into()));
    assert!(times[0]["candidates"].as_u64().unwrap() > 1, "one per view: {}", times[0]);
    assert!(times.iter().all(|row| row["seconds"].as_f64().unwrap() >= 0.0));
    let table = &record["tables"][0];
    let mean = |line: &serde_json::Value| line["cells"][0]["mean"].as_f64();
    let of = |name: &str| {
        let lines = table["lines"].as_array().unwrap();
        lines
            .iter()
            .find(|line| line["name"] == name && line["section"] != "ablations of mnmf")
            .and_then(mean)
            .unwrap()
    };
    let points = of("mnmf") - of("netmf, chosen view");
    assert!((table["gain_points"][0].as_f64().unwrap() - points).abs() < 1e-12, "{table}");
    for (file, words) in
        [("c/compare.md", "## Running time"), ("c/compare.tex", "\\caption{Running time: seconds")]
    {
        assert!(place.text(file).contains(words), "{file}");
    }
    // Another value later computes that one only.
    let again = place.done(&line.replace("dim=16,24", "dim=16,24,32"));
    for words in ["dim: 16 (9 of 12): reused\n", "dim: 32 (11 of 12)\n", "window: 2 (12 of 12): reused\n"] {
        assert!(again.err.contains(words), "{words}: {}", again.err);
    }
}

#[test]
fn bad_input_gets_a_sentence() {
    let place = planted();
    place.write("one.tsv", (0..80).map(|node| format!("n{node}\tx\n")).collect::<String>());
    for (line, code, words) in [
        ("compare net --labels nothing.tsv -o c", 1, "no such file"),
        ("compare net --labels net/labels.tsv -o c --repeats 0", 2, "--repeats 0 must be at least 1"),
        ("compare net --labels net/labels.tsv -o c --train 2", 2, "--train 2 must be a fraction"),
        ("compare net --labels net/labels.tsv -o c --dim 0", 2, "--dim 0: expected a whole number"),
        ("compare net --labels net/labels.tsv -o c --methods x", 2, "possible values"),
        ("compare net --labels net/labels.tsv -o c --c 0", 2, "must be a number greater than 0, or auto"),
        ("compare net --labels one.tsv -o c --methods netmf-sum", 1, "at least two classes"),
        ("compare net --labels net/labels.tsv", 2, "--output"),
        (
            "compare net --labels net/labels.tsv -o c --sweep color",
            2,
            "--sweep color: there is no such setting to vary; use dim,",
        ),
        (
            "compare net --labels net/labels.tsv -o c --sweep dim=0,16",
            2,
            "--sweep dim=0: expected a whole number",
        ),
    ] {
        place.fails(line, code, &[words]);
        assert!(!place.path("c/compare.json").exists(), "{line}");
    }
}
