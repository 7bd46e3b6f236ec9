"""How good vectors are that are folded in, and how long it takes.

    python3 bench/living.py NETWORK... [--binary target/release/manyview] [--shares 0.01,0.1,0.3] [--seeds 5]
    python3 bench/living.py NETWORK... --speed [--nodes 1000] [--repeats 3]

Each NETWORK is a folder with one edge list per view (<view>.tsv or .tsv.gz: source, target and optional weight, tab-separated, undirected) and
labels.tsv (node and its labels). Nodes are taken out, the rest is embedded, and they are folded in again. A classifier (logistic regression,
C = 1, one per label) learns from nodes that stayed and is tested on those that were taken out. Three kinds of vectors are compared: folded
in; those of a fit of the whole network (the upper bound); and the mean of the fitted vectors of a node's neighbors (the plain rival). Needs
NumPy and scikit-learn. Prints a Markdown table.

With --speed, it measures `manyview fold-in` and `manyview update` beside `manyview embed`: processor time, wall time and memory of the whole
commands, the best of some repeats that are run in turn; and one node through Python, if the package is installed. Needs no labels.
"""

import argparse
import gzip
import random
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

try:
    import numpy as np
    from sklearn.linear_model import LogisticRegression
except ImportError:
    # Not needed for --speed.
    np = None


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


def nodes_of(views):
    return sorted({end for edges in views.values() for edge in edges for end in edge[:2]})


def taken_out(views, chosen):
    """The edges among the other nodes, and those with an end among the chosen."""
    split = [{}, {}]
    for name, edges in views.items():
        for part in split:
            part[name] = []
        for edge in edges:
            split[edge[0] in chosen or edge[1] in chosen][name].append(edge)
    return split


def read_labels(path):
    labels = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        node, *classes = line.split("\t")
        labels[node] = classes
    return labels


def write(folder, views, option="--view"):
    """Writes the views that have edges into a new folder; returns the options that name them."""
    folder.mkdir()
    options = []
    for name, edges in views.items():
        if edges:
            path = folder / f"{name}.tsv"
            path.write_text("".join("\t".join(edge) + "\n" for edge in edges), encoding="utf-8")
            options += [option, f"{name}={path}"]
    return options


class Cost(NamedTuple):
    """What a command took: processor time, since wall time depends on what else runs; wall time; and its largest memory, in bytes."""
    cpu: float
    wall: float
    memory: int


# Starts a command and prints what it took. In a process of its own: the memory of a command begins with that of the process that starts it.
STARTER = """
import os, sys, time
began = time.monotonic()
_, status, used = os.wait4(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ), 0)
print(used.ru_utime + used.ru_stime, time.monotonic() - began, 1024 * used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


class Manyview:
    def __init__(self, binary, threads):
        self.binary, self.threads = binary, threads

    def __call__(self, *words):
        command = [sys.executable, "-S", "-c", STARTER, self.binary, *map(str, words), "-q", "--threads", str(self.threads)]
        found = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout.split()
        return Cost(float(found[-3]), float(found[-2]), int(found[-1]))


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
    nodes = nodes_of(views)
    chosen = set(random.Random(f"{seed} {share}").sample(nodes, max(1, round(share * len(nodes)))))
    rest, given = taken_out(views, chosen)
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        manyview("embed", *write(place / "all", views), "--seed", seed, "-o", place / "whole")
        manyview("embed", *write(place / "rest", rest), "--seed", seed, "--save-model", "-o", place / "model")
        manyview("fold-in", place / "model", *write(place / "new", given), "-o", place / "folded", "--only-new")
        whole_ids, whole = vectors(place / "whole")
        ids, known = vectors(place / "model")
        new, folded = vectors(place / "folded")
    at = {node: row for row, node in enumerate(whole_ids)}
    train = [row for row, node in enumerate(ids) if node in labels]
    test = [row for row, node in enumerate(new) if node in labels]
    if not test:
        return None
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
    differences = [scores[0] - scores[1], scores[0] - scores[2]]
    return [*scores, *differences, *near, len(test)]


def quality(manyview, folder, shares, seeds):
    """Prints a line per share. The differences are those of single seeds, whose spread is smaller than that of the scores."""
    views, labels = read_views(folder), read_labels(folder / "labels.tsv")
    for share in shares:
        trials = [trial(manyview, views, labels, share, seed) for seed in range(seeds)]
        trials = np.array([found for found in trials if found])
        mean, spread = trials.mean(axis=0), trials.std(axis=0, ddof=1 if len(trials) > 1 else 0)
        f1 = " | ".join(f"{mean[at]:.1f} +- {spread[at]:.1f}" for at in range(3))
        apart = " | ".join(f"{mean[at]:+.1f} +- {spread[at]:.1f}" for at in (3, 4))
        print(f"| {folder.name} | {100 * share:.0f} % | {mean[7]:.0f} | {f1} | {apart} | {mean[5]:.2f} | {mean[6]:.2f} | {len(trials)} |", flush=True)


def one_in_python(model, views, repeats=20):
    """The median milliseconds of one node through Python, after a first call that prepares the model; None without the package or pandas."""
    try:
        import manyview
        import pandas
    except ImportError:
        return None
    loaded = manyview.MNMF.load(str(model))

    def table(edges):
        columns = {"source": [edge[0] for edge in edges], "target": [edge[1] for edge in edges]}
        weights = {"weight": [float(edge[2]) for edge in edges]} if len(edges[0]) > 2 else {}
        return pandas.DataFrame({**columns, **weights})

    edges = {name: table(of_view) for name, of_view in views.items() if of_view}
    times = []
    # A few edges look odd as a network of their own, which is said of those of a single node too.
    warnings.simplefilter("ignore")
    for _ in range(repeats + 1):
        began = time.monotonic()
        loaded.fold_in(edges)
        times.append(1000 * (time.monotonic() - began))
    return sorted(times[1:])[repeats // 2]


def speed(manyview, folder, count, repeats):
    views = read_views(folder)
    nodes = nodes_of(views)
    chosen = random.Random("speed").sample(nodes, min(count, len(nodes) // 2))
    rest, given = taken_out(views, set(chosen))
    known = set(nodes) - set(chosen)
    # A node of median degree among the new ones, with its edges to nodes of the model.
    of_node = {node: {name: [] for name in views} for node in chosen}
    for name, edges in given.items():
        for edge in edges:
            for new, other in (edge[:2], edge[1::-1]):
                if new in of_node and other in known:
                    of_node[new][name].append(edge)
    degrees = sorted((sum(map(len, of_node[node].values())), node) for node in chosen)
    single = of_node[degrees[len(degrees) // 2][1]]
    edges = [(name, at) for name, of_view in rest.items() for at in range(len(of_view))]
    gone = set(random.Random("edges").sample(edges, max(1, round(len(edges) / 1000))))
    gone = {name: [edge for at, edge in enumerate(of_view) if (name, at) in gone] for name, of_view in rest.items()}
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        model = place / "model"
        manyview("embed", *write(place / "rest", rest), "--save-model", "-o", model)
        size = (model / "model.bin").stat().st_size
        commands = {
            "refit": ["embed", *write(place / "all", views)],
            "fold-in": ["fold-in", model, *write(place / "new", given), "--only-new"],
            "one": ["fold-in", model, *write(place / "one", single), "--only-new"],
            "update": ["update", model, *write(place / "gone", gone, "--remove")],
        }
        costs = {name: [] for name in commands}
        for _ in range(repeats):
            for name, words in commands.items():
                costs[name].append(manyview(*words, "-o", place / f"out-{name}", "--force"))
        best = {name: Cost(*map(min, zip(*found))) for name, found in costs.items()}
        in_python = one_in_python(model, single)
    refit = best["refit"]
    print(f"{folder.name}: {len(nodes):,} nodes, {len(chosen):,} of them new; model.bin has {size / 1e6:.1f} MB; {manyview.threads} threads, "
          f"best of {repeats}. A ratio is the refit divided by the command.\n")
    print("| command | processor s | ratio | wall s | ratio | memory MB | aim |\n|---|---|---|---|---|---|---|")
    lines = {
        "refit": (f"`embed` of all {len(nodes):,} nodes", ""),
        "fold-in": (f"`fold-in` of {len(chosen):,} nodes", f"50 x; at most {1.2 * size / 1e6:.0f} MB"),
        "one": ("`fold-in` of one node", ""),
        "update": (f"`update`, {sum(map(len, gone.values()))} edges go", "10 x"),
    }
    for name, (what, aim) in lines.items():
        cost = best[name]
        print(f"| {what} | {cost.cpu:.2f} | {refit.cpu / cost.cpu:.1f} | {cost.wall:.2f} | {refit.wall / cost.wall:.1f} | {cost.memory / 1e6:.0f} | {aim} |")
    more = best["fold-in"].wall - best["one"].wall
    rate = f"{len(chosen) / more:,.0f}" if more > 0 else "not measured, too few to tell from the start"
    print(f"\nNew nodes a second, without the start: {rate}.")
    print("One node through Python: " + ("not measured, as the package or pandas is not installed." if in_python is None else f"{in_python:.1f} ms (aim: 10 ms)."))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="+", type=Path)
    parser.add_argument("--binary", default="target/release/manyview")
    parser.add_argument("--shares", default="0.01,0.1,0.3")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--speed", action="store_true", help="measure times and memory instead of scores")
    parser.add_argument("--nodes", type=int, default=1000, help="how many nodes --speed folds in")
    parser.add_argument("--repeats", type=int, default=3, help="how often --speed runs each command")
    args = parser.parse_args()
    manyview = Manyview(args.binary, args.threads)
    if args.speed:
        for folder in args.networks:
            speed(manyview, folder, args.nodes, args.repeats)
        return
    if np is None:
        sys.exit("this needs NumPy and scikit-learn: python3 -m pip install numpy scikit-learn")
    print("| network | taken out | labeled | folded in | refit | neighbors' mean | folded - refit | folded - mean | cosine | of the rest | seeds |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for folder in args.networks:
        quality(manyview, folder, list(map(float, args.shares.split(","))), args.seeds)


if __name__ == "__main__":
    main()
