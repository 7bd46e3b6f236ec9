"""Output files read with NumPy and SciPy, and the quality of the vectors measured with scikit-learn."""
import json
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, normalized_mutual_info_score

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "target/release/manyview"
DIGITS = ROOT / "data/digits"


def manyview(*words):
    subprocess.run([BINARY, *map(str, words)], check=True, stdin=subprocess.DEVNULL)


def read_edges(path, index):
    edges = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    rows, cols = ([index[edge[end]] for edge in edges] for end in (0, 1))
    weights = [float(edge[2]) if len(edge) > 2 else 1.0 for edge in edges]
    half = sp.coo_array((weights, (rows, cols)), shape=(len(index), len(index)))
    return (half + half.T).tocsr()


def plain_proximity(adjacency, window, negative):
    """The proximity matrix computed from its formula with dense powers."""
    adjacency = adjacency.toarray()
    degrees = adjacency.sum(axis=1)
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    walk = inverse[:, None] * adjacency
    power, total = walk, walk.copy()
    for _ in range(window - 1):
        power = power @ walk
        total += power
    nearness = degrees.sum() / (negative * window) * total * inverse
    return np.log(np.maximum(nearness, 1.0))


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.network = self.folder / "network"
        manyview("generate", "-o", self.network, "--nodes", 400, "--absent", 0.1, "--weighted", "--quiet")

    def test_npz_is_the_proximity_that_numpy_computes(self):
        for window, negative in ((5, 1), (5, 5), (1, 1)):
            out = self.folder / f"proximity-{window}-{negative}"
            manyview("proximity", self.network, "-o", out, "--window", window, "--negative", negative, "--quiet")
            nodes = (out / "nodes.txt").read_text(encoding="utf-8").splitlines()
            index = {node: row for row, node in enumerate(nodes)}
            for view in ("view1", "view2", "view3"):
                ours = sp.load_npz(out / f"{view}.npz")
                self.assertEqual((ours.format, ours.dtype, ours.shape), ("csr", np.float32, (400, 400)))
                self.assertTrue(ours.has_canonical_format)
                expected = plain_proximity(read_edges(self.network / f"{view}.tsv", index), window, negative)
                np.testing.assert_allclose(ours.toarray(), expected, atol=2e-5)
                self.assertAlmostEqual(ours.nnz, np.count_nonzero(expected > 1e-6), delta=5)

    def test_all_formats_have_the_same_vectors(self):
        out = self.folder / "result"
        formats = "tsv,csv,word2vec"
        manyview("embed", self.network, "-o", out, "--dim", 16, "--stages", 2, "--format", formats, "--quiet")
        z = np.load(out / "embedding.npy")
        nodes = (out / "nodes.txt").read_text(encoding="utf-8").splitlines()
        self.assertEqual((z.shape, z.dtype, len(nodes)), ((400, 16), np.float32, 400))
        self.assertTrue(z.flags.c_contiguous)
        for name, separator in (("embedding.tsv", "\t"), ("embedding.csv", ",")):
            header, *lines = (out / name).read_text(encoding="utf-8").splitlines()
            self.assertEqual(len(header.split(separator)), 17)
            self.assertEqual([line.split(separator)[0] for line in lines], nodes)
            numbers = np.array([line.split(separator)[1:] for line in lines], dtype=np.float32)
            np.testing.assert_array_equal(numbers, z)
        (word2vec,) = (path for path in out.iterdir() if "word2vec" in path.name or "w2v" in path.name)
        first, *lines = word2vec.read_text(encoding="utf-8").splitlines()
        self.assertEqual(first, "400 16")
        np.testing.assert_array_equal(np.array([line.split(" ")[1:] for line in lines], dtype=np.float32), z)

    def test_run_json_records_the_run(self):
        out = self.folder / "result"
        manyview("embed", self.network, "-o", out, "--dim", 16, "--stages", 2, "--quiet")
        run = json.loads((out / "run.json").read_text(encoding="utf-8"))
        self.assertEqual(run["network"]["nodes"], 400)
        self.assertEqual([view["name"] for view in run["network"]["views"]], ["view1", "view2", "view3"])
        self.assertEqual(run["config"]["consensus_stages"], 1)
        self.assertAlmostEqual(sum(run["stages"][0]["weights"].values()), 1.0)
        self.assertGreater(run["seconds"]["total"], 0)


class Quality(unittest.TestCase):
    """Digits with default settings, scored with scikit-learn."""

    def test_scores_of_the_digits(self):
        labels = dict(line.split("\t") for line in (DIGITS / "labels.tsv").read_text().splitlines())
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(5):
                out = pathlib.Path(folder) / str(seed)
                manyview("embed", DIGITS, "-o", out, "--seed", seed, "--quiet")
                z = np.load(out / "embedding.npy")
                y = np.array([int(labels[node]) for node in (out / "nodes.txt").read_text().splitlines()])
                # NMI of single runs varies (0.88 to 0.96 on one embedding), so the mean of five is used.
                found = [KMeans(10, n_init=10, random_state=state).fit_predict(z) for state in range(5)]
                nmi = np.mean([normalized_mutual_info_score(y, clusters) for clusters in found])
                order = np.random.default_rng(seed).permutation(len(y))
                train, test = np.split(order, 2)
                predicted = LogisticRegression(max_iter=500).fit(z[train], y[train]).predict(z[test])
                f1 = f1_score(y[test], predicted, average="micro")
                print(f"seed {seed}: k-means NMI {nmi:.3f}, logistic regression micro-F1 {f1:.4f}")
                self.assertGreaterEqual(nmi, 0.90)
                self.assertGreaterEqual(f1, 0.98)


if __name__ == "__main__":
    unittest.main()
