"""Disturbs runs of the program in every way that a machine may, and checks that nothing is lost, wrong or hung.

    python3 tests/faults/campaign.py BINARY [--long] [--kills N] [--seed S] [--only NAME]

After every fault one of two things is true. Exit code 0: the result is there and has the bytes of an undisturbed run.
Another exit code: the program said why in a sentence that is no panic, and the folder has either no result or a whole one;
the same command with --resume then gives the bytes of an undisturbed run. No process runs beyond its time limit.

Faults that need rights which this user does not have (mounting a small disk, a memory group) are skipped and named at the
end, before the line "N passed, N failed, N skipped". Uses only Python's standard library. --long repeats the random faults
and adds the largest networks; ./test.sh runs the short form, which takes less than a minute.
"""

import argparse
import contextlib
import gzip
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from harness import COMPARE, EMBED, Failure, Harness, Skipped, size_of
from large import killed_large, max_memory
from sizes import extreme_sizes

SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT]

#: A clock that jumps back by an hour whenever it is read. The monotonic clock is left alone: the system promises it.
CLOCK = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *t) {
  static int (*real)(clockid_t, struct timespec *);
  static long back;
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int code = real(id, t);
  if (id == CLOCK_REALTIME) { back += 3600; t->tv_sec = t->tv_sec > back ? t->tv_sec - back : 0; }
  return code;
}
"""


def signals(faults, kills):
    """Signals at random moments of a run, which is then finished."""
    for kill in range(kills):
        number = SIGNALS[kill % len(SIGNALS)]
        moment = faults.random.uniform(0, 1.1 * faults.seconds)
        with faults.case(number.name, f"kill {kill}, after {moment:.3f} s"):
            process = faults.start(f"embed net -o killed {EMBED}")
            time.sleep(moment)
            process.send_signal(number)
            code, err = faults.end(process)
            # Only Ctrl-C is handled; the others end the process as they do any other.
            if code not in (0, -number, 130 if number == signal.SIGINT else 0):
                raise Failure(f"exit code {code}: {err}")
            faults.check("killed", max(code, 0) or (1 if code else 0), err, told=False)
            faults.complete("killed")
        faults.clear("killed")


def tables(folder):
    """The scores of a comparison. compare.tex also has running times, which differ."""
    return json.loads((folder / "compare.json").read_text(encoding="utf-8"))["tables"]


def signals_in_a_comparison(faults, kills):
    """As above, for compare: what is finished is kept, and the tables are those of an undisturbed run."""
    began = time.monotonic()
    faults.run(f"{COMPARE} -q -o whole")
    seconds, expected = time.monotonic() - began, tables(faults.folder / "whole")
    for kill in range(kills):
        number = SIGNALS[kill % len(SIGNALS)]
        moment = faults.random.uniform(0, 1.1 * seconds)
        with faults.case(f"{number.name} in compare", f"kill {kill}, after {moment:.3f} s"):
            process = faults.start(f"{COMPARE} -o killed")
            time.sleep(moment)
            process.send_signal(number)
            faults.end(process)
            faults.run(f"{COMPARE} -q -o killed")
            if tables(faults.folder / "killed") != expected:
                raise Failure("the tables differ from those of an undisturbed run")
        faults.clear("killed")


def full_disk(faults):
    """Disks of all sizes up to the one that is needed, so that each phase meets a full one."""
    for fault, line, whole in [
        ("full disk, embed", f"embed net {EMBED}", "expected"),
        ("full disk, compare", COMPARE, "whole"),
    ]:
        if not (faults.folder / whole).exists():
            faults.run(f"{line} -q -o {whole}")
        needed = size_of(faults.folder / whole)
        shares = [step / 20 for step in range(21)] if faults.long else [0.0, 0.1, 0.35, 0.6, 0.85, 0.95]
        for share in shares:
            size = max(4096, int(share * needed) // 4096 * 4096)
            with faults.case(fault, f"{size} of {needed} bytes"), faults.mounted("small", size):
                code, err = faults.end(faults.start(f"{line} -o small/z"))
                faults.check_words(code, err)
                if code != 0 and "no space left" not in err:
                    raise Failure(f"exit code {code} does not name the reason: {err}")
                if whole == "expected":
                    faults.check("small/z", code, err)
                elif code == 0 and not (faults.folder / "small/z/compare.tex").exists():
                    raise Failure("exit code 0 without tables")
                hidden = [path.name for path in (faults.folder / "small").rglob(".manyview*")]
                if hidden:
                    raise Failure(f"left behind: {hidden}")


def file_size_limit(faults):
    """Writes that fail after a number of bytes; needs no rights."""
    sizes = {len(faults.expected[0]) - 1, *(faults.random.randrange(1, 400_000) for _ in range(40 if faults.long else 3))}
    for size in sorted(sizes):

        def limit(size=size):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        with faults.case("file size limit", f"{size} bytes"):
            code, err = faults.end(faults.start(f"embed net -o limited {EMBED}", limit))
            faults.check("limited", code, err)
            faults.complete("limited")
        faults.clear("limited")


def read_only(faults):
    with faults.mounted("fixed", "1m") as disk:
        (disk / "z").mkdir()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for line in (f"embed net -o fixed/z {EMBED}", f"embed net -o fixed/new {EMBED}", f"{COMPARE} -o fixed/c",
                     "generate -o fixed/g", "report expected -o fixed/page.html", "proximity net -o fixed/p"):  # fmt: skip
            with faults.case("read-only disk", line):
                code, err = faults.end(faults.start(line))
                if code != 1 or "read-only" not in err:
                    raise Failure(f"exit code {code}: {err}")


def deleted_folder(faults):
    """The output folder is deleted during the run."""
    for _ in range(20 if faults.long else 3):
        moment = faults.random.uniform(0.1, 0.9) * faults.seconds
        with faults.case("deleted folder", f"after {moment:.3f} s"):
            process = faults.start(f"embed net -o deleted {EMBED}")
            time.sleep(moment)
            # Renamed, which is one step, so that it is known whether the result was there already.
            with contextlib.suppress(FileNotFoundError):
                os.rename(faults.folder / "deleted", faults.folder / "gone")
            code, err = faults.end(process)
            if code or faults.bytes_of("gone") is None:
                faults.check("deleted", code, err)
        faults.clear("deleted", "gone")


def closed_streams(faults):
    for closed in [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)]:
        with faults.case("closed streams", str(closed)):
            process = faults.start(
                f"embed net -o closed {EMBED}", lambda closed=closed: [os.close(number) for number in closed]
            )
            code, err = faults.end(process)
            faults.check("closed", code, err)
            if code:
                raise Failure(f"exit code {code}: {err}")
        faults.clear("closed")
    with faults.case("closed streams", "standard output is full"), open("/dev/full", "wb") as full:
        code, err = faults.end(faults.start(f"embed net -o closed {EMBED}", stdout=full))
        if code != 1 or "is complete" not in err or faults.bytes_of("closed") != faults.expected:
            raise Failure(f"exit code {code}: {err}")
    faults.clear("closed")
    with faults.case("closed streams", "standard error is full"), open("/dev/full", "wb") as full:
        code, err = faults.end(faults.start(f"embed net -o closed {EMBED}", stderr=full))
        faults.check("closed", code, err, told=False)
    faults.clear("closed")
    for line in ("explain expected n0", f"embed net -o closed {EMBED}"):
        with faults.case("closed streams", f"a closed pipe: {line}"):
            reader, writer = os.pipe()
            os.close(reader)
            code, err = faults.end(faults.start(line, stdout=writer))
            os.close(writer)
            if code:
                raise Failure(f"exit code {code}: {err}")
        faults.clear("closed")


def two_runs(faults):
    """Of two runs into one folder one succeeds; the other is refused, and changes nothing."""
    lines = [(f"embed net {EMBED}", "run.json"), (COMPARE, "compare.tex")]
    for turn in range(20 if faults.long else 4):
        line, last = lines[turn % 2]
        with faults.case("two runs at once", line):
            first = faults.start(f"{line} -o shared")
            time.sleep(faults.random.uniform(0, 0.5) * faults.seconds)
            second = faults.start(f"{line} -o shared")
            ends = [faults.end(process) for process in (first, second)]
            for code, err in ends:
                faults.check_words(code, err)
                # A comparison that starts after the other has ended finds everything done.
                refused = "another run of manyview" in err or "already exists" in err or "--resume" in err
                if code and not refused:
                    raise Failure(f"exit code {code}: {err}")
            if all(code for code, _ in ends) or not (faults.folder / "shared" / last).exists():
                raise Failure(f"none succeeded: {ends}")
            if line.startswith("embed"):
                faults.check("shared", 0, "")
                if all(code == 0 for code, _ in ends):
                    raise Failure("both succeeded")
        faults.clear("shared")


def memory_limit(faults):
    """Limits of the address space, as set by ulimit -v. Exact, because matrices that do not fit would be sampled."""
    for megabytes in [24, 48, 96, 150, 200, 300, 400, 4000] if faults.long else [24, 96, 200, 4000]:
        limit = megabytes << 20
        with faults.case("memory limit", f"{megabytes} MB of address space"):
            prepare = lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))  # noqa: E731
            process = faults.start(f"embed net -o tight {EMBED} --proximity exact --threads 1", prepare)
            code, err = faults.end(process)
            faults.check("tight", code, err)
        faults.clear("tight")


def memory_group(faults):
    """A control group that allows less memory than the run needs; refused before it is used."""
    for parent, limit in [("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")]:
        group = pathlib.Path(parent) / f"manyview-faults-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            why = error
            continue
        # A folder of the system that is no memory group, or may not be limited.
        try:
            with open(group / limit, "r+") as file:
                file.write(str(64 << 20))
        except OSError as error:
            why = error
            group.rmdir()
            continue
        try:
            with faults.case("memory group", "64 MiB"):
                prepare = lambda: (group / "cgroup.procs").write_text(str(os.getpid()))  # noqa: B023, E731
                code, err = faults.end(faults.start("embed net -o grouped --dim 20000 --stages 1", prepare), 30)
                if code != 1 or "memory" not in err:
                    raise Failure(f"exit code {code}: {err}")
        finally:
            group.rmdir()
            faults.clear("grouped")
        return
    raise Skipped(f"no memory group can be made: {why}")


def clock(faults):
    """A clock that runs backwards."""
    if not shutil.which("cc"):
        raise Skipped("no C compiler to build a clock that runs backwards")
    source, library = faults.folder / "clock.c", faults.folder / "clock.so"
    source.write_text(CLOCK)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    preloaded = dict(os.environ, LD_PRELOAD=str(library))
    for line in (f"embed net -o backwards {EMBED}", "report expected -o backwards.html --force"):
        with faults.case("clock backwards", line):
            code, err = faults.end(faults.start(line, env=preloaded))
            if code:
                raise Failure(f"exit code {code}: {err}")
            if line.startswith("embed"):
                faults.check("backwards", code, err)
        faults.clear("backwards")


def input_truncated(faults):
    """An input that ends while it is read is refused, or is read as what is there."""
    whole = (faults.folder / "net" / "view1.tsv").read_bytes()
    for share in [0.0, 0.3, 0.9]:
        with faults.case("input truncated", f"a pipe that ends after {share:.0%}"):
            reader, writer = os.pipe()
            process = faults.start("embed --view x=- -o piece --dim 8 --stages 2", stdin=reader)
            os.close(reader)
            with contextlib.suppress(BrokenPipeError), open(writer, "wb") as pipe:
                pipe.write(whole[: int(share * len(whole))])
            faults.check_words(*faults.end(process))
        faults.clear("piece")
    packed = gzip.compress(whole)
    for length in [1, 10, len(packed) // 2, len(packed) - 1]:
        with faults.case("input truncated", f"a gz file of {length} bytes"):
            (faults.folder / "cut.tsv.gz").write_bytes(packed[:length])
            code, err = faults.end(faults.start("embed cut.tsv.gz -o piece --dim 8 --stages 2"))
            faults.check_words(code, err)
            if code != 1 or "cut.tsv.gz" not in err:
                raise Failure(f"exit code {code}: {err}")
    shrinking = faults.folder / "shrinking.tsv"
    for _ in range(20 if faults.long else 3):
        moment = faults.random.uniform(0, 0.1)
        with faults.case("input truncated", f"a file truncated after {moment:.3f} s"):
            shrinking.write_bytes(whole * 20)
            process = faults.start("embed shrinking.tsv -o piece --dim 8 --stages 2")
            time.sleep(moment)
            # In the middle of a line.
            os.truncate(shrinking, len(whole) // 2)
            faults.check_words(*faults.end(process))
        faults.clear("piece")


FAULTS = [
    signals, signals_in_a_comparison, full_disk, file_size_limit, read_only, deleted_folder, closed_streams, two_runs,
    memory_limit, memory_group, clock, input_truncated, extreme_sizes, killed_large, max_memory,
]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--long", action="store_true", help="200 kills, every size of disk, the largest networks")
    parser.add_argument("--kills", type=int, help="number of signals [default: 10, or 200 with --long]")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random moments")
    parser.add_argument("--only", choices=[fault.__name__ for fault in FAULTS])
    args = parser.parse_args()
    kills = args.kills if args.kills is not None else 200 if args.long else 10
    with tempfile.TemporaryDirectory() as folder:
        faults = Harness(args.binary, folder, args.seed, args.long)
        for fault in FAULTS:
            if args.only not in (None, fault.__name__):
                continue
            began = time.monotonic()
            try:
                if fault is signals:
                    fault(faults, kills)
                elif fault is signals_in_a_comparison:
                    fault(faults, max(kills // 5, 1))
                else:
                    fault(faults)
            except Skipped as why:
                faults.skip(fault.__name__, why)
            print(f"{fault.__name__}: {time.monotonic() - began:.1f} s", flush=True)
        return faults.report()


if __name__ == "__main__":
    sys.exit(main())
