"""Makes all measurements of bench/run.sh and writes raw.csv, machine.txt and summary.md to a folder.

The programs are measured alternately, so that other load affects all of them. All numbers of the summary are computed from
raw.csv; summary.py can generate it again.
"""

import argparse
import csv
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy
import scipy.sparse as sp

import equal
import evaluate
import skipgram
import summary

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RELEASE = ROOT / "target" / "release"
GENERATE = ["--degree", "12", "--skew", "0.4", "--noise", "0.2"]

# Number of entries -> nodes of a planted network whose views have about this many, with window 5 and negative 1.
NODES = {1e6: 2700, 1e7: 9300, 1e8: 33500}
# The same for three views in total.
NODES_OF_THREE = {1e5: 420, 3e5: 760, 1e6: 1450, 3e6: 2650, 1e7: 5100, 3e7: 9200, 1e8: 18200}
VIEWS = 3
TOLERANCE = 1e-3

FULL = {
    "nmf": {
        # Name: widths, solvers, repeats, iterations of scikit-learn (few, more), iterations of manyview.
        "planted-1M": ((8, 16, 32, 64), ("cd", "mu"), 3, (5, 20), 25),
        "planted-10M": ((8, 16, 32, 64), ("cd", "mu"), 3, (5, 10), 15),
        "flickr": ((8, 16, 32, 64), ("cd", "mu"), 3, (5, 10), 15),
        "planted-100M": ((16, 32), ("cd", "mu"), 2, (1, 4), 5),
    },
    # Names, widths, iterations of scikit-learn, repeats.
    "equal": (("planted-1M", "planted-10M", "flickr"), (16, 32), 50, 5),
    "growth": ((1e5, 3), (3e5, 3), (1e6, 3), (3e6, 3), (1e7, 2), (3e7, 1), (1e8, 1)),
    "growth_iterations": 50,
    "proximity": (("planted-10M", 3), ("flickr", 3)),
    # Name, leading singular vectors, repeats.
    "svd": (("planted-10M", 256, 3), ("flickr", 256, 3)),
    "runs": 3,
}
QUICK = {
    "nmf": {
        "planted-1M": ((8, 16, 32), ("cd", "mu"), 1, (5, 10), 15),
        "flickr": ((16, 32), ("cd",), 1, (5, 10), 15),
    },
    "equal": (("planted-1M",), (16,), 50, 1),
    "growth": ((1e5, 1), (3e5, 1), (1e6, 1), (3e6, 1)),
    "growth_iterations": 20,
    "proximity": (("planted-1M", 1), ("flickr", 1)),
    "svd": (("planted-1M", 64, 1),),
    "runs": 1,
}


class Bench:
    def __init__(self, out, data, plan):
        self.data, self.plan, self.out = data, plan, out
        self.work = ROOT / "target" / "bench"
        self.work.mkdir(parents=True, exist_ok=True)
        self.file = open(out / "raw.csv", "w", newline="")
        self.rows = csv.DictWriter(self.file, summary.COLUMNS, restval="", lineterminator="\n")
        self.rows.writeheader()
        self.networks, self.matrices = {}, {}

    def record(self, section, **values):
        self.rows.writerow({"section": section, **values})
        self.file.flush()

    def skip(self, what, why):
        print(f"SKIPPED {what}: {why}", flush=True)
        self.record("skipped", what=what, note=why)

    def lines(self, command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def ours(self, *command):
        return self.lines([RELEASE / "measure", *command])

    def theirs(self, *command):
        return self.lines([sys.executable, HERE / "compare.py", *command])

    # Matrices

    def planted(self, name, nodes, views):
        network, near = self.work / name, self.work / f"{name}-proximity"
        # A complete proximity folder contains nodes.txt; settings are part of the name.
        if not (near / "nodes.txt").exists():
            manyview("generate", "-o", network, "--force", "--nodes", nodes, "--views", views, "--communities", max(4, nodes // 120), *GENERATE)
            manyview("proximity", network, "-o", near, "--force", "--negative", 1)
        return network, near

    def matrix(self, name):
        """The file of the matrix, or None if it is not available."""
        if name not in self.matrices:
            if name == "flickr":
                self.matrices[name] = self.flickr()
            else:
                wanted = float(name.removeprefix("planted-").replace("M", "e6"))
                nodes = NODES[wanted]
                network, near = self.planted(f"{name}-{nodes}", nodes, 1)
                self.networks[name] = (network / "view1.tsv", near, near / "view1.npz")
                self.matrices[name] = near / "view1.npz"
        return self.matrices[name]

    def flickr(self):
        edges = self.data and self.data / "flickr" / "friendship.tsv"
        if not edges or not edges.exists():
            self.skip("flickr", "flickr/friendship.tsv not found; use --data or MANYVIEW_DATA")
            return None
        near = self.work / "flickr-proximity"
        manyview("proximity", "--view", f"friendship={edges}", "-o", near, "--force", "--negative", 1)
        self.networks["flickr"] = (edges, near, near / "friendship.npz")
        return near / "friendship.npz"

    def start(self, name, width, seed=0):
        """Random factors whose product has about the mean of the matrix."""
        u, v = (self.work / f"{name}-{factor}{width}-{seed}.npy" for factor in "uv")
        x = sp.load_npz(self.matrix(name))
        size = 2 * (x.sum(dtype=np.float64) / x.shape[0] / x.shape[1] / width) ** 0.5
        random = np.random.default_rng((width, seed))
        np.save(u, (size * random.random((x.shape[0], width))).astype(np.float32))
        np.save(v, (size * random.random((x.shape[1], width))).astype(np.float32))
        return ["--u", u, "--v", v]

    # Measurements

    def nmf(self):
        for name, (widths, solvers, repeats, (few, more), iterations) in self.plan["nmf"].items():
            if self.matrix(name) is None:
                continue
            starts = {width: self.start(name, width) for width in widths}
            for repeat in range(repeats):
                for width in widths:
                    for solver in solvers:
                        for threads in (1, 2):
                            self.race(name, starts[width], width, solver, threads, repeat, few, more, iterations)

    def race(self, name, start, width, solver, threads, repeat, few, more, iterations):
        step(f"{name} width {width} {solver} {threads} threads, repeat {repeat + 1}")
        path = self.matrix(name)
        mine = "hals" if solver == "cd" else "mu"
        (us,) = self.ours("nmf", path, *start, "--solver", mine, "--threads", threads, "--iterations", iterations)
        (them,) = self.theirs(
            "nmf", path, *start, "--solver", solver, "--threads", threads, "--few", few, "--iterations", more
        )
        for done, error in ((few, them["error_few"]), (few + more, them["error"])):
            apart = abs(us["errors"][done - 1] / error - 1) if done <= iterations else 0.0
            if apart > TOLERANCE:
                sys.exit(f"{name} width {width} {solver}: errors after {done} iterations differ by {apart:.1e}, so the comparison would not be fair")
        case = {"what": name, "entries": us["entries"], "width": width, "solver": solver, "threads": threads, "repeat": repeat}
        self.record("nmf", who="manyview", seconds=mean(us["iterations"]), note=f"error {us['errors'][few + more - 1]:.6f}", **case)
        self.record("nmf", who="scikit-learn", seconds=them["iteration"], note=f"error {them['error']:.6f}", **case)

    def equal_error(self):
        equal.section(self, step)

    def growth(self):
        iterations = self.plan["growth_iterations"]
        for wanted, repeats in self.plan["growth"]:
            nodes = NODES_OF_THREE[wanted]
            step(f"growth: {wanted:.0e} entries in {VIEWS} views, {nodes} nodes")
            _, near = self.planted(f"three-{nodes}", nodes, VIEWS)
            files = [near / f"view{view + 1}.npz" for view in range(VIEWS)]
            found = self.ours("stages", *files, "--threads", 2, "--iterations", iterations, "--repeats", repeats)
            for at, line in enumerate(found):
                case = {"what": line["kind"], "entries": line["entries"], "width": 16, "solver": "hals", "threads": 2}
                case["repeat"], case["who"] = at // (VIEWS + 2), "manyview"
                group = f"{wanted:.0e}"
                self.record("growth", seconds=mean(line["iterations"]), note=group, **case)
                rest = line["scaling"] + line["subtracting"]
                self.record("stage", seconds=line["total"] + rest, note=group, **case)
            self.record("memory", what="stages", entries=sum(line["entries"] for line in found if line["kind"] == "shared") // repeats, seconds=found[-1]["peak"] / 1e9, note="GB peak")

    def proximity(self):
        for name, repeats in self.plan["proximity"]:
            if self.matrix(name) is None:
                continue
            edges, near, matrix = self.networks[name]
            for repeat in range(repeats):
                for threads in (1, 2):
                    step(f"proximity: {name} {threads} threads, repeat {repeat + 1}")
                    (us,) = self.ours("proximity", edges, "--threads", threads)
                    check = ["--check", matrix] if repeat == 0 else []
                    (them,) = self.theirs("proximity", edges, "--ours", near, "--threads", threads, *check)
                    if check and (them["not_in_both"] > 1e-6 * us["entries"] + 3 or them["largest_difference"] > 1e-4):
                        sys.exit(f"proximity of {name}: the matrices differ: {them}")
                    case = {"what": name, "entries": us["entries"], "threads": threads, "repeat": repeat}
                    self.record("proximity", who="manyview", seconds=us["seconds"], **case)
                    self.record("proximity", who="SciPy", seconds=them["seconds"], note=f"blocks of {them['block']}", **case)

    def svd(self):
        for name, rank, repeats in self.plan["svd"]:
            if self.matrix(name) is None:
                continue
            for repeat in range(repeats):
                for threads in (1, 2):
                    step(f"svd: {name}, {rank} columns, {threads} threads, repeat {repeat + 1}")
                    command = ("svd", self.matrix(name), "--rank", rank, "--threads", threads)
                    (us,), (them,) = self.ours(*command), self.theirs(*command)
                    for who, found in (("manyview", us), ("scikit-learn", them)):
                        case = {"what": name, "entries": found["entries"], "width": rank, "threads": threads, "repeat": repeat}
                        self.record("svd", who=who, seconds=found["seconds"], note=f"error {found['error']:.6f}", **case)

    def whole_runs(self):
        runs = {"digits": ["embed", ROOT / "data" / "digits", "--force"]}
        folder = self.data and self.data / "flickr"
        if folder and folder.is_dir():
            runs["flickr folder"] = ["embed", folder, "--force"]
        else:
            self.skip("flickr folder", "no flickr in the data folder; use --data or MANYVIEW_DATA")
        for repeat in range(self.plan["runs"]):
            for name, command in runs.items():
                step(f"end to end: {name}, repeat {repeat + 1}")
                began = time.perf_counter()
                manyview(*command, "-o", self.work / "run", "--threads", 2)
                self.record("run", what=name, who="manyview", threads=2, repeat=repeat, seconds=time.perf_counter() - began)

    def tucker(self):
        folder = self.data and self.data / "acm"
        if not (folder and folder.is_dir()):
            return self.skip("tucker", "no acm in the data folder; use --data or MANYVIEW_DATA")
        step("tucker: acm")
        began = time.perf_counter()
        manyview("embed", folder, "--method", "tucker", "--force", "-o", self.work / "run", "--threads", 2)
        self.record("tucker", what="acm", who="manyview", threads=2, seconds=time.perf_counter() - began)

    def evaluate(self):
        evaluate.section(self, RELEASE / "manyview", step)

    def skipgram(self):
        skipgram.section(self, RELEASE / "measure", RELEASE / "manyview", step)

    def ranks(self):
        name = "planted-10M" if "planted-10M" in self.plan["nmf"] else "planted-1M"
        step("ranks of MPI")
        if shutil.which("mpirun") is None:
            return self.skip("MPI", "no mpirun")
        target = ROOT / "target" / "bench-mpi"
        build = ["cargo", "build", "--release", "--locked", "--features", "mpi", "-p", "manyview-cli", "--target-dir", target]
        built = subprocess.run(build, capture_output=True, text=True, cwd=ROOT)
        if built.returncode != 0:
            why = next((line for line in built.stderr.splitlines() if line.startswith("error")), "the build failed")
            return self.skip("MPI", why)
        self.matrix(name)
        network = self.networks[name][0].parent
        for repeat in range(self.plan["runs"]):
            for ranks in (1, 2):
                out = self.work / "run"
                embed = [target / "release" / "manyview", "embed", network, "-o", out, "--force", "--threads", 1, "--negative", 1, "-q"]
                mpirun = ["mpirun", "--oversubscribe", "-n", ranks]
                if os.getuid() == 0:
                    mpirun.insert(1, "--allow-run-as-root")
                done = subprocess.run([str(part) for part in mpirun + embed], capture_output=True, text=True)
                if done.returncode != 0:
                    return self.skip("MPI", (done.stderr.strip().splitlines() or ["mpirun failed"])[-1])
                run = json.loads((out / "run.json").read_text())
                if run["ranks"] != ranks:
                    return self.skip("MPI", f"expected {ranks} ranks, but the run had {run['ranks']}")
                self.record("mpi", what=name, who="manyview", threads=1, repeat=repeat, seconds=run["seconds"]["factorize"], note=f"{ranks} ranks")


def mean(values):
    return sum(values) / len(values)


def step(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def manyview(*command):
    command = [str(part) for part in (RELEASE / "manyview", *command, "-q")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    except OSError:
        return "unknown"


def machine(command):
    import sklearn

    processor = next((line.split(":")[1].strip() for line in output_of("lscpu").splitlines() if line.startswith("Model name")), platform.processor())
    caches = ", ".join(" ".join(line.split()) for line in output_of("lscpu").splitlines() if line.startswith("L"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    changed = " with uncommitted changes" if output_of("git", "status", "--porcelain", "--untracked-files=no") else ""
    return "\n".join(
        [
            f"date        {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC",
            f"command     {command}",
            f"commit      {output_of('git', 'rev-parse', 'HEAD')}{changed}",
            f"processor   {processor}, {os.cpu_count()} cores",
            f"caches      {caches}",
            f"memory      {memory:.1f} GB",
            f"system      {platform.system()} {platform.release().split('-')[0]}",
            f"compiler    {output_of('rustc', '--version')}",
            f"python      {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}",
            f"load        {os.getloadavg()[0]:.2f} at the start (1 minute)",
        ]
    ) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--command", default="bench/measure.py")
    parser.add_argument("--only", type=lambda text: text.split(","), help="sections, comma-separated")
    args = parser.parse_args()
    args.out.mkdir(parents=True)
    (args.out / "machine.txt").write_text(machine(args.command))
    began = time.time()
    bench = Bench(args.out, args.data, QUICK if args.quick else FULL)
    parts = ("nmf", "equal_error", "proximity", "svd", "growth", "whole_runs", "evaluate", "skipgram", "tucker", "ranks")
    for part in args.only or parts:
        getattr(bench, part)()
    bench.file.close()
    with open(args.out / "machine.txt", "a") as file:
        file.write(f"            {os.getloadavg()[0]:.2f} at the end\ntook        {(time.time() - began) / 60:.1f} minutes\n")
    summary.write(args.out)
    print((args.out / "summary.md").read_text())


if __name__ == "__main__":
    main()
