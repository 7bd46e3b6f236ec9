"""The numbers of the oracle, of scikit-learn and of the command line."""

import manyview
import numpy as np
import pytest
import scipy.sparse as sp


def assert_close(found, expected, tolerance=1e-9):
    expected = np.asarray(expected)
    assert np.shape(found) == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("key", ["window=5,negative=5", "window=5,negative=1", "window=1,negative=1"])
def test_proximity_is_the_oracles(oracle, tiny_views, key):
    window, negative = (int(part.split("=")[1]) for part in key.split(","))
    for view, expected in zip(tiny_views.values(), oracle["proximity"][key]):
        found = manyview.proximity(view, window=window, negative=negative)
        assert found.dtype == np.float64
        assert_close(found.toarray(), expected)
        single = manyview.proximity(view.astype(np.float32), window=window, negative=negative)
        assert single.dtype == np.float32
        assert_close(single.toarray(), expected, 1e-5)


@pytest.fixture(scope="session")
def tiny_matrices(oracle):
    return [np.array(matrix) for matrix in oracle["proximity"][oracle["factorised"]]]


@pytest.fixture(scope="session")
def tiny_start(oracle):
    return np.array(oracle["init"]["u"]), [np.array(v) for v in oracle["init"]["v"]]


def test_consensus_stages_are_the_oracles(oracle, tiny_matrices, tiny_start):
    for case in oracle["consensus"]:
        found = manyview.factorize(
            tiny_matrices, gamma=case["gamma"], solver=case["solver"], init=tiny_start, max_iter=case["iterations"]
        )
        assert found.u.dtype == np.float64 and found.n_iter == case["iterations"]
        assert_close(found.u, case["u"])
        for v, expected in zip(found.v, case["v"]):
            assert_close(v, expected)
        assert_close(found.weights, case["weights"])
        assert_close(found.errors[-1], case["errors"])
        assert_close(found.objective, case["objective"])


def test_unique_stages_are_the_oracles(oracle, tiny_matrices, tiny_start):
    u, v = tiny_start
    for case in oracle["unique"]:
        view = case["view"]
        found = manyview.factorize(
            sp.csr_matrix(tiny_matrices[view]), solver=case["solver"], init=(u, [v[view]]), max_iter=case["iterations"]
        )
        assert_close(found.u, case["u"])
        assert_close(found.v[0], case["v"])
        assert_close(found.errors[-1, 0], case["error"])


def test_single_precision_stays_single_and_close(oracle, tiny_matrices, tiny_start):
    case = oracle["consensus"][0]
    found = manyview.factorize(
        [matrix.astype(np.float32) for matrix in tiny_matrices],
        gamma=case["gamma"],
        solver=case["solver"],
        init=tiny_start,
        max_iter=case["iterations"],
    )
    assert found.u.dtype == np.float32
    assert_close(found.u, case["u"], 1e-4)


@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_hals_is_scikit_learns_coordinate_descent(tiny_matrices, tiny_start, iterations):
    from sklearn.decomposition import non_negative_factorization

    matrix, (u, v) = tiny_matrices[0], tiny_start
    w, h, _ = non_negative_factorization(
        matrix,
        W=u.copy(),
        H=v[0].copy(),
        n_components=u.shape[1],
        init="custom",
        solver="cd",
        shuffle=False,
        max_iter=iterations,
        tol=0,
    )
    found = manyview.factorize(matrix, solver="hals", init=(u, [v[0]]), max_iter=iterations)
    assert_close(found.u, w)
    assert_close(found.v[0], h)


def test_a_random_start_follows_from_the_seed(tiny_matrices):
    def run(seed, threads):
        return manyview.factorize(tiny_matrices, dim=5, solver="hals", seed=seed, threads=threads).u

    assert (run(1, 1) == run(1, 3)).all()
    assert (run(1, 1) != run(2, 1)).any()


def test_same_bytes_as_the_command_line(tmp_path, command, small):
    command("generate", "-o", tmp_path / "net", "--nodes", 150, "--communities", 4, "-q")
    flags = ["--dim", 16, "--stages", 4, "-q"]
    command("embed", tmp_path / "net", "-o", tmp_path / "out", *flags)
    expected = np.load(tmp_path / "out" / "embedding.npy")
    by_path = small.fit_transform(tmp_path / "net")
    assert by_path.tobytes() == expected.tobytes()
    made = manyview.generate(nodes=150, communities=4)
    assert small.fit_transform(made.views).tobytes() == expected.tobytes()
    assert list(small.nodes_) == list(range(150))


def test_an_edge_table_gives_the_bytes_of_the_same_file(tmp_path, command, small):
    import pandas as pd

    made = manyview.generate(nodes=100, communities=4, weighted=True, seed=3)
    lines = []
    for name, matrix in made.views.items():
        half = sp.triu(matrix).tocoo()
        lines.append(pd.DataFrame({"source": half.row, "target": half.col, "relation": name, "weight": half.data}))
    table = pd.concat(lines).sample(frac=1, random_state=0)
    for end in ("source", "target"):
        table[end] = "n" + table[end].astype(str)
    table.to_csv(tmp_path / "edges.csv", index=False)
    command(
        "embed",
        tmp_path / "edges.csv",
        "--relation",
        "relation",
        "--dim",
        16,
        "--stages",
        4,
        "-o",
        tmp_path / "out",
        "-q",
    )
    found = small.fit_transform(pd.read_csv(tmp_path / "edges.csv"))
    assert found.tobytes() == np.load(tmp_path / "out" / "embedding.npy").tobytes()
    assert list(small.nodes_) == (tmp_path / "out" / "nodes.txt").read_text().split()


def test_sampled_proximity_follows_from_the_seed_and_tends_to_the_exact_one(planted):
    view = next(iter(planted.views.values()))

    def near(**how):
        return manyview.proximity(view, **how).toarray()

    sampled = near(walks=100, threads=1)
    assert np.array_equal(near(walks=100, source="sampled", threads=3), sampled)
    assert not np.array_equal(near(walks=100, seed=1), sampled)

    def distance(other):
        return np.linalg.norm(other - near())

    assert distance(near(walks=1600)) < distance(sampled) < distance(near(walks=10))
    with pytest.raises(ValueError, match='proximity="most"'):
        near(source="most")
    with pytest.raises(ValueError, match="has no walks"):
        near(source="exact", walks=5)


def test_a_fit_with_sampled_proximity_records_its_noise(planted):
    model = manyview.MNMF(dim=8, stages=2, walks=30).fit(planted.views)
    sampled = model.run_["network"]["views"][0]["sampled"]
    assert sampled["walks"] == 30 and 0 < sampled["relative_error"] < 2 and 0 < sampled["seen_once"] < 1
