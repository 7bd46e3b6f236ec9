//! Weights and sizes at the limits, as the fault campaign found them: each run ends with finite numbers or a sentence.

use std::fmt::Write;
use std::io::Read;
use std::time::{Duration, Instant};

use super::support::{Place, npy};

/// Edges between nine nodes; the weight follows from the number of the edge.
fn edges(weight: impl Fn(usize) -> f64) -> String {
    let line =
        |edge: usize| format!("n{}\tn{}\t{:e}\n", edge % 9, (edge % 9 + 1 + edge / 9) % 9, weight(edge));
    (0..14).map(line).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let (header, numbers) = npy(bytes);
    assert!(header.contains("<f4"), "{header}");
    numbers.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

/// Defect 1: the panic of this run hung the process for ever.
#[test]
fn the_panic_that_hung_is_gone() {
    let place = Place::new();
    place.write("calls.tsv", edges(|_| 3e307));
    let began = Instant::now();
    place.done("embed calls.tsv --method netmf --dim 4 -q -o result");
    assert!(began.elapsed() < Duration::from_secs(20));
}

/// Defect 2, on the command line.
#[test]
fn extreme_weights_give_finite_files() {
    let place = Place::new();
    type Weight = fn(usize) -> f64;
    let cases: [(&str, Weight); 4] = [
        ("", |_| 3e307),
        ("", |edge| if edge == 0 { 1e39 } else { 1.0 }),
        ("", |edge| if edge % 2 == 0 { 1e150 } else { 1e-150 }),
        ("--negative 1e-39", |edge| 1.0 + edge as f64),
    ];
    for (at, (options, weight)) in cases.into_iter().enumerate() {
        place.write("calls.tsv", edges(weight));
        let (vectors, _) = place.embedded(&format!("calls.tsv --dim 8 --stages 2 {options}"));
        assert!(floats(&vectors).iter().all(|x| x.is_finite()), "{at}");
        assert!(floats(&vectors).iter().any(|&x| x != 0.0), "{at}");
        place.done(&format!("proximity calls.tsv --window 1 {options} -q --force -o near"));
        let file = place.names("near").into_iter().find(|name| name.ends_with(".npz")).unwrap();
        let mut archive =
            zip::ZipArchive::new(std::io::Cursor::new(place.read(&format!("near/{file}")))).unwrap();
        let mut bytes = Vec::new();
        archive.by_name("data.npy").unwrap().read_to_end(&mut bytes).unwrap();
        assert!(floats(&bytes).iter().all(|x| x.is_finite() && *x > 0.0), "{at}");
        assert!(!floats(&bytes).is_empty(), "{at}");
    }
}

#[test]
fn weights_that_differ_too_much_are_refused() {
    let place = Place::new();
    place.write("calls.tsv", edges(|edge| if edge == 3 { 1e-200 } else { 1e200 }));
    let words =
        ["view \"calls\"", "smallest weight is 1e-200", "largest 1e200", "at most 1e300 times", "remove"];
    place.fails("embed calls.tsv --dim 8 -o result", 1, &words);
}

/// Defect 3: the estimate forgot what is quadratic in the number of columns.
#[test]
fn gram_matrices_are_part_of_the_estimate() {
    let place = Place::new();
    place.write("calls.tsv", "a\tb\nb\tc\nc\td\n");
    place.fails(
        "embed calls.tsv --negative 1 --dim 60000 --stages 1 --max-memory 4G -o result",
        1,
        &["of memory", "--max-memory", "use --dim"],
    );
    place.fails(
        "embed calls.tsv --negative 1 --dim 1000000 --stages 1 -o result",
        1,
        &["of memory", "--dim"],
    );
}

/// Defect 3: a file of the same line grew without end.
#[test]
fn repeated_edges_are_merged_while_they_are_read() {
    let place = Place::new();
    let lines = "a\tb\t1\nb\tc\t0.1\nc\ta\t3\nc\td\t1\n".repeat(1 << 20);
    place.write("calls.tsv.zst", zstd::encode_all(lines.as_bytes(), 1).unwrap());
    place.done("embed calls.tsv.zst --negative 1 --dim 4 --stages 1 --max-memory 64M -o result");
    let run = place.json("result/run.json");
    let peak = run["memory"]["phases"]["read"].as_u64();
    // Four million edges would take 64 MB and more.
    assert!(peak.is_none_or(|peak| peak < 64_000_000), "{peak:?}");
}

#[test]
fn reading_beyond_the_limit_is_refused_with_file_and_line() {
    let place = Place::new();
    let mut lines = String::new();
    for edge in 0..1_500_000u32 {
        writeln!(lines, "{}\t{}", edge % 1999, edge % 1_000_003 + 2000).unwrap();
    }
    place.write("calls.tsv.zst", zstd::encode_all(lines.as_bytes(), 1).unwrap());
    let words = ["calls.tsv.zst:", "reading up to here needs", "--max-memory allows"];
    place.fails("embed calls.tsv.zst --dim 4 --max-memory 50M -q -o result", 1, &words);
}

/// Defect 3: `ulimit -v` is a limit like any other.
#[cfg(target_os = "linux")]
#[test]
fn the_limit_of_addresses_is_respected() {
    let place = Place::new();
    place.write("calls.tsv", "a\tb\nb\tc\nc\td\n");
    let program = assert_cmd::cargo::cargo_bin("manyview");
    let line = "embed calls.tsv --negative 1 --dim 9000 --stages 1 --threads 1 -o result";
    let output = std::process::Command::new("sh")
        .args(["-c", &format!("ulimit -v 1000000 && exec {} {line}", program.display())])
        .current_dir(place.path("."))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("of memory, which exceeds the") && text.contains("available"), "{text}");
}
