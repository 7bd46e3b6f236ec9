"""Serves vectors and predictions for nodes that come after the training.

A scikit-learn pipeline is trained on a network, saved and loaded. Then nodes arrive, each with a few edges to known ones, and get a
vector, a prediction and their nearest nodes without a new run. Writes its files into the folder given, or into one that it removes.
"""

import csv
import pathlib
import sys
import tempfile
import time

import joblib
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline

import manyview

NEW = 60


def write_edges(folder: pathlib.Path) -> tuple[dict, dict, dict]:
    """Edge lists of known nodes and of those that come later, and the label of each node."""
    made = manyview.generate(nodes=600, views=2, communities=6, degree=12, noise=0.1, seed=3)
    known, later = {}, {}
    for name, matrix in made.views.items():
        known[name], later[name] = folder / f"{name}.csv", folder / f"{name}_new.csv"
        with open(known[name], "w", newline="") as old, open(later[name], "w", newline="") as new:
            files = csv.writer(old), csv.writer(new)
            for a, b in zip(*matrix.nonzero(), strict=True):
                if a < b:
                    files[int(b >= 600 - NEW)].writerow([f"user{a}", f"user{b}"])
    return known, later, {f"user{node}": label for node, label in enumerate(made.labels)}


def main(folder: pathlib.Path) -> None:
    known, later, label_of = write_edges(folder)

    # 1. Train: rows are in the order of the nodes of the network.
    network = manyview.read_network(known)
    labels = [label_of[node] for node in network.nodes]
    pipeline = make_pipeline(manyview.MNMF(dim=32, keep_model=True, threads=1), LogisticRegression())
    pipeline.fit(network, labels)

    # 2. Save the vectors with their model, and the classifier.
    pipeline[0].save(folder / "vectors")
    joblib.dump(pipeline[-1], folder / "classifier.joblib")

    # 3. Load both, in another process or on another machine, and index the vectors.
    model = manyview.MNMF.load(folder / "vectors")
    classifier = joblib.load(folder / "classifier.joblib")
    index = NearestNeighbors(n_neighbors=3, metric="cosine").fit(model.embedding_)

    # 4. New nodes come: all at once, or one by one.
    arrived = model.fold_in(later)
    right = np.mean([label_of[node] == label for node, label in zip(arrived.nodes, classifier.predict(arrived.vectors), strict=True)])
    print(f"{len(arrived.nodes)} new nodes, {100 * right:.1f}% of their labels predicted")
    with open(later["view1"], newline="") as file:
        first = [row for row in csv.reader(file) if row[1] == f"user{600 - NEW}"]
    with open(folder / "one.csv", "w", newline="") as file:
        csv.writer(file).writerows(first)
    began = time.perf_counter()
    one = model.fold_in({"view1": folder / "one.csv"})
    took = 1000 * (time.perf_counter() - began)
    _, near = index.kneighbors(one.vectors)
    print(f"{one.nodes[0]} in {took:.1f} ms; its nearest nodes: {', '.join(model.nodes_[near[0]])}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(pathlib.Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as place:
            main(pathlib.Path(place))
