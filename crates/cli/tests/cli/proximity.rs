//! `manyview proximity`: files for SciPy.

use std::fs::File;
use std::io::Read;

use super::support::{Place, npy};

fn members(place: &Place, name: &str) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(File::open(place.path(name)).unwrap()).unwrap();
    let member = |at: usize| {
        let mut file = archive.by_index(at).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        (file.name().unwrap().into_owned(), bytes)
    };
    let mut members: Vec<_> = (0..5).map(member).collect();
    assert_eq!(archive.len(), 5);
    members.sort();
    members
}

fn integers(bytes: &[u8]) -> Vec<usize> {
    bytes.chunks_exact(4).map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap()) as usize).collect()
}

#[test]
fn each_view_becomes_a_sparse_matrix() {
    let place = Place::with_views();
    let run = place.done("proximity calls.tsv mails.tsv --negative 1 -o result");
    assert_eq!(place.names("result"), ["calls.npz", "mails.npz", "nodes.txt"]);
    assert_eq!(place.text("result/nodes.txt"), "ann\nbob\ncat\ndan\neve\nfay\n");
    for view in ["calls", "mails"] {
        let members = members(&place, &format!("result/{view}.npz"));
        let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["data.npy", "format.npy", "indices.npy", "indptr.npy", "shape.npy"]);
        let [data, format, indices, indptr, shape] = [0, 1, 2, 3, 4].map(|at| npy(&members[at].1));
        assert_eq!((format.1, &shape.1[..8]), (&b"csr"[..], &6i64.to_le_bytes()[..]));
        assert!(data.0.contains("'<f4'") && indices.0.contains("'<i4'") && indptr.0.contains("'<i4'"));
        let (indices, indptr) = (integers(indices.1), integers(indptr.1));
        assert_eq!((indptr.len(), indptr[0], indptr[6]), (7, 0, indices.len()));
        assert!(indptr.is_sorted() && indices.iter().all(|&col| col < 6));
        assert_eq!(data.1.len(), 4 * indices.len());
        let values = data.1.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
        assert!(values.clone().all(|value| value > 0.0 && value.is_finite()) && values.count() > 0);
        // An undirected view has a symmetric proximity.
        let has = |row: usize, col: usize| indices[indptr[row]..indptr[row + 1]].contains(&col);
        assert!((0..6).all(|row| (0..6).all(|col| has(row, col) == has(col, row))));
        let line = format!("result/{view}.npz: {} entries (", indices.len());
        assert!(run.out.contains(&line), "no {line:?} in\n{}", run.out);
    }
}

#[test]
fn threads_change_no_byte_and_settings_do() {
    let place = Place::with_views();
    place.done("proximity calls.tsv --negative 1 --threads 1 -o one");
    place.done("proximity calls.tsv --negative 1 --threads 3 -o three");
    place.done("proximity calls.tsv --negative 0.5 -o half");
    let [one, three, half] =
        ["one", "three", "half"].map(|name| members(&place, &format!("{name}/calls.npz")));
    assert!(one == three && one != half);
}

#[test]
fn earlier_files_are_kept_unless_forced() {
    let place = Place::with_views();
    place.done("proximity calls.tsv --negative 1 -o result");
    place.fails(
        "proximity calls.tsv --negative 1 -o result",
        2,
        &["result/nodes.txt already exists", "--force"],
    );
    std::fs::remove_file(place.path("result/nodes.txt")).unwrap();
    place.fails(
        "proximity calls.tsv --negative 1 -o result",
        2,
        &["result/calls.npz already exists", "--force"],
    );
    place.done("proximity calls.tsv --negative 1 -o result --force");
}

/// The folder was once left behind when the name of a view was invalid.
#[test]
fn names_that_no_file_can_have_leave_no_folder() {
    let place = Place::with_views();
    for name in ["a/b", "../x"] {
        let line = format!("proximity --view {name}=calls.tsv --negative 1 -o result");
        place.fails(&line, 2, &["is not a valid file name; rename the view"]);
    }
}

/// The same walks for any number of threads, and others for another seed.
#[test]
fn sampled_matrices_follow_from_the_seed() {
    let place = Place::new();
    place.done("generate --nodes 300 --views 2 -o net --quiet");
    let matrix = |options: &str| {
        place.done(&format!("proximity net -o near --force --quiet {options}"));
        std::fs::read(place.path("near/view1.npz")).unwrap()
    };
    let first = matrix("--walks 8 --threads 1");
    assert_eq!(matrix("--walks 8 --threads 3 --proximity sampled"), first);
    assert_ne!(matrix("--walks 8 --seed 1"), first);
    assert_ne!(matrix(""), first, "small networks are exact");
    let run = place.done("proximity net -o near --force --walks 8");
    assert!(run.out.contains("sampled by 8 walks from each node"), "{}", run.out);
}
