"""Classification and clustering compared with scikit-learn: the same vectors, on one thread and on all cores.

python3 bench/evaluate.py theirs classify|cluster FOLDER    measures scikit-learn; prints one JSON object
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

NODES, DIM, CLASSES = 11_000, 256, 4
SHARES, REPEATS, RESTARTS = (0.3, 0.5, 0.7), 10, 10


def vectors(folder):
    """Overlapping classes of non-negative vectors with many small numbers, like those of embeddings."""
    if (folder / "labels.tsv").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    of = random.choice(CLASSES, NODES, p=(0.4, 0.3, 0.2, 0.1))
    centers = random.exponential(0.12, size=(CLASSES, DIM))
    x = random.gamma(0.4, 1.0, size=(NODES, DIM)) * (0.5 + centers[of]) * np.geomspace(3, 0.1, DIM)
    np.save(folder / "embedding.npy", x.astype(np.float32))
    (folder / "nodes.txt").write_text("".join(f"n{node}\n" for node in range(NODES)))
    (folder / "labels.tsv").write_text("".join(f"n{node}\tc{label}\n" for node, label in enumerate(of)))
    return folder


def theirs(task, folder):
    from sklearn.cluster import KMeans
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import adjusted_mutual_info_score, f1_score, normalized_mutual_info_score
    from sklearn.model_selection import train_test_split

    # As for manyview, the time includes reading the files, but not the imports.
    began = time.perf_counter()
    x = np.load(folder / "embedding.npy")
    y = np.array([line.split("\t")[1] for line in (folder / "labels.tsv").read_text().splitlines()])
    scores, iterations = [], []
    if task == "classify":
        for share in SHARES:
            for repeat in range(REPEATS):
                train, test = train_test_split(np.arange(NODES), train_size=share, stratify=y, random_state=repeat)
                model = LogisticRegression(C=1, tol=1e-4, max_iter=1000).fit(x[train], y[train])
                predicted = model.predict(x[test])
                scores.append(f1_score(y[test], predicted, average="micro"))
                f1_score(y[test], predicted, average="macro")
                iterations.append(int(model.n_iter_[0]))
    else:
        for repeat in range(REPEATS):
            model = KMeans(CLASSES, n_init=RESTARTS, random_state=repeat).fit(x)
            scores.append(float(model.inertia_))
            normalized_mutual_info_score(y, model.labels_)
            adjusted_mutual_info_score(y, model.labels_)
            iterations.append(int(model.n_iter_))
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "score": float(np.mean(scores)), "iterations": float(np.mean(iterations))}))


def ours(binary, task, folder, threads):
    limit = [] if threads == "all" else ["--threads", threads]
    command = [binary, "evaluate", task, folder, "--labels", folder / "labels.tsv", "--json", "--quiet", *limit]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    found = json.loads(done.stdout)
    if task == "classify":
        runs = [run for share in found["shares"] for run in share["runs"]]
        score = np.mean([run["micro_f1"] for run in runs])
    else:
        runs, score = found["runs"], found["inertia"]["mean"]
    iterations = np.mean([run["iterations"] for run in runs])
    return {"seconds": found["seconds"], "score": float(score), "iterations": float(iterations)}


def run_theirs(task, folder, threads):
    environment = dict(os.environ)
    if threads != "all":
        # Set before NumPy is loaded. On busy cores, several threads may be slower than one.
        environment.update(OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))
    command = [sys.executable, str(Path(__file__)), "theirs", task, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def section(bench, binary, step):
    """Measures both programs alternately on both tasks, and records the times and scores."""
    folder = vectors(bench.work / f"evaluate-{NODES}x{DIM}x{CLASSES}")
    for repeat in range(bench.plan["runs"]):
        for task in ("classify", "cluster"):
            for threads in (1, "all"):
                step(f"evaluate {task}, {threads} threads, repeat {repeat + 1}")
                us, them = ours(binary, task, folder, threads), run_theirs(task, folder, threads)
                apart = us["score"] / them["score"] - 1
                # Splits and restarts differ, so scores agree only up to the variation over ten repeats.
                if abs(apart) > 0.01 if task == "classify" else apart > 0.001:
                    sys.exit(f"evaluate {task}: scores {us['score']} and {them['score']} differ too much for a fair comparison")
                for who, found in (("manyview", us), ("scikit-learn", them)):
                    note = f"score {found['score']:.6g}, {found['iterations']:.0f} iterations"
                    case = {"what": task, "who": who, "threads": threads, "repeat": repeat}
                    bench.record("evaluate", seconds=found["seconds"], note=note, **case)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] != "theirs":
        sys.exit(__doc__)
    theirs(sys.argv[2], Path(sys.argv[3]))
