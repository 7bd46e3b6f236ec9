"""Starts runs of the program, disturbs them, and checks what they leave."""

import array
import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

#: Tells a run that ends from one that hangs, in seconds; a loaded machine may be slow.
PATIENCE = 120
EMBED = "--dim 32 --stages 4 --threads 2 --keep-checkpoint"
COMPARE = "compare net --labels net/labels.tsv --methods mnmf,netmf --dim 16 --repeats 1 --c 1 --train 0.5 --no-pictures"


class Failure(Exception):
    """A promise was broken."""


class Skipped(Exception):
    """The fault cannot be produced here."""


class Harness:
    def __init__(self, binary, folder, seed, long):
        self.binary, self.folder, self.long = str(pathlib.Path(binary).resolve()), pathlib.Path(folder), long
        self.random = random.Random(seed)
        self.passed, self.failed, self.skipped = {}, [], {}
        self.run("generate --nodes 600 --views 3 --seed 7 -q -o net")
        began = time.monotonic()
        self.run(f"embed net -o expected {EMBED}")
        self.seconds = time.monotonic() - began
        self.expected = self.bytes_of("expected")

    # Cases.

    @contextlib.contextmanager
    def case(self, fault, words):
        """One disturbed run. It is counted, and a failure does not stop the others."""
        try:
            yield
        except Failure as failure:
            self.failed.append(f"{fault}: {words}: {failure}")
            print(f"FAILED {self.failed[-1]}", flush=True)
        else:
            self.passed[fault] = self.passed.get(fault, 0) + 1

    def skip(self, fault, why):
        self.skipped[fault] = str(why)

    def report(self):
        for fault, count in self.passed.items():
            print(f"{count:5}  {fault}")
        for fault, why in self.skipped.items():
            print(f"skipped  {fault}: {why}")
        print(f"{sum(self.passed.values())} passed, {len(self.failed)} failed, {len(self.skipped)} skipped")
        return 1 if self.failed else 0

    # Runs.

    def start(self, line, prepare=None, **how):
        def before():
            # A shell that runs this in the background ignores SIGINT, and children inherit that.
            for number in (signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            if prepare:
                prepare()

        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
        return subprocess.Popen([self.binary, *line.split()], cwd=self.folder, preexec_fn=before, **streams)

    def end(self, process, patience=PATIENCE):
        """The exit code and standard error of a run, which must end."""
        try:
            _, err = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failure(f"still running after {patience} s") from None
        err = (err or b"").decode(errors="replace")
        if "panicked" in err or "report this" in err:
            raise Failure(err)
        return process.returncode, err

    def run(self, line):
        """An undisturbed run, which must succeed."""
        code, err = self.end(self.start(line))
        if code:
            raise Failure(f"{line}: exit code {code}: {err}")

    # Promises.

    def bytes_of(self, name):
        files = [self.folder / name / file for file in ("embedding.npy", "nodes.txt", "run.json")]
        return [file.read_bytes() for file in files[:2]] if all(file.is_file() for file in files) else None

    def check(self, name, code, err, told=True):
        """A result is whole or absent; exit code 0 has one, and another code has a sentence."""
        found = self.bytes_of(name)
        if found is not None and found != self.expected:
            raise Failure(f"exit code {code}, and the result differs from an undisturbed one")
        if code == 0 and found is None:
            raise Failure(f"exit code 0 without a result: {err}")
        self.check_words(code, err, told)

    def check_words(self, code, err, told=True):
        if code < 0:
            raise Failure(f"ended by signal {-code}: {err}")
        if code not in (0, 1, 2, 130):
            raise Failure(f"exit code {code}: {err}")
        if code and told and not any(line.startswith(("error", "interrupted")) for line in err.splitlines()):
            raise Failure(f"exit code {code} without a sentence: {err!r}")

    def complete(self, name):
        """What was disturbed can be finished, with the same bytes, and only files of the program are left."""
        if self.bytes_of(name) is None:
            code, err = self.end(self.start(f"embed net -o {name} {EMBED} --resume"))
            # A process that is killed between two renames leaves some of the files.
            if code == 2 and "already exists" in err:
                code, err = self.end(self.start(f"embed net -o {name} {EMBED} --force"))
            if code:
                raise Failure(f"cannot be finished: exit code {code}: {err}")
            left = sorted(path.name for path in (self.folder / name).iterdir())
            if left != ["checkpoint", "embedding.npy", "nodes.txt", "run.json"]:
                raise Failure(f"the finished folder has {left}")
        if self.bytes_of(name) != self.expected:
            raise Failure("the finished result differs from an undisturbed one")

    def clear(self, *names):
        for name in names:
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def finite(self, name):
        """All numbers of a result are finite."""
        data = (self.folder / name / "embedding.npy").read_bytes()
        values = array.array("f", data[10 + int.from_bytes(data[8:10], "little") :])
        if sys.byteorder == "big":
            values.byteswap()
        if any(value - value != 0 for value in values):
            raise Failure("the result has numbers that are not finite")

    # Disks.

    @contextlib.contextmanager
    def mounted(self, name, size):
        """A small disk."""
        disk = self.folder / name
        disk.mkdir(exist_ok=True)
        if os.name != "posix" or os.geteuid() != 0:
            raise Skipped("only root can mount a small disk")
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Skipped(f"a small disk cannot be mounted: {done.stderr.strip()}")
        try:
            yield disk
        finally:
            subprocess.run(["umount", str(disk)], check=True)


def size_of(folder):
    """The bytes that the files of a folder occupy, in pages."""
    return sum(-(-path.stat().st_size // 4096) * 4096 for path in folder.rglob("*") if path.is_file())
