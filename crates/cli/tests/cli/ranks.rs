//! A build without MPI that a launcher starts several times.

use super::support::{Place, SMALL};

const LAUNCHERS: [[(&str, &str); 2]; 3] = [
    [("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_RANK", "0")],
    [("PMI_SIZE", "2"), ("PMI_RANK", "0")],
    [("SLURM_NTASKS", "2"), ("PMIX_RANK", "0")],
];

#[test]
fn several_processes_are_rejected() {
    let place = Place::with_views();
    for launcher in LAUNCHERS {
        for (line, words) in [
            (format!("embed calls.tsv mails.tsv {SMALL} -o result"), "rebuild with --features mpi"),
            ("demo".to_owned(), "rebuild with --features mpi"),
            ("generate -o result".to_owned(), "start it without mpirun"),
        ] {
            let output = place.command(&line).envs(launcher).output().unwrap();
            let err = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{err}");
            assert!(err.contains(words), "{err}");
            assert_eq!(place.names("."), ["calls.tsv", "mails.tsv"]);
        }
    }
}

/// The script of a Slurm job has SLURM_NTASKS in its environment, and mpirun -n 1 is one process too.
#[test]
fn one_process_under_a_launcher_works() {
    let place = Place::with_views();
    for (folder, variables) in [
        ("a", [("SLURM_NTASKS", "8"), ("SLURM_PROCID", "0")]),
        ("b", [("OMPI_COMM_WORLD_SIZE", "1"), ("OMPI_COMM_WORLD_RANK", "0")]),
    ] {
        let line = format!("embed calls.tsv mails.tsv {SMALL} -q -o {folder}");
        place.command(&line).envs(variables).assert().success();
        let record = place.json(&format!("{folder}/run.json"));
        assert_eq!(record["rank_records"].as_array().unwrap().len(), 1);
        assert_eq!(record["rank_records"][0]["rows"], 6);
        assert_eq!(record["rank_records"][0]["calls"].as_u64().map(|calls| calls > 0), Some(true));
    }
}
