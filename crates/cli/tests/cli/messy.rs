//! Files as people have them: what is understood, what is refused, and what the user is told.

use super::support::{CALLS, Place, SMALL};

/// Thirty calls in a ring, with columns in the order of `header`.
fn calls(header: &str, row: impl Fn(usize, &str, &str) -> String) -> String {
    let line = |at: usize| row(at, &format!("p{at}"), &format!("p{}", (at + 1) % 30)) + "\n";
    format!("{header}\n{}", (0..30).map(line).collect::<String>())
}

fn nodes(place: &Place, folder: &str) -> String {
    place.text(&format!("{folder}/nodes.txt")).lines().take(3).collect::<Vec<_>>().join(" ")
}

#[test]
fn row_numbers_and_dates_are_not_embedded() {
    let place = Place::new();
    let row = |at: usize, a: &str, b: &str| format!("{at},2024-01-{:02},{a},{b}", at % 28 + 1);
    place.write("calls.csv", calls("call_id,date,caller,callee", row));
    let run = place.done(&format!("embed calls.csv -o result {SMALL}"));
    let note = "calls.csv: comma-separated, header (caller, callee), no weights; columns \"call_id\", \"date\" are ignored";
    assert!(run.err.contains(note), "{}", run.err);
    assert_eq!(nodes(&place, "result"), "p0 p1 p2");
    let record = place.json("result/run.json");
    let noted = record["notes"][0].as_str().unwrap();
    assert_eq!(noted, note);
    assert_eq!(
        (record["skipped_lines"].as_u64(), record["warnings"].as_array().unwrap().len()),
        (Some(0), 0)
    );

    place.write("calls.csv", calls(",a,b", |at, a, b| format!("{at},{a},{b}")));
    let run = place.done(&format!("embed calls.csv -o pandas {SMALL}"));
    assert!(run.err.contains("header (a, b), no weights; column 1 (no name) is ignored\n"), "{}", run.err);
    assert_eq!(nodes(&place, "pandas"), "p0 p1 p2");

    place.write("calls.csv", calls("id,day,person,friend", row));
    let words = [
        "calls.csv:1: cannot tell which columns are the ends of an edge",
        "the columns are id, day, person, friend",
        "choose with --source COL and --target COL (and --weight COL, if there are weights)",
        "if this line is an edge, use --header no",
    ];
    place.fails("embed calls.csv -o none", 1, &words);
    place.done(&format!("embed calls.csv --source person --target friend -o named {SMALL}"));
    assert_eq!(place.read("named/embedding.npy"), place.read("pandas/embedding.npy"));
}

#[test]
fn a_header_that_may_have_been_read_as_an_edge_is_told() {
    let place = Place::new();
    place.write("calls.csv", calls("person,friend", |_, a, b| format!("{a},{b}")));
    let run = place.done(&format!("embed calls.csv -o result {SMALL}"));
    let words = "warning: calls.csv:1: the first line is read as an edge, but \"person\" and \"friend\" occur nowhere else; if it is a \
                 header, use --header yes";
    assert!(run.err.contains(words), "{}", run.err);
    assert!(place.json("result/run.json")["warnings"][0].as_str().unwrap().ends_with("use header = yes"));
    let run = place.done(&format!("embed calls.csv --header yes -o told {SMALL}"));
    assert!(!run.err.contains("warning"), "{}", run.err);
    assert_eq!(nodes(&place, "told"), "p0 p1 p2");
}

#[test]
fn columns_of_a_view_are_given_in_one_word() {
    let place = Place::new();
    place.write("calls.csv", calls("a,b,c,d", |at, a, b| format!("{at},{b},{a},{}", at % 3 + 1)));
    place.write("mails.csv", calls("x,y,z", |at, a, b| format!("{},{a},{b}", at % 2 + 1)));
    let words = "--view calls=calls.csv:c,b,d --view mails=mails.csv:2,z";
    let run = place.done(&format!("embed {words} -o result {SMALL}"));
    assert!(
        run.err.contains("calls.csv: comma-separated, header (c, b, d); column \"a\" is ignored"),
        "{}",
        run.err
    );
    assert!(
        run.err.contains("mails.csv: comma-separated, header (y, z), no weights; column \"x\" is ignored"),
        "{}",
        run.err
    );
    let manifest = "[[view]]\npath = \"calls.csv\"\nsource = \"c\"\ntarget = \"b\"\nweight = \"d\"\n\
                    [[view]]\npath = \"mails.csv\"\nsource = 2\ntarget = \"z\"\n";
    place.write("network.toml", manifest);
    let (vectors, ids) = place.embedded(&format!("network.toml {SMALL}"));
    assert!(vectors == place.read("result/embedding.npy") && ids == place.text("result/nodes.txt"));
    let stdin = format!("embed --view calls=-:c,b,d -o stdin --delimiter comma {SMALL}");
    assert_eq!(place.feed(&stdin, &place.text("calls.csv")).code, 0);

    place.fails(
        "embed --view calls=calls.csv:c -o none",
        2,
        &["expected two or three columns after calls.csv", "calls.csv:SOURCE"],
    );
    place.fails(
        "embed --view calls=calls.csv:c,e -o none",
        1,
        &["calls.csv:1: there is no column \"e\"; the columns are a, b, c, d"],
    );
    place.fails(
        "embed --view calls=none.csv:c,e -o none",
        1,
        &["none.csv: no such file or folder; check the path"],
    );
    // A file of that name comes first.
    place.write("calls.csv:c,b", CALLS.replace('\t', ","));
    place.done(&format!("embed --view calls=calls.csv:c,b --delimiter comma -o literal {SMALL}"));
    assert_eq!(nodes(&place, "literal"), "ann bob cat");
}

#[test]
fn views_that_were_meant_to_share_nodes_are_told() {
    let place = Place::new();
    place.write("calls.csv", calls("source,target", |at, _, _| format!("{at:05},{:05}", (at + 1) % 30)));
    place.write("mails.csv", calls("source,target", |at, _, _| format!("{at},{}", (at + 1) % 30)));
    let run = place.done(&format!("embed calls.csv mails.csv -o result {SMALL}"));
    let warnings = [
        "view calls: shares 0 of its 30 nodes (0 %) with view mails; check that all files use the same ids and that the columns are \
         the right ones",
        "30 ids of one view seem to be written differently in another, such as \"00000\" and \"0\"; write the same node in the same way",
    ];
    let record = place.json("result/run.json");
    for (at, warning) in warnings.into_iter().enumerate() {
        assert!(run.err.contains(&format!("warning: {warning}\n")), "{}", run.err);
        assert_eq!(record["warnings"][at], warning);
    }
}

#[test]
fn weights_that_are_dates_are_told() {
    let place = Place::new();
    place.write(
        "calls.csv",
        calls("source,target,day", |at, a, b| format!("{a},{b},{}", 20_240_101 + at % 28)),
    );
    let run = place.done(&format!("embed calls.csv --weight day -o result {SMALL}"));
    let words = "warning: view calls: the weights, from 20240101 to 20240128, look like dates; choose another column, or use --unweighted";
    assert!(run.err.contains(words), "{}", run.err);
    assert!(!place.done(&format!("embed calls.csv -o unweighted {SMALL}")).err.contains("warning"));
}

#[test]
fn decimal_commas_are_read_when_asked_for() {
    let place = Place::new();
    let file = |name: &str, weight: &str| {
        place.write(
            name,
            calls("source;target;weight", |at, a, b| {
                format!("{a};{b};{}", weight.replace('9', &at.to_string()))
            }),
        );
    };
    file("comma.csv", "1.009,5");
    place.fails(
        "embed comma.csv -o none",
        1,
        &["comma.csv:2: weight \"1.000,5\" is not a number: use --decimal comma for decimal commas"],
    );
    place.write("comma.csv", "source;target;weight\na;b;1.234,5\nb;c;0,5\nc;a;2\n");
    place.write("point.csv", "source;target;weight\na;b;1234.5\nb;c;0.5\nc;a;2\n");
    let run = place.done(&format!("embed comma.csv --decimal comma -o result {SMALL}"));
    assert!(
        run.err.contains("comma.csv: semicolon-separated, header (source, target, weight), decimal commas"),
        "{}",
        run.err
    );
    place.write("view/comma.csv", place.text("point.csv"));
    assert_eq!(place.embedded(&format!("view {SMALL}")).0, place.read("result/embedding.npy"));
    place.fails(
        "embed point.csv --decimal comma -o none",
        1,
        &["point.csv:2: weight \"1234.5\" has a decimal point; expected a comma"],
    );
    place.write("point.csv", "source;target;weight\na;b;1,234,567\n");
    place.fails(
        "embed point.csv -o none",
        1,
        &["weight \"1,234,567\" is not a number: remove the thousands separators"],
    );
}

#[test]
fn skipped_lines_are_counted() {
    let place = Place::new();
    place.write("calls.csv", "caller,callee,weight\na,b,1\nb,c,many\nc\nc,a,2\n,a,1\n");
    place.fails("embed calls.csv -o none", 1, &["calls.csv:3: weight \"many\" is not a number"]);
    let run = place.done(&format!("embed calls.csv --on-error skip -o result {SMALL}"));
    for words in [
        "calls.csv: comma-separated, header (caller, callee, weight); skipped 3 lines that cannot be read",
        "warning: 3 of 5 lines were skipped because they cannot be read; the first: calls.csv:3: weight \"many\" is not a number \
         (use --unweighted to ignore weights)",
        "3 nodes, 1 view: calls (2 edges)",
    ] {
        assert!(run.err.contains(words), "no {words:?} in\n{}", run.err);
    }
    let record = place.json("result/run.json");
    assert_eq!(record["skipped_lines"], 3);
    assert!(record["warnings"][0].as_str().unwrap().starts_with("3 of 5 lines were skipped"));
    assert!(record["notes"][0].as_str().unwrap().ends_with("skipped 3 lines that cannot be read"));
    place.write("calls.csv", "caller,callee,weight\na,b,x\n");
    place.fails(
        "embed calls.csv --on-error skip -o none",
        1,
        &["calls.csv: no edges: none of 1 lines can be read; the first: calls.csv:2: weight \"x\" is not a number"],
    );
}

#[test]
fn other_formats_are_named() {
    let place = Place::new();
    for (name, head, words) in [
        (
            "calls.parquet",
            &b"PAR1\x15\x04"[..],
            "calls.parquet: is a Parquet file; convert it: python -c \"import pandas as pd; \
             pd.read_parquet('calls.parquet').to_csv('calls.csv', index=False)\"",
        ),
        ("calls.json", b"[{\"from\": \"a\", \"to\": \"b\"}]", "calls.json: is JSON; convert it: python"),
        (
            "calls.db",
            b"SQLite format 3\0",
            "calls.db: is an SQLite database; convert it: sqlite3 -header -csv 'calls.db' 'select * from TABLE' > 'calls.csv'",
        ),
        (
            "calls.graphml",
            b"<?xml version=\"1.0\"?><graphml>",
            "calls.graphml: is GraphML; convert it: python",
        ),
        ("calls.pkl", b"\x80\x04\x95", "calls.pkl: is a pickle of Python"),
    ] {
        place.write(name, head);
        place.fails(&format!("embed {name} -o none"), 1, &[words]);
        place.write("packed.gz", zstd::encode_all(head, 3).unwrap());
        place.fails("embed packed.gz -o none", 1, &["packed.gz: is ", "convert it"]);
    }
}

#[test]
fn labels_are_taken_from_one_column_of_many() {
    let place = Place::new();
    place.write("calls.csv", calls("caller,callee", |_, a, b| format!("{a},{b}")));
    place.done(&format!("embed calls.csv -o result {SMALL}"));
    let person =
        |at: usize| format!("{at},p{at},{},{}\n", ["Rome", "Oslo", "Bonn"][at % 3], ["x", "y"][at / 15]);
    let people: String = (0..30).map(person).collect();
    place.write("people.csv", format!("nr,name,city,class\n{people}"));
    place
        .write("class.csv", (0..30).map(|at| format!("p{at},{}\n", ["x", "y"][at / 15])).collect::<String>());
    let scores =
        |labels: &str| place.done(&format!("evaluate classify result --repeats 2 --labels {labels}")).out;
    assert_eq!(scores("people.csv --label-column class"), scores("class.csv"));
    assert_eq!(scores("people.csv --label-column 4 --id-column name"), scores("class.csv"));
    let run = place.done("evaluate cluster result --labels people.csv --label-column city");
    assert!(run.err.contains("3 labels"), "{}", run.err);
    place.fails(
        "evaluate classify result --labels people.csv --label-column klass",
        1,
        &["people.csv:1: there is no column \"klass\"; the columns are nr, name, city, class"],
    );
    place.fails(
        "evaluate classify result --labels people.csv --label-column class --label-column city",
        2,
        &["--label-column can be given only once here; several columns are for manyview report"],
    );
    place.fails("evaluate classify result --labels people.csv --id-column name", 2, &["--label-column"]);
    place.fails(
        "evaluate classify result --labels people.csv --label-column class --id-column nr",
        1,
        &["people.csv: none of the 30 ids with labels is a node of the network"],
    );
    let run =
        place.done("report result --labels people.csv --label-column city --label-column class -o page.html");
    assert!(run.err.contains("the page shows 2 sets of labels; scores are those of city"), "{}", run.err);
}
