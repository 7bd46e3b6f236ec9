"""Runs `manyview embed` on 1 to 4 ranks and compares it with one process; then invalid inputs, killed ranks, Ctrl-C.

    python3 crates/mpi/test_ranks.py path/to/manyview    (built with --features mpi; mpirun on the PATH)

Uses only Python's standard library. All ranks run on this machine, possibly more than it has cores.
"""
import array
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BINARY = None
# Distinguishes a job that ends from one that hangs, from what the program promises: a rank ends this long after Ctrl-C. A
# loaded machine may take much longer to run all ranks and mpirun.
INTERRUPT = pathlib.Path(__file__).resolve().parents[1] / "cli/src/interrupt.rs"
PATIENCE = int(re.search(r"PATIENCE: Duration = Duration::from_millis\((\d+)\)", INTERRUPT.read_text()).group(1)) / 1000
SECONDS = 75 * PATIENCE
# Settings, and how far vectors may differ. Ranks store whole matrices and one process halves of symmetric ones, so all sums are rounded
# differently, and extrapolation amplifies that; with the same matrices, only the sums over ranks are.
SETTINGS = {
    "default": ("", 2e-2),
    # Accelerated steps amplify roundings from stage to stage: narrow stages, in the order of the paper, keep them small.
    "default, whole matrices": ("--subtract plain --order consensus-first --layout even", 1e-3),
    "default, within views": ("--joint off --subtract plain", 1e-3),
    "pooled hals": ("--solver hals", 1e-3),
    "shared": ("--consensus shared --order consensus-first --layout even", 1e-3),
    "shared mu": ("--consensus shared --solver mu", 1e-3),
    "pooled mu": ("--solver mu --scale raw", 1e-3),
    "paper": ("--preset paper", 1e-3),
    "authors": ("--preset authors", 1e-3),
}
EXACT = "--dim 24 --stages 3 --negative 1 --max-iter 12 --unique-max-iter 12 --tol 0 --threads 1 -q"
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def mpirun(ranks):
    """The launcher. Open MPI needs an option to run more ranks than cores; MPICH does not have it."""
    version = subprocess.run(["mpirun", "--version"], stdout=subprocess.PIPE, text=True).stdout
    local = ["--oversubscribe", "--mca", "btl", "self,vader"] if "Open MPI" in version else []
    return ["mpirun", *local, "-n", str(ranks)]


def heed_ctrl_c():
    """A shell that starts these tests in the background ignores SIGINT, and all processes inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(ranks, line, folder, launcher=mpirun):
    return subprocess.Popen(
        [*(launcher(ranks) if ranks else []), BINARY, *line.split()], cwd=folder, env=ENVIRONMENT, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_ctrl_c)


def end(job, seconds):
    try:
        out, err = job.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        job.kill()
        raise AssertionError(f"still running after {seconds} s")
    return job.returncode, out, err


def run(ranks, line, folder, seconds=120):
    return end(start(ranks, line, folder), seconds)


def columns(path):
    """The columns of an array in NumPy's format, 32-bit floats in C order."""
    data = path.read_bytes()
    length = int.from_bytes(data[8:10], "little")
    shape = eval(data[10:10 + length])["shape"]
    values = array.array("f", data[10 + length:])
    return [values[column::shape[1]] for column in range(shape[1])]


def difference(xs, ys):
    """The relative difference of two vectors."""
    norm = sum(x * x for x in xs) ** 0.5
    return sum((x - y) ** 2 for x, y in zip(xs, ys)) ** 0.5 / norm if norm else max(map(abs, ys), default=0.0)


def ranks_of(job):
    """The processes of manyview started by a launcher, by rank."""
    found = {}
    for process in pathlib.Path("/proc").iterdir():
        try:
            variables = dict(
                entry.split("=", 1) for entry in (process / "environ").read_text().split("\0") if "=" in entry)
            parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
            name = os.readlink(process / "exe")
        except (OSError, ValueError, UnicodeDecodeError):
            continue
        rank = variables.get("OMPI_COMM_WORLD_RANK", variables.get("PMI_RANK"))
        if rank is not None and name == os.path.realpath(BINARY) and descends(parent, job.pid):
            found[int(rank)] = int(process.name)
    return found


def descends(process, ancestor):
    while process > 1:
        if process == ancestor:
            return True
        process = int(pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return False


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for name, nodes in (("net", 1500), ("large", 5000)):
            done, _, err = run(0, f"generate --nodes {nodes} --views 3 --skew 1 --seed 3 -q -o {name}", cls.folder)
            assert done == 0, err

    def result(self, ranks, settings, name):
        code, out, err = run(ranks, f"embed net {settings} -o {name}", self.folder)
        self.assertEqual(code, 0, err)
        folder = self.folder / name
        record = json.loads((folder / "run.json").read_text())
        self.assertEqual(len(record["rank_records"]), max(ranks, 1))
        return columns(folder / "embedding.npy"), record

    def assert_alike(self, one, many, weights=1e-4, vectors=1e-3):
        self.assertEqual(len(one[1]["stages"]), len(many[1]["stages"]))
        for a, b in zip(one[1]["stages"], many[1]["stages"]):
            self.assertEqual(a["columns"], b["columns"])
            for field in ("weights", "residual"):
                for view, value in a[field].items():
                    self.assertLess(abs(value - b[field][view]), weights, (field, view, a["stage"]))
        worst = max(difference(x, y) for x, y in zip(one[0], many[0]))
        self.assertLess(worst, vectors)

    def test_ranks_give_what_one_process_gives(self):
        for index, (name, (settings, vectors)) in enumerate(SETTINGS.items()):
            one = self.result(0, f"{EXACT} {settings}", f"one{index}")
            for ranks in (1, 2, 3, 4):
                with self.subTest(settings=name, ranks=ranks):
                    many = self.result(ranks, f"{EXACT} {settings}", f"many{index}-{ranks}")
                    self.assert_alike(one, many, vectors=vectors if ranks > 1 else 1e-3)

    def test_records_tell_what_each_rank_did(self):
        _, record = self.result(3, EXACT, "records")
        records = record["rank_records"]
        self.assertEqual([one["rank"] for one in records], [0, 1, 2])
        self.assertEqual(sum(one["rows"] for one in records), 1500)
        entries = [one["entries"] for one in records]
        factorized = [*record["network"]["views"], record["network"]["joint"]]
        self.assertEqual(sum(entries), sum(view["entries"] for view in factorized))
        self.assertLess(max(entries), 1.25 * sum(entries) / 3, entries)
        for one in records:
            self.assertGreater(one["peak_memory_bytes"], 1 << 20)
            self.assertEqual(set(one["seconds"]), {"read", "proximity", "pass", "communication", "write"})
            self.assertGreater(one["seconds"]["communication"], 0)
        self.assertEqual([one["seconds"]["write"] > 0 for one in records], [True, False, False])

    def test_only_rank_0_prints(self):
        code, out, err = run(3, f"embed net {EXACT.replace('-q', '')} -o prints", self.folder)
        self.assertEqual(code, 0, err)
        self.assertEqual(out.count("1,500 nodes x 24 columns to prints/embedding.npy"), 1, out)
        self.assertEqual(err.count("computing proximities"), 1, err)

    def fails(self, ranks, line, code, words):
        before = sorted(self.folder.rglob("*"))
        found, out, err = run(ranks, line, self.folder, SECONDS)
        self.assertEqual(found, code, err)
        self.assertEqual(err.count(words), 1, err)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_bad_inputs_end_the_job_with_one_sentence(self):
        (self.folder / "bad.tsv").write_text("a\tb\t1\nb\tc\tmuch\n")
        self.fails(3, "embed --view x=bad.tsv -o never", 1, "error: bad.tsv:2")
        self.fails(3, "embed nowhere -o never", 1, "no such file or folder")
        self.fails(3, "embed net --negative 100000 -o never", 1, "has an empty proximity matrix")
        self.fails(3, "embed net --dim 2 -o never", 2, "is too small for")
        self.fails(3, "embed net --no-such-flag -o never", 2, "unexpected argument")
        self.fails(2, "generate -o never", 2, "runs as one process")

    def test_only_rank_0_reads(self):
        # Folders that only rank 0 has, and standard input, which launchers give to rank 0.
        _, from_files = self.result(3, EXACT, "from-files")
        script = self.folder / "moved.sh"
        script.write_text(
            '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || cd away\n'
            f"exec {BINARY} embed net {EXACT} -o {self.folder}/elsewhere\n")
        script.chmod(0o755)
        (self.folder / "away").mkdir()
        job = subprocess.run(
            [*mpirun(3), str(script)], cwd=self.folder, env=ENVIRONMENT, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(job.returncode, 0, job.stderr)
        edges = "".join((self.folder / f"net/view{view}.tsv").read_text() for view in (1, 2, 3))
        job = subprocess.run(
            [*mpirun(3), BINARY, *f"embed --view all=- {EXACT} -o piped".split()], cwd=self.folder, env=ENVIRONMENT, text=True,
            timeout=SECONDS, input=edges, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(job.returncode, 0, job.stderr)
        network = {name: json.loads((self.folder / name / "run.json").read_text())["network"] for name in ("elsewhere", "piped")}
        self.assertEqual(network["elsewhere"]["fingerprint"], from_files["network"]["fingerprint"])
        self.assertEqual([view["name"] for view in network["piped"]["views"]], ["all"])

    def test_an_error_on_one_rank_ends_all(self):
        # Only rank 0 finds an existing result; only rank 1 has other settings, which do or do not work.
        (self.folder / "there").mkdir(exist_ok=True)
        (self.folder / "there" / "run.json").write_text("{}")
        self.fails(3, f"embed net {EXACT} -o there", 2, "--force")
        script = self.folder / "other.sh"
        script.write_text(
            f'#!/bin/sh\n[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 1 ] && exec {BINARY} embed net $1 -o never\n'
            f"exec {BINARY} embed net {EXACT} -o never\n")
        script.chmod(0o755)
        for options, words, code in (
            (EXACT.replace("--dim 24", "--dim 25"), "rank 1 has other settings than rank 0", 2),
            (f"{EXACT} --proximity exact --walks 3", "error on rank 1: ", 2)):
            job = subprocess.run(
                [*mpirun(3), str(script), options], cwd=self.folder, env=ENVIRONMENT, text=True, timeout=SECONDS,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(job.returncode, code, job.stderr)
            self.assertEqual(job.stderr.count(words), 1, job.stderr)
            self.vanishes("never")

    def vanishes(self, name):
        """Waits for the removal of a folder: mpirun may end before its ranks have cleaned up."""
        deadline = time.monotonic() + SECONDS
        while (self.folder / name).exists():
            self.assertLess(time.monotonic(), deadline, f"{name} was not removed")
            time.sleep(0.02)

    def endless(self, name):
        """A job that runs until it is stopped."""
        # Wide stages and the slow solver; others soon converge up to rounding and end.
        line = ("embed large --negative 1 --dim 360 --stages 6 --solver mu --unique-solver mu --max-iter 100000000 "
                "--unique-max-iter 3 --tol 0 --threads 1")
        return self.under_way(3, f"{line} --verbose --no-checkpoint -o {name}")

    def under_way(self, ranks, line):
        """A running job whose first stage is finished."""
        job = start(ranks, line, self.folder)
        for line in job.stderr:
            if line.startswith("stage 1"):
                return job
        self.fail("the job ended before its first stage")

    def test_a_killed_rank_ends_the_job(self):
        for rank in (1, 0):
            job = self.endless("killed")
            ranks = ranks_of(job)
            self.assertEqual(sorted(ranks), [0, 1, 2])
            os.kill(ranks[rank], signal.SIGKILL)
            code, _, err = end(job, SECONDS)
            self.assertNotEqual(code, 0)
            self.assertIn("signal 9", err)
            self.assertEqual(ranks_of(job), {})
            # A killed rank 0 cannot clean up.
            if rank == 1:
                self.vanishes("killed")

    def killed_when(self, line, name, rank, ready):
        """Kills a rank as soon as `ready` says so; returns whether it was still running, and the exit code."""
        # Its output goes to a file, so that waiting for it cannot block the job.
        with open(self.folder / f"{name}.txt", "w") as err:
            job = subprocess.Popen(
                [*mpirun(3), BINARY, *line.split(), "-o", name], cwd=self.folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=err)
        deadline = time.monotonic() + SECONDS
        # Found before, because that takes longer than the write.
        while (victim := ranks_of(job).get(rank)) is None and job.poll() is None:
            self.assertLess(time.monotonic(), deadline, "the job never started")
        while not ready(self.folder / name, (self.folder / f"{name}.txt").read_text()) and job.poll() is None:
            self.assertLess(time.monotonic(), deadline, "the job never got there")
            time.sleep(0.0005)
        running = job.poll() is None
        if running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        code = end(job, SECONDS)[0]
        self.assertEqual(ranks_of(job), {}, "no rank is left")
        return running, code

    def test_a_rank_killed_in_proximity_in_a_stage_or_in_the_write_leaves_no_half_result(self):
        # Not quiet: the lines tell where it is. The text formats make the write longer.
        line = f"embed large {EXACT.replace('-q', '-v')} --format tsv,csv,word2vec --keep-checkpoint"
        self.assertEqual(run(3, f"{line} -o undisturbed", self.folder)[0], 0)
        whole = (self.folder / "undisturbed/nodes.txt").read_bytes(), columns(self.folder / "undisturbed/embedding.npy")
        moments = {
            "proximity": lambda folder, err: "computing proximities" in err,
            "stage": lambda folder, err: "stage 1" in err,
            # After the last of its three stages.
            "write": lambda folder, err: (folder / "checkpoint/0003.stage").exists() and any(folder.glob(".manyview-*.tmp")),
        }
        for moment, ready in moments.items():
            for rank in (1, 0):
                with self.subTest(moment=moment, rank=rank):
                    name = f"{moment}-{rank}"
                    killed, code = self.killed_when(line, name, rank, ready)
                    complete = (self.folder / name / "run.json").exists()
                    # A rank that has nothing left to do when it is killed may leave a whole result.
                    self.assertTrue(complete or (killed and code != 0), code)
                    if not complete:
                        deadline = time.monotonic() + SECONDS
                        while (code := run(3, f"{line} --resume -o {name}", self.folder)[0]) == 1:
                            # mpirun may end before its ranks do, and rank 0 holds the folder.
                            self.assertLess(time.monotonic(), deadline)
                        self.assertEqual(code, 0)
                    found = (self.folder / name / "nodes.txt").read_bytes(), columns(self.folder / name / "embedding.npy")
                    self.assertEqual(found[0], whole[0])
                    worst = max(difference(x, y) for x, y in zip(whole[1], found[1]))
                    self.assertLess(worst, 1e-3)

    def test_a_second_job_into_the_same_folder_ends_on_all_ranks(self):
        job = self.endless("shared")
        try:
            self.fails(3, f"embed net {EXACT} -o shared --force", 1, "another run of manyview is writing to this folder")
            self.assertIsNone(job.poll(), "the first goes on")
        finally:
            job.terminate()
            end(job, SECONDS)
        self.vanishes("shared")

    def test_a_rank_that_is_stopped_for_a_while_changes_nothing(self):
        line = f"embed net {EXACT}"
        self.assertEqual(run(3, f"{line} -o steady", self.folder)[0], 0)
        job = start(3, f"{line} -o stopped", self.folder)
        deadline = time.monotonic() + SECONDS
        while len(ranks_of(job)) < 3 and job.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        stopped = ranks_of(job).get(1)
        self.assertIsNotNone(stopped, "the job ended before its ranks were found")
        os.kill(stopped, signal.SIGSTOP)
        time.sleep(1.5)
        self.assertIsNone(job.poll(), "the others waited")
        os.kill(stopped, signal.SIGCONT)
        code, _, err = end(job, SECONDS)
        self.assertEqual(code, 0, err)
        steady, late = (columns(self.folder / name / "embedding.npy") for name in ("steady", "stopped"))
        self.assertLess(max(difference(x, y) for x, y in zip(steady, late)), 1e-3)

    def test_a_killed_job_goes_on_with_any_number_of_ranks(self):
        settings = "embed large --negative 1 --dim 48 --stages 6 --solver hals --max-iter 15 --tol 0 --threads 1"
        self.assertEqual(run(0, f"{settings} -q -o whole", self.folder)[0], 0)
        whole = json.loads((self.folder / "whole/run.json").read_text())
        for ranks in (1, 2, 4):
            name = f"taken-up-{ranks}"
            job = self.under_way(3, f"{settings} --verbose -o {name}")
            os.kill(ranks_of(job)[1], signal.SIGKILL)
            self.assertNotEqual(end(job, SECONDS)[0], 0)
            self.assertTrue((self.folder / name / "checkpoint/0001.stage").exists())
            code, _, err = run(ranks, f"{settings} --resume -o {name}", self.folder)
            self.assertEqual(code, 0, err)
            self.assertIn("loaded ", err)
            self.assertFalse((self.folder / name / "checkpoint").exists())
            record = json.loads((self.folder / name / "run.json").read_text())
            self.assertEqual(record["ranks"], ranks)
            for ours, theirs in zip(record["stages"], whole["stages"]):
                for what in ("weights", "residual"):
                    for view, number in ours[what].items():
                        self.assertAlmostEqual(number, theirs[what][view], delta=1e-4)

    def test_ctrl_c_ends_the_job_without_traces(self):
        job = self.endless("interrupted")
        job.send_signal(signal.SIGINT)
        code, _, err = end(job, SECONDS)
        self.assertNotEqual(code, 0, err)
        self.vanishes("interrupted")

    def test_an_interrupted_rank_takes_the_others_along(self):
        job = self.endless("asked")
        os.kill(ranks_of(job)[2], signal.SIGINT)
        code, _, err = end(job, SECONDS)
        self.assertEqual(code, 130, err)
        self.assertEqual(err.count("interrupted: nothing was written"), 1, err)
        self.vanishes("asked")

    def test_without_mpirun_it_is_one_rank(self):
        _, record = self.result(0, EXACT, "alone")
        self.assertEqual(record["ranks"], 1)
        code, _, err = run(0, f"embed net --dim 2 -o never", self.folder, SECONDS)
        self.assertEqual(code, 2, err)

    @unittest.skipUnless(sys.platform == "linux", "reads /proc")
    def test_ranks_have_no_more_threads_than_asked_for(self):
        # Threads without a name are those of MPI, or of rayon's global pool, which would have this many.
        many = 40
        ENVIRONMENT["RAYON_NUM_THREADS"] = str(many)
        self.addCleanup(ENVIRONMENT.pop, "RAYON_NUM_THREADS")
        job = self.endless("threads")
        for rank in ranks_of(job).values():
            tasks = pathlib.Path(f"/proc/{rank}/task").iterdir()
            names = [(task / "comm").read_text().strip() for task in tasks]
            self.assertLess(names.count("manyview"), many, names)
            self.assertEqual([name for name in names if name.startswith("manyview-")], ["manyview-0"])
        job.send_signal(signal.SIGINT)
        end(job, SECONDS)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
