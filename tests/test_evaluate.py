"""Compares the evaluation with scikit-learn: scores, logistic regression, k-means."""
import json
import pathlib
import subprocess
import tempfile
import unittest
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    adjusted_mutual_info_score,
    f1_score,
    normalized_mutual_info_score,
)
from sklearn.preprocessing import StandardScaler, normalize

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "target/release/manyview"
DIGITS = ROOT / "data/digits"


def manyview(*words):
    done = subprocess.run([BINARY, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"manyview {' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def evaluate(*words):
    return json.loads(manyview("evaluate", *words, "--json", "--quiet"))


def objective(x, y, model, c, outputs):
    """C x loss + penalty in double precision, from scikit-learn's coefficients."""
    z = x.astype(np.float64) @ model.coef_.T.astype(np.float64) + model.intercept_
    if outputs == 1:
        losses = np.logaddexp(0, z[:, 0]) - y * z[:, 0]
    else:
        losses = np.logaddexp.reduce(z, axis=1) - z[np.arange(len(y)), y]
    return c * losses.sum() + 0.5 * (model.coef_.astype(np.float64) ** 2).sum()


def fitted(x, y, c):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LogisticRegression(C=c, tol=1e-9, max_iter=20000).fit(x.astype(np.float64), y)


class Case:
    """Vectors and labels, on disk and in memory."""

    def __init__(self, folder, x, sets):
        self.x, self.sets = x.astype(np.float32), sets
        self.nodes = [f"n{row}" for row in range(len(x))]
        self.row = {node: row for row, node in enumerate(self.nodes)}
        self.names = sorted({label for labels in sets for label in labels})
        self.folder, self.labels = folder / "vectors", folder / "labels.tsv"
        self.folder.mkdir()
        np.save(self.folder / "embedding.npy", self.x)
        (self.folder / "nodes.txt").write_text("".join(f"{node}\n" for node in self.nodes), encoding="utf-8")
        lines = ["\t".join([node, *labels]) + "\n" for node, labels in zip(self.nodes, sets) if labels]
        self.labels.write_text("".join(lines), encoding="utf-8")
        self.predictions = folder / "predictions.jsonl"

    def classify(self, *words):
        found = evaluate("classify", self.folder, "--labels", self.labels, "--predictions", self.predictions, *words)
        said = {}
        for line in self.predictions.read_text(encoding="utf-8").splitlines():
            line = json.loads(line)
            said.setdefault((line["train"], line["repeat"]), []).append(line)
        for share in found["shares"]:
            for run in share["runs"]:
                yield run, said[share["train"], run["repeat"]]

    def split(self, said):
        test = [self.row[line["node"]] for line in said]
        tested = set(test)
        train = [row for row, labels in enumerate(self.sets) if labels and row not in tested]
        return train, test


class Evaluation(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def blobs(self, nodes, dim, classes, seed=0, spread=1.5, unlabeled=0):
        random = np.random.default_rng(seed)
        # Unequal classes, columns of different scales, far from the origin: a difficult fit.
        of = random.choice(classes, nodes, p=np.arange(1, classes + 1) / (classes * (classes + 1) / 2))
        centers = random.normal(size=(classes, dim))
        x = (centers[of] + spread * random.normal(size=(nodes, dim))) * np.geomspace(0.1, 3, dim) + 1
        sets = [[f"c{label}"] for label in of]
        for row in random.choice(nodes, unlabeled, replace=False):
            sets[row] = []
        return Case(self.folder, x, sets)

    def check_one_label(self, case, *words, prepare=lambda train, x: x):
        y = np.array([case.names.index(labels[0]) if labels else -1 for labels in case.sets])
        for run, said in case.classify(*words):
            train, test = case.split(said)
            self.assertEqual((len(train), len(test)), (run["train_nodes"], run["test_nodes"]))
            x = prepare(train, case.x)
            outputs = 1 if len(case.names) == 2 else len(case.names)
            model = fitted(x[train], y[train], run["c"])
            self.assertTrue(run["converged"])
            # Our loss may be lower, since scikit-learn ends when its line search fails.
            self.assertLess(abs(run["loss"] / objective(x[train], y[train], model, run["c"], outputs) - 1), 1e-6)
            ours = np.array([case.names.index(line["predicted"][0]) for line in said])
            scores = model.decision_function(x[test].astype(np.float64))
            if outputs == 1:
                margin = np.abs(scores)
            else:
                margin = scores.max(axis=1) - np.sort(scores, axis=1)[:, -2]
            theirs = model.predict(x[test].astype(np.float64))
            self.assertTrue(np.all((ours == theirs) | (margin < 1e-3)), margin[ours != theirs])
            self.assertLess(abs(run["micro_f1"] - f1_score(y[test], ours, average="micro")), 1e-12)
            macro = f1_score(y[test], ours, average="macro", zero_division=0)
            self.assertLess(abs(run["macro_f1"] - macro), 1e-12)

    def test_one_label(self):
        case = self.blobs(600, 20, 5, unlabeled=50)
        self.check_one_label(case, "--repeats", 2)
        for c in (0.01, 100):
            self.check_one_label(case, "--repeats", 1, "--train", 0.5, "--c", c)

    def test_two_classes(self):
        self.check_one_label(self.blobs(300, 8, 2, seed=1), "--repeats", 2)

    def test_l2norm_and_standardize(self):
        case = self.blobs(400, 10, 4, seed=2)
        words = ("--repeats", 1, "--train", "0.3,0.7")
        self.check_one_label(case, *words, "--l2norm", prepare=lambda _, x: normalize(x.astype(np.float64)))
        scale = lambda train, x: StandardScaler().fit(x[train].astype(np.float64)).transform(x.astype(np.float64))
        self.check_one_label(case, *words, "--standardize", prepare=scale)

    def test_more_columns_than_nodes(self):
        self.check_one_label(self.blobs(60, 150, 3, seed=3), "--repeats", 2, "--c", 10)

    def test_auto_is_one_of_the_grid(self):
        case = self.blobs(300, 10, 3, seed=4, spread=3.0)
        self.check_one_label(case, "--repeats", 2, "--train", 0.5, "--c", "auto")
        runs = [run for run, _ in case.classify("--repeats", 3, "--train", 0.5, "--c", "auto")]
        self.assertTrue(all(run["c"] in (0.01, 0.1, 1, 10, 100) for run in runs))

    def test_several_labels(self):
        random = np.random.default_rng(5)
        x = random.normal(size=(400, 12))
        chances = 1 / (1 + np.exp(2 - 1.5 * x[:, :6]))
        sets = [[f"l{label}" for label in np.flatnonzero(row)] for row in random.random((400, 6)) < chances]
        case = Case(self.folder, x, sets)
        has = np.array([[label in labels for label in case.names] for labels in sets]).astype(int)
        for run, said in case.classify("--repeats", 2):
            train, test = case.split(said)
            models = [fitted(x.astype(np.float32)[train], has[train, label], 1) for label in range(6)]
            losses = (objective(case.x[train], has[train, label], model, 1, 1) for label, model in enumerate(models))
            self.assertLess(abs(run["loss"] / sum(losses) - 1), 1e-6)
            scores = np.column_stack([model.decision_function(case.x[test].astype(np.float64)) for model in models])
            ours = np.array([[label in line["predicted"] for label in case.names] for line in said]).astype(int)
            self.assertTrue(np.all((ours == (scores > 0)) | (np.abs(scores) < 1e-3)))
            for average in ("micro", "macro"):
                f1 = f1_score(has[test], ours, average=average, zero_division=0)
                self.assertLess(abs(run[f"{average}_f1"] - f1), 1e-12)
            known = np.zeros_like(ours)
            for row, truth in enumerate(has[test]):
                known[row, np.argsort(-scores[row], kind="stable")[: truth.sum()]] = 1
            self.assertLess(abs(run["known"]["micro_f1"] - f1_score(has[test], known, average="micro")), 1e-12)
            self.assertLess(abs(run["known"]["macro_f1"] - f1_score(has[test], known, average="macro")), 1e-12)

    def test_clusters_and_their_scores(self):
        case = self.blobs(500, 10, 6, seed=6, unlabeled=40)
        for k, average in ((6, "arithmetic"), (3, "geometric"), (15, "min"), (40, "max"), (1, "arithmetic")):
            file = self.folder / f"assignments-{k}"
            words = ("--k", k, "--average", average, "--repeats", 3, "--assignments", file)
            found = evaluate("cluster", case.folder, "--labels", case.labels, *words)
            rows = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]
            self.assertEqual(len(rows), 460)
            x = case.x[[case.row[row[0]] for row in rows]].astype(np.float64)
            truth = [row[1] for row in rows]
            for at, run in enumerate(found["runs"]):
                clusters = np.array([int(row[2 + at]) for row in rows])
                nmi = normalized_mutual_info_score(truth, clusters, average_method=average)
                ami = adjusted_mutual_info_score(truth, clusters, average_method=average)
                self.assertLess(abs(run["nmi"] - nmi), 1e-12)
                self.assertLess(abs(run["ami"] - ami), 1e-12)
                means = {cluster: x[clusters == cluster].mean(axis=0) for cluster in np.unique(clusters)}
                inertia = sum(((x[clusters == cluster] - mean) ** 2).sum() for cluster, mean in means.items())
                self.assertLess(abs(run["inertia"] / inertia - 1), 1e-9)

    def test_kmeans_is_no_worse_than_theirs(self):
        for seed, (nodes, dim, classes, spread) in enumerate(((600, 8, 8, 0.7), (500, 3, 12, 2.0))):
            with tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                case = self.blobs(nodes, dim, classes, seed=seed, spread=spread)
                words = ("--k", classes, "--repeats", 20, "--restarts", 10)
                found = evaluate("cluster", case.folder, "--labels", case.labels, *words)
                ours = np.array([run["inertia"] for run in found["runs"]])
                x = case.x.astype(np.float64)
                theirs = np.array([KMeans(classes, n_init=10, random_state=at).fit(x).inertia_ for at in range(20)])
                print(f"k-means, 20 seeds: mean inertia {ours.mean():.4f}, scikit-learn {theirs.mean():.4f}; "
                      f"best {ours.min():.4f} and {theirs.min():.4f}")
                # Both vary with the seed; 0.05% is within that variation.
                self.assertLessEqual(ours.mean(), theirs.mean() * 1.0005)
                self.assertLessEqual(ours.min(), theirs.min() * 1.0005)

    def test_digits(self):
        out = self.folder / "digits"
        manyview("embed", DIGITS, "-o", out, "--quiet")
        labels = DIGITS / "labels.tsv"
        found = evaluate("classify", out, "--labels", labels)
        for share in found["shares"]:
            self.assertGreaterEqual(share["micro_f1"]["mean"], 0.975)
        self.assertGreaterEqual(evaluate("cluster", out, "--labels", labels)["nmi"]["mean"], 0.90)

    def test_links_tell_edges_from_others(self):
        found = evaluate("links", DIGITS, "--repeats", 1, "--dim", 64)
        self.assertEqual(len(found["views"]), 6)
        for view in found["views"]:
            self.assertGreaterEqual(view["auc"]["mean"], 0.9, view["view"])
            self.assertIsNone(view["auc"]["std"])


if __name__ == "__main__":
    unittest.main()
