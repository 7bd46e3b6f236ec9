use super::*;
use std::panic::{self, AssertUnwindSafe};

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn disk_full(writer: &mut BufWriter<File>) -> io::Result<()> {
    // More than the buffer, so that data reaches the file.
    writer.write_all(&vec![1; 2 * BUFFER])?;
    Err(io::ErrorKind::StorageFull.into())
}

#[test]
fn a_file_is_written_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    for text in ["first, and longer", "second"] {
        write_atomic(&path, |writer| writer.write_all(text.as_bytes())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    assert_eq!(files(folder.path()), ["a.txt"]);
}

#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    fs::write(&path, "old").unwrap();
    let error = write_atomic(&path, disk_full).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("a.txt: no space left on the disk; free some space or choose another location")
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(files(folder.path()), ["a.txt"]);
}

#[test]
fn a_panic_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    let result = panic::catch_unwind(AssertUnwindSafe(|| {
        write_atomic(&path, |writer| {
            writer.write_all(b"half").unwrap();
            panic!("in the middle of a test")
        })
    }));
    assert!(result.is_err());
    assert!(files(folder.path()).is_empty());
}

#[test]
fn a_long_name_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x".repeat(255));
    write_atomic(&path, |writer| writer.write_all(b"1")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"1");
}

#[test]
fn a_missing_folder_is_named_with_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let error = write_atomic(&folder.path().join("no/a.txt"), |_| Ok(())).unwrap_err();
    assert!(error.to_string().ends_with("no/a.txt: no such file or folder; check the path"), "{error}");
}

#[test]
fn threads_writing_the_same_file_do_not_meet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    std::thread::scope(|scope| {
        for digit in 0..8u8 {
            let path = &path;
            scope.spawn(move || write_atomic(path, |writer| writer.write_all(&[digit; 1000])).unwrap());
        }
    });
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes, vec![bytes[0]; 1000]);
    assert_eq!(files(folder.path()), ["a.txt"]);
}

#[cfg(unix)]
#[test]
fn links_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    write_atomic(&link, |writer| writer.write_all(b"new")).unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

/// Written through a link, so that a bug would replace the link and not the device of the machine.
#[cfg(target_os = "linux")]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("full");
    std::os::unix::fs::symlink("/dev/full", &link).unwrap();
    let error = write_atomic(&link, |writer| writer.write_all(b"1")).unwrap_err();
    assert!(error.to_string().contains("no space left on the disk"), "{error}");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(files(folder.path()), ["full"]);
}

#[test]
fn only_our_own_temporary_files_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let theirs = [
        "a.tmp",
        ".manyview-.tmp",
        ".manyview-1.tmp",
        ".manyview-1-x.tmp",
        ".manyview-01-0.tmp",
        "manyview-1-0.tmp",
        ".manyview-1-0.tmp.bak",
        ".manyview-1-0-0.tmp",
        ".manyview-+1-0.tmp",
    ]; // fmt: skip
    for name in theirs.iter().chain(&[".manyview-1-0.tmp", ".manyview-4294967295-17.tmp"]) {
        fs::write(folder.path().join(name), "").unwrap();
    }
    fs::create_dir(folder.path().join(".manyview-2-0.tmp")).unwrap();
    let (used, _) = Temporary::create(folder.path()).unwrap();
    let name = used.path.file_name().unwrap().to_string_lossy().into_owned();
    remove_left_behind(folder.path());
    let mut expected: Vec<String> = theirs.iter().map(ToString::to_string).collect();
    expected.extend([".manyview-2-0.tmp".to_owned(), name]);
    expected.sort();
    assert_eq!(files(folder.path()), expected);
}

#[cfg(unix)]
#[test]
fn a_link_with_our_name_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("precious"), "1").unwrap();
    std::os::unix::fs::symlink("precious", folder.path().join(".manyview-1-0.tmp")).unwrap();
    remove_left_behind(folder.path());
    assert_eq!(files(folder.path()), [".manyview-1-0.tmp", "precious"]);
}

#[test]
fn a_group_appears_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/out");
    let mut output = OutputFolder::prepare(&path, &["a", "b"], false).unwrap();
    assert_eq!(files(&path), [".manyview.lock"], "the check leaves no file but the lock");
    output.write("a", |writer| writer.write_all(b"1")).unwrap();
    output.write("b", |writer| writer.write_all(b"2")).unwrap();
    assert!(files(&path).iter().all(|name| name.starts_with('.')), "no file is visible before the commit");
    output.commit().unwrap();
    assert_eq!(files(&path), ["a", "b"]);
}

/// Defect 6: both succeeded, and one result was lost.
#[test]
fn two_runs_cannot_write_to_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = OutputFolder::prepare(folder.path(), &["a"], true).unwrap();
    let before = files(folder.path());
    let error = OutputFolder::prepare(folder.path(), &["a"], true).unwrap_err();
    assert!(error.to_string().contains("another run of manyview is writing to this folder"), "{error}");
    assert_eq!(files(folder.path()), before);
    first.write("a", |writer| writer.write_all(b"1")).unwrap();
    first.publish().unwrap();
    assert!(OutputFolder::prepare(folder.path(), &["a"], true).is_err(), "locked until the end");
    // A single file beside them is another matter.
    OutputFolder::prepare_file(folder.path(), "b", false).unwrap().commit().unwrap();
    let traces = first.traces();
    drop(first);
    let second = OutputFolder::prepare(folder.path(), &["a"], true).unwrap();
    traces.remove();
    assert!(
        OutputFolder::prepare(folder.path(), &["a"], true).is_err(),
        "the lock of another run is not removed"
    );
    drop(second);
    assert_eq!(files(folder.path()), ["a"]);
}

/// What a killed process left between two of the renames asked for `--force`.
#[test]
fn an_unfinished_folder_is_completed_by_the_same_files_only() {
    let folder = tempfile::tempdir().unwrap();
    let (names, at) = (["a", "b", "seal"], |name: &str| folder.path().join(name));
    let finish = |content: &[u8]| {
        let mut output = OutputFolder::prepare_unfinished(folder.path(), &names, "seal")?;
        for name in ["seal", "a", "b"] {
            output.write(name, |writer| writer.write_all(content))?;
        }
        output.commit()
    };
    let content = vec![7; 2 * BUFFER + 1];
    fs::write(at("a"), &content).unwrap();
    let mut other = content.clone();
    *other.last_mut().unwrap() = 8;
    for other in [&other[..], &content[1..], b""] {
        let error = finish(other).unwrap_err().to_string();
        let words = "a already exists and is not of the run that is resumed; pass force to overwrite it, or choose another folder";
        assert!(error.ends_with(words), "{error}");
        assert_eq!(files(folder.path()), ["a"]);
    }
    finish(&content).unwrap();
    assert_eq!(files(folder.path()), names);
    assert!(names.iter().all(|name| fs::read(at(name)).unwrap() == content));
    let error = finish(&content).unwrap_err().to_string();
    assert!(error.contains("seal already exists; pass force"), "finished: {error}");
}

/// A process that was killed between two of the renames left files of two runs, which looked like one result.
#[test]
fn the_seal_of_earlier_files_is_removed_first_and_comes_last() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "seal"] {
        fs::write(folder.path().join(name), "old").unwrap();
    }
    let prepare =
        || OutputFolder::prepare(folder.path(), &["a", "b", "seal"], true).unwrap().sealed_by("seal");
    let mut output = prepare();
    for name in ["seal", "a", "b"] {
        output.write(name, |writer| writer.write_all(b"new")).unwrap();
    }
    // Nothing has happened yet.
    assert_eq!(fs::read(folder.path().join("seal")).unwrap(), b"old");
    // As if killed before the second rename.
    fs::remove_file(&output.staged[2].temporary.as_ref().unwrap().path).unwrap();
    assert!(output.publish().is_err());
    drop(output);
    assert_eq!(files(folder.path()), ["a", "b"], "no seal");
    assert_eq!(["a", "b"].map(|name| fs::read_to_string(folder.path().join(name)).unwrap()), ["new", "old"]);
    let mut output = prepare();
    for name in ["seal", "a", "b"] {
        output.write(name, |writer| writer.write_all(b"newer")).unwrap();
    }
    output.commit().unwrap();
    assert_eq!(files(folder.path()), ["a", "b", "seal"]);
    assert_eq!(fs::read(folder.path().join("seal")).unwrap(), b"newer");
}

/// Without a lock, as for a single file.
#[test]
fn a_file_that_appears_meanwhile_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let [mut first, mut second] =
        [(), ()].map(|()| OutputFolder::prepare_file(folder.path(), "a", false).unwrap());
    first.write("a", |writer| writer.write_all(b"1")).unwrap();
    second.write("a", |writer| writer.write_all(b"2")).unwrap();
    first.commit().unwrap();
    assert!(matches!(second.commit(), Err(Error::Config(_))));
    assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "1");
    assert_eq!(files(folder.path()), ["a"]);
}

#[test]
fn a_disk_full_at_the_third_file_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut output = OutputFolder::prepare(folder.path(), &["a", "b", "c"], false).unwrap();
    output.write("a", |writer| writer.write_all(b"1")).unwrap();
    output.write("b", |writer| writer.write_all(b"2")).unwrap();
    assert!(matches!(output.write("c", disk_full), Err(Error::Io { path, .. }) if path.ends_with("c")));
    drop(output);
    assert!(files(folder.path()).is_empty());
}

#[test]
fn existing_results_are_refused_unless_forced() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("b"), "precious").unwrap();
    let error = OutputFolder::prepare(folder.path(), &["a", "b"], false).unwrap_err();
    assert!(
        error.to_string().ends_with("b already exists; pass force to overwrite it, or choose another folder")
    );
    assert!(OutputFolder::prepare(folder.path(), &["a", "c"], false).is_ok());
    let mut output = OutputFolder::prepare(folder.path(), &["a", "b"], true).unwrap();
    output.write("b", |writer| writer.write_all(b"new")).unwrap();
    output.commit().unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("b")).unwrap(), "new");
}

#[test]
fn places_that_cannot_work_are_refused_before_the_computation() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    fs::create_dir(folder.path().join("taken")).unwrap();
    let prepare = |path: &str, name: &str| {
        OutputFolder::prepare(&folder.path().join(path), &[name], true).unwrap_err().to_string()
    };
    assert!(prepare("file", "a").ends_with("file: is a file where a folder is expected"));
    assert!(prepare("file/deeper", "a").contains("file"));
    assert!(prepare("", "taken").ends_with("taken: is a folder where a file is expected"));
    assert!(prepare("", "a/b").contains("\"a/b\" is not a valid file name"));
    assert!(prepare("", "..").contains("is not a valid file name"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_without_room_for_files_is_refused() {
    // Not even root can create files in /proc.
    let error = OutputFolder::prepare(Path::new("/proc/self"), &["a"], false).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}
