"""The reference measurements of bench/run.sh: scikit-learn's NMF and randomized SVD, and the proximity computed with SciPy.

Each command makes one measurement in a separate process, so that the number of threads is set before NumPy is loaded, and
prints one line of JSON per repeat. Files are read before the clock starts.
"""

import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def factorize(args):
    import numpy as np
    import scipy.sparse as sp
    from sklearn.decomposition import non_negative_factorization

    x = sp.csr_matrix(sp.load_npz(args.matrix))
    u, v = np.load(args.u), np.load(args.v)
    width = u.shape[1]

    def run(iterations):
        """The function behind NMF.fit_transform; the class would add a pass for its final error, which is not measured here."""
        w, h = u.copy(), np.ascontiguousarray(v.T)
        began = time.perf_counter()
        w, h, done = non_negative_factorization(
            x, W=w, H=h, n_components=width, init="custom", solver=args.solver, shuffle=False, tol=0, max_iter=iterations
        )
        seconds = time.perf_counter() - began
        assert done == iterations and w.dtype == np.float32, (done, w.dtype)
        return w, h, seconds

    def error(w, h):
        w, h = w.astype(np.float64), h.astype(np.float64)
        norm = float(np.sum(x.data.astype(np.float64) ** 2))
        cross = sum(float(np.sum((x[i : i + 4096] @ h.T) * w[i : i + 4096])) for i in range(0, x.shape[0], 4096))
        return (norm - 2 * cross + float(np.sum((w.T @ w) * (h @ h.T)))) / norm

    for _ in range(args.repeats):
        few = run(args.few)
        many = run(args.few + args.iterations)
        print(
            json.dumps(
                {
                    "entries": int(x.nnz),
                    "iteration": (many[2] - few[2]) / args.iterations,
                    "total": many[2],
                    "iterations": args.few + args.iterations,
                    "error_few": error(*few[:2]),
                    "error": error(*many[:2]),
                }
            ),
            flush=True,
        )


def proximity(args):
    import numpy as np
    import scipy.sparse as sp

    nodes = open(os.path.join(args.ours, "nodes.txt")).read().split()
    number = {name: index for index, name in enumerate(nodes)}
    n = len(nodes)
    lines = [line.split() for line in open(args.edges)]
    lines = [line for line in lines if line[0] in number]
    rows = np.array([number[line[0]] for line in lines])
    cols = np.array([number[line[1]] for line in lines])
    adjacency = sp.coo_matrix((np.ones(len(rows)), (rows, cols)), shape=(n, n)).tocsr()
    adjacency = sp.csr_matrix(adjacency + adjacency.T)
    adjacency.setdiag(0)
    adjacency.eliminate_zeros()

    def prepare():
        degrees = np.asarray(adjacency.sum(axis=1)).ravel()
        inverse = np.divide(1.0, degrees, out=np.zeros(n), where=degrees > 0)
        # Rows of the sum are columns here, because SciPy is fastest at sparse times dense in C order.
        step = sp.csr_matrix((sp.diags(inverse) @ adjacency).T, dtype=np.float32)
        scale = (degrees.sum() / (args.negative * args.window) * inverse).astype(np.float32)
        return step, scale

    def compute(size):
        step, scale = prepare()
        by_column = step.tocsc()

        with ThreadPoolExecutor(args.threads) as pool:
            blocks = (by_column[:, first : first + size] for first in range(0, n, size))
            parts = list(pool.map(lambda block: finish(step, scale, block), blocks))
        counts = np.concatenate([part[0] for part in parts])
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return sp.csr_matrix(
            (np.concatenate([part[2] for part in parts]), np.concatenate([part[1] for part in parts]), indptr), shape=(n, n)
        )

    def finish(step, scale, first_step):
        now = first_step.toarray(order="C")
        total = now.copy()
        for _ in range(1, args.window):
            now = step @ now
            total += now
        total *= scale[:, None]
        near = np.ascontiguousarray(total.T)
        mask = near > 1
        counts = mask.sum(axis=1)
        return counts, np.nonzero(mask)[1].astype(np.int32), np.log(near[mask])

    # The fastest block size on this machine, measured on a few blocks before the clock starts.
    step, scale = prepare()
    by_column = step.tocsc()

    def rate(size):
        began = time.perf_counter()
        done = 0
        for first in range(0, min(n, 3 * size), size):
            part = by_column[:, first : first + size]
            finish(step, scale, part)
            done += part.shape[1]
        return (time.perf_counter() - began) / done

    size = min((16, 32, 64, 128, 256, 512), key=lambda size: min(rate(size), rate(size)))
    for _ in range(args.repeats):
        began = time.perf_counter()
        theirs = compute(size)
        seconds = time.perf_counter() - began
        found = {"nodes": n, "entries": int(theirs.nnz), "block": size, "seconds": seconds}
        if args.check:
            ours = sp.csr_matrix(sp.load_npz(args.check))
            both = ours.multiply(theirs != 0)
            apart = (theirs.multiply(ours != 0) - both).tocsr()
            relative = np.abs(apart.data).max(initial=0)
            found["entries_ours"] = int(ours.nnz)
            found["not_in_both"] = int(ours.nnz + theirs.nnz - 2 * both.nnz)
            found["largest_difference"] = float(relative)
        print(json.dumps(found), flush=True)


def decompose(args):
    import numpy as np
    import scipy.sparse as sp
    from sklearn.utils.extmath import randomized_svd

    a = sp.csr_matrix(sp.load_npz(args.matrix))
    norm = float(np.sum(a.data.astype(np.float64) ** 2))
    for _ in range(args.repeats):
        began = time.perf_counter()
        u, _, _ = randomized_svd(a, args.rank, random_state=0)
        seconds = time.perf_counter() - began
        # The relative error of the projection on U, independent of the singular values; a few columns at a time, in 64 bits.
        parts = (a.T @ u[:, at : at + 32].astype(np.float64) for at in range(0, args.rank, 32))
        error = 1 - sum(float(np.sum(part**2)) for part in parts) / norm
        print(json.dumps({"entries": int(a.nnz), "seconds": seconds, "error": error}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    nmf = commands.add_parser("nmf")
    nmf.add_argument("matrix")
    nmf.add_argument("--u", required=True)
    nmf.add_argument("--v", required=True)
    nmf.add_argument("--solver", default="cd")
    nmf.add_argument("--few", type=int, default=1)
    nmf.add_argument("--iterations", type=int, default=5)
    near = commands.add_parser("proximity")
    near.add_argument("edges")
    near.add_argument("--ours", required=True, help="folder that manyview proximity wrote")
    near.add_argument("--check", help="the matrix in it to compare with")
    near.add_argument("--window", type=int, default=5)
    near.add_argument("--negative", type=float, default=1.0)
    svd = commands.add_parser("svd")
    svd.add_argument("matrix")
    svd.add_argument("--rank", type=int, default=256)
    for command in (nmf, near, svd):
        command.add_argument("--threads", type=int, default=1)
        command.add_argument("--repeats", type=int, default=1)
    args = parser.parse_args()
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(args.threads)
    {"nmf": factorize, "proximity": proximity, "svd": decompose}[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
