"""Time until the error is as low as that of scikit-learn's `cd` after some iterations: manyview, and RcppML."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from summary import SINGULAR

HERE = Path(__file__).resolve().parent
#: If RcppML has not reached the error after this many iterations, what it has reached is recorded.
MOST = 200


def section(bench, step):
    names, widths, iterations, repeats = bench.plan["equal"]
    for name in names:
        if bench.matrix(name) is None:
            continue
        for width in widths:
            for repeat in range(repeats):
                # NMF ends in local minima, which may be above the error of another program: each repeat has its own start.
                start = bench.start(name, width, repeat)
                step(f"time to equal error: {name} width {width}, repeat {repeat + 1}")
                matrix = bench.matrix(name)
                (them,) = bench.theirs("nmf", matrix, *start, "--few", 5, "--iterations", iterations - 5)
                case = {"what": name, "width": width, "entries": them["entries"], "repeat": repeat}
                note = f"{iterations} iterations, error {them['error']:.6f}"
                bench.record("equal", who="scikit-learn", solver="cd", threads=1, seconds=them["total"], note=note, **case)
                for solver in ("accelerated-hals", SINGULAR, "hals"):
                    for threads in (1, 2):
                        options = ("--solver", solver) if solver != SINGULAR else ("--solver", "accelerated-hals", "--singular")
                        (us,) = bench.ours("nmf", matrix, *start, *options, "--threads", threads, "--iterations", 2 * iterations)
                        bench.record("equal", who="manyview", solver=solver, threads=threads, **reached(us, them["error"]), **case)
                if repeat == 0:
                    others(bench, step, matrix, them["error"], case)


def reached(us, error):
    """The time of our first iteration whose error is no larger; both times start with the CSR matrix in memory."""
    # The tolerance allows for rounding.
    ends = [end for end, ours in zip(us["ends"], us["errors"]) if ours <= error * (1 + 1e-5)]
    needed = len(us["ends"]) - len(ends) + 1
    return {"seconds": us["cutting"] + ends[0], "note": f"{needed} iterations"} if ends else {"seconds": float("inf"), "note": "not reached"}


def others(bench, step, matrix, error, case):
    """RcppML is no baseline of a target and is measured once, because finding the number of its iterations takes several runs."""
    for threads in (1, 2):
        step(f"  RcppML, {threads} threads")
        found = rcppml(bench, matrix, case["width"], threads, error)
        if found is None:
            bench.skip("RcppML", "no Rscript with the package RcppML (Debian: r-cran-rcppml)")
            break
        record(bench, "RcppML", threads, found, error, case)


def record(bench, who, threads, found, error, case):
    short = "" if found["error"] <= error else f", error {found['error']:.6f}: not reached"
    note = f"{found['iterations']} iterations{short}"
    bench.record("equal", who=who, solver="", threads=threads, seconds=found["seconds"], note=note, **case)


def rcppml(bench, matrix, width, threads, error):
    if shutil.which("Rscript") is None or subprocess.run(["Rscript", "-e", "library(RcppML)"], capture_output=True).returncode:
        return None
    folder = bench.work / f"{matrix.stem}-csr"
    folder.mkdir(exist_ok=True)
    x = sp.csr_matrix(sp.load_npz(matrix))
    for name, values, kind in (("indptr", x.indptr, np.int32), ("indices", x.indices, np.int32), ("data", x.data, np.float64)):
        values.astype(kind).tofile(folder / f"{name}.bin")
    (found,) = bench.lines(["Rscript", HERE / "rcppml.R", folder, width, threads, repr(error), MOST])
    return found
