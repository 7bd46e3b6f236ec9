"""Time until the error is as low as that of scikit-learn's `cd` after some iterations: manyview, and other packages of NMF.

python3 bench/equal.py nimfa MATRIX U V ITERATIONS    measures nimfa; prints one JSON object
"""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).resolve().parent
#: Packages that have not reached the error by then are recorded with what they have reached.
MOST = 200
#: nimfa takes seconds per iteration, so it gets few.
MOST_OF_NIMFA = 30


def section(bench, step):
    names, widths, iterations, repeats = bench.plan["equal"]
    for name in names:
        if bench.matrix(name) is None:
            continue
        for width in widths:
            start = bench.start(name, width)
            for repeat in range(repeats):
                step(f"time to equal error: {name} width {width}, repeat {repeat + 1}")
                matrix = bench.matrix(name)
                (them,) = bench.theirs("nmf", matrix, *start, "--few", 5, "--iterations", iterations - 5)
                case = {"what": name, "width": width, "entries": them["entries"], "repeat": repeat}
                note = f"{iterations} iterations, error {them['error']:.6f}"
                bench.record("equal", who="scikit-learn", solver="cd", threads=1, seconds=them["total"], note=note, **case)
                for solver in ("accelerated-hals", "hals"):
                    for threads in (1, 2):
                        command = ("nmf", matrix, *start, "--solver", solver, "--threads", threads, "--iterations", 2 * iterations)
                        (us,) = bench.ours(*command)
                        bench.record("equal", who="manyview", solver=solver, threads=threads, **reached(us, them["error"]), **case)
                if repeat == 0:
                    others(bench, step, matrix, start, them["error"], case)


def reached(us, error):
    """The time of our first iteration whose error is no larger; both times start with the CSR matrix in memory."""
    # The tolerance allows for rounding.
    ends = [end for end, ours in zip(us["ends"], us["errors"]) if ours <= error * (1 + 1e-5)]
    needed = len(us["ends"]) - len(ends) + 1
    return {"seconds": us["cutting"] + ends[0], "note": f"{needed} iterations"} if ends else {"seconds": float("inf"), "note": "not reached"}


def others(bench, step, matrix, start, error, case):
    """Packages that are no baseline of a target are measured once."""
    for threads in (1, 2):
        step(f"  RcppML, {threads} threads")
        found = rcppml(bench, matrix, case["width"], threads, error)
        if found is None:
            bench.skip("RcppML", "no Rscript with the package RcppML (Debian: r-cran-rcppml)")
            break
        record(bench, "RcppML", threads, found, error, case)
    step("  nimfa")
    done = subprocess.run(
        [sys.executable, __file__, "nimfa", matrix, start[1], start[3], str(MOST_OF_NIMFA)], capture_output=True, text=True
    )
    if done.returncode != 0:
        return bench.skip("nimfa", (done.stderr.strip().splitlines() or ["it failed"])[-1])
    record(bench, "nimfa", 1, json.loads(done.stdout), error, case)


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


def nimfa_main(matrix, u, v, most):
    import warnings

    # Its examples warn on import about packages that only they need.
    warnings.simplefilter("ignore")
    import nimfa

    x = sp.csr_matrix(sp.load_npz(matrix)).astype(np.float64)
    w, h = np.load(u).astype(np.float64), np.load(v).astype(np.float64).T
    norm = float((x.data**2).sum())
    # Without a test for convergence, which would form the product as a dense matrix in each iteration.
    model = nimfa.Nmf(x, W=w, H=h, rank=w.shape[1], update="euclidean", objective="fro", max_iter=most, min_residuals=None, test_conv=most + 1)
    began = time.perf_counter()
    fit = model()
    seconds = time.perf_counter() - began
    w, h = np.asarray(fit.basis()), np.asarray(fit.coef())
    found = (norm - 2 * float(np.sum((x @ h.T) * w)) + float(np.sum((w.T @ w) * (h @ h.T)))) / norm
    print(json.dumps({"seconds": seconds, "error": found, "iterations": most}))


if __name__ == "__main__":
    _, _, matrix, u, v, most = sys.argv
    nimfa_main(matrix, u, v, int(most))
