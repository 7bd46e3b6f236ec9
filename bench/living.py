"""How good vectors are that are folded in: nodes of a labeled network are taken out, the rest is embedded, and they are folded in again.

    python3 bench/living.py NETWORK... [--binary target/release/manyview] [--shares 0.01,0.1,0.3] [--seeds 3]

Each NETWORK is a folder with one edge list per view (<view>.tsv or .tsv.gz: source, target and optional weight, tab-separated, undirected) and
labels.tsv (node and its labels). A classifier (logistic regression, C = 1, one per label) learns from nodes that stayed and is tested on
those that were taken out. Three kinds of vectors are compared: folded in; those of a fit of the whole network (the upper bound); and the mean of the
fitted vectors of a node's neighbors (the plain rival). Needs NumPy and scikit-learn. Prints a Markdown table.
"""

import argparse
import gzip
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression


def read_views(folder):
    views = {}
    for path in sorted(folder.glob("*.tsv*")):
        name = path.name.split(".")[0]
        if name.startswith(("labels", "nodes")):
            continue
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as lines:
            views[name] = [line.rstrip("\n").split("\t") for line in lines if line.strip()]
    return views


def read_labels(path):
    labels = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        node, *classes = line.split("\t")
        labels[node] = classes
    return labels


def write(folder, views):
    """Writes the views that have edges; returns the options that name them."""
    options = []
    for name, edges in views.items():
        if edges:
            path = folder / f"{name}.tsv"
            path.write_text("".join("\t".join(edge) + "\n" for edge in edges), encoding="utf-8")
            options += ["--view", f"{name}={path}"]
    return options


class Manyview:
    def __init__(self, binary, threads):
        self.binary, self.threads = binary, threads

    def __call__(self, *words):
        """Runs a command, and returns its processor time: wall time depends on what else runs."""
        began = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [self.binary, *map(str, words), "-q", "--threads", str(self.threads)]
        subprocess.run(command, check=True)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


def vectors(folder):
    ids = (folder / "nodes.txt").read_text(encoding="utf-8").splitlines()
    return ids, np.load(folder / "embedding.npy").astype(float)


def micro_f1(train, train_labels, test, test_labels):
    """One classifier per label; each test node gets as many labels as it has, those with the largest scores."""
    classes = sorted({name for names in train_labels for name in names})
    scores = np.full((len(test), len(classes)), -np.inf)
    for at, name in enumerate(classes):
        target = np.array([name in names for names in train_labels])
        if target.all() or not target.any():
            scores[:, at] = np.inf if target.all() else -np.inf
            continue
        model = LogisticRegression(C=1.0, max_iter=300).fit(train, target)
        scores[:, at] = model.decision_function(test)
    hits = wanted = 0
    for row, names in zip(scores, test_labels):
        best = {classes[at] for at in np.argsort(-row)[: len(names)]}
        hits += len(best & set(names))
        wanted += len(names)
    return 100 * hits / wanted


def neighbor_means(given, known, new, ids):
    """The mean of the fitted vectors of the neighbors of each new node, over all views."""
    row = {node: at for at, node in enumerate(ids)}
    sums = {node: np.zeros(known.shape[1]) for node in new}
    counts = dict.fromkeys(new, 0)
    for edges in given.values():
        for a, b, *_ in edges:
            for node, other in ((a, b), (b, a)):
                if node in sums and other in row:
                    sums[node] += known[row[other]]
                    counts[node] += 1
    means = np.array([sums[node] / max(counts[node], 1) for node in new])
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    usual = np.linalg.norm(known, axis=1).mean()
    return np.divide(means, lengths, out=np.zeros_like(means), where=lengths > 0) * usual


def cosines(a, b):
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return np.divide((a * b).sum(axis=1), lengths, out=np.zeros(len(a)), where=lengths > 0)


def trial(manyview, views, labels, share, seed):
    nodes = sorted({end for edges in views.values() for edge in edges for end in edge[:2]})
    chosen = set(random.Random(f"{seed} {share}").sample(nodes, max(1, round(share * len(nodes)))))
    rest = {name: [edge for edge in edges if not chosen & set(edge[:2])] for name, edges in views.items()}
    given = {name: [edge for edge in edges if chosen & set(edge[:2])] for name, edges in views.items()}
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        for name in ("all", "rest", "new"):
            (place / name).mkdir()
        refit_time = manyview("embed", *write(place / "all", views), "--seed", seed, "-o", place / "whole")
        manyview("embed", *write(place / "rest", rest), "--seed", seed, "--save-model", "-o", place / "model")
        fold_time = manyview("fold-in", place / "model", *write(place / "new", given), "-o", place / "folded", "--only-new")
        whole_ids, whole = vectors(place / "whole")
        ids, known = vectors(place / "model")
        new, folded = vectors(place / "folded")
    at = {node: row for row, node in enumerate(whole_ids)}
    train = [row for row, node in enumerate(ids) if node in labels]
    test = [row for row, node in enumerate(new) if node in labels]
    train_labels, test_labels = [labels[ids[row]] for row in train], [labels[new[row]] for row in test]
    whole_known, whole_new = whole[[at[node] for node in ids]], whole[[at[node] for node in new]]
    means = neighbor_means(given, known, new, ids)
    scores = [
        micro_f1(fitted[train], train_labels, tested[test], test_labels)
        for fitted, tested in ((known, folded), (whole_known, whole_new), (known, means))
    ]
    # Two fits have different columns: the rotation that fits best on the nodes that stayed makes them comparable.
    left, _, right = np.linalg.svd(known.T @ whole_known)
    turn = left @ right
    near = [np.median(cosines(folded @ turn, whole_new)), np.median(cosines(known @ turn, whole_known))]
    return [*scores, *near, len(new), refit_time, fold_time]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="+", type=Path)
    parser.add_argument("--binary", default="target/release/manyview")
    parser.add_argument("--shares", default="0.01,0.1,0.3")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    manyview = Manyview(args.binary, args.threads)
    print("| network | taken out | folded in | refit | neighbors' mean | cosine | of fitted nodes | nodes | refit CPU s | fold-in CPU s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for folder in args.networks:
        views, labels = read_views(folder), read_labels(folder / "labels.tsv")
        for share in map(float, args.shares.split(",")):
            found = np.mean([trial(manyview, views, labels, share, seed) for seed in range(args.seeds)], axis=0)
            f1 = " | ".join(f"{x:.1f}" for x in found[:3])
            print(f"| {folder.name} | {100 * share:.0f} % | {f1} | {found[3]:.2f} | {found[4]:.2f} | {found[5]:.0f} | "
                  f"{found[6]:.2f} | {found[7]:.2f} |")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
