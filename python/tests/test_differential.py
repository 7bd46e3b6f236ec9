"""A thousand random networks through proximity and one stage, against formulas written here, in f64 and dense.

Weights span ten orders of magnitude; there are isolated and absent nodes, repeated edges, loops, directed views, and nodes
without out-edges. No difference beyond the tolerance is accepted.
"""

import manyview
import numpy as np
import pytest
import scipy.sparse as sp

NETWORKS = 1000
#: Networks of one test, so that a failure names a small range.
BATCH = 100


def random_view(rng, nodes):
    """A matrix in coordinates: repeated edges and loops are left in, some nodes have no edges."""
    edges = int(rng.integers(1, 4 * nodes))
    present = rng.permutation(nodes)[: int(rng.integers(2, nodes + 1))]
    ends = rng.choice(present, (edges, 2))
    ends[0] = present[:2]
    weights = 10.0 ** rng.uniform(-5, 5, edges) if rng.random() < 0.7 else rng.integers(1, 4, edges).astype(float)
    return sp.coo_matrix((weights, ends.T), shape=(nodes, nodes))


def expected_walk(view, directed, window, negative):
    """``X = vol / (b T) (P + ... + P^T) D^-1``, dense."""
    weights = np.zeros(view.shape)
    np.add.at(weights, (view.row, view.col), view.data)
    if not directed:
        weights = weights + weights.T
    np.fill_diagonal(weights, 0.0)
    degrees = weights.sum(axis=1)
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    step = inverse[:, None] * weights
    power, total = np.eye(len(weights)), np.zeros_like(weights)
    for _ in range(window):
        power = power @ step
        total += power
    return degrees.sum() / (negative * window) * total * inverse[None, :]


# Random weights over many orders of magnitude: some nodes have most of the weight.
@pytest.mark.filterwarnings("ignore:.* of the weight:manyview.ManyviewWarning")
@pytest.mark.parametrize("first", range(0, NETWORKS, BATCH))
def test_proximity_of_random_networks_is_the_formulas(first):
    compared = 0
    for case in range(first, first + BATCH):
        rng = np.random.default_rng(case)
        nodes = int(rng.integers(2, 40))
        view, directed = random_view(rng, nodes), bool(rng.random() < 0.4)
        window, negative = int(rng.integers(1, 11)), float(10.0 ** rng.uniform(-2, 1))
        x = expected_walk(view, directed, window, negative)
        if not (x > 1 + 1e-6).any():
            with pytest.raises(ValueError, match="negative"):
                manyview.proximity(view, window, negative, directed=directed)
            continue
        for dtype, tolerance in [(np.float64, 1e-9), (np.float32, 2e-5)]:
            found = manyview.proximity(view, window, negative, directed=directed, dtype=dtype)
            assert found.dtype == dtype
            expected = np.log(np.maximum(x, 1.0))
            apart = np.abs(found.toarray() - expected)
            # log(X) near X = 1 has the absolute error of X; entries there may be kept or dropped.
            assert (apart <= tolerance * (1.0 + expected)).all(), f"network {case}, {dtype.__name__}: {apart.max()}"
        compared += 1
    assert compared > BATCH // 2


def weights_of(errors, gamma):
    logs = np.log(errors) / (1.0 - gamma)
    shares = np.exp(logs - logs.max())
    return shares / shares.sum()


def update(solver, x, numerators, gram):
    if solver == "mu":
        denominators = x @ gram
        return np.divide(x * numerators, denominators, out=np.zeros_like(x), where=denominators > 0)
    x = x.copy()
    for column in range(x.shape[1]):
        if gram[column, column] > 0:
            gradient = x @ gram[:, column] - numerators[:, column]
            x[:, column] = np.maximum(x[:, column] - gradient / gram[column, column], 0.0)
    return x


def expected_stage(matrices, u, v, gamma, solver, iterations):
    """U, every V_k, then the weights, as in the paper."""
    alpha = np.full(len(matrices), 1.0 / len(matrices))
    for _ in range(iterations):
        power = np.exp(gamma * np.log(alpha / alpha.max()))
        numerators = sum(p * matrix @ v_k.T for p, matrix, v_k in zip(power, matrices, v))
        u = update(solver, u, numerators, sum(p * v_k @ v_k.T for p, v_k in zip(power, v)))
        v = [update(solver, v_k.T, matrix.T @ u, u.T @ u).T for matrix, v_k in zip(matrices, v)]
        errors = np.array([np.sum((matrix - u @ v_k) ** 2) for matrix, v_k in zip(matrices, v)])
        floor = 1e-12 * np.array([np.sum(matrix**2) for matrix in matrices])
        alpha = weights_of(np.maximum(errors, floor), gamma)
    return u, v, alpha, errors


@pytest.mark.parametrize("first", range(0, NETWORKS, BATCH))
def test_one_stage_on_random_networks_is_the_formulas(first):
    compared = 0
    for case in range(first, first + BATCH):
        rng = np.random.default_rng(case)
        nodes, views, width = int(rng.integers(3, 30)), int(rng.integers(1, 4)), int(rng.integers(1, 7))
        walks = [expected_walk(random_view(rng, nodes), False, 3, 1.0) for _ in range(views)]
        matrices = [np.log(np.maximum(walk, 1.0)) for walk in walks]
        if any(np.sum(matrix**2) < 1e-6 for matrix in matrices):
            continue
        gamma = float(rng.choice([0.1, 0.5, 2.0, 5.0, 20.0, 100.0]))
        solver, iterations = str(rng.choice(["mu", "hals"])), int(rng.integers(1, 9))
        start = rng.random((nodes, width)), [rng.random((width, nodes)) for _ in range(views)]
        u, v, alpha, errors = expected_stage(matrices, *start, gamma, solver, iterations)
        norms = np.array([np.sum(matrix**2) for matrix in matrices])
        # An exact fit makes the weights a quotient of rounding errors.
        exact = (errors < 1e-6 * norms).any()
        for dtype, tolerance in [(np.float64, 1e-7), (np.float32, 2e-2)]:
            found = manyview.factorize(
                [matrix.astype(dtype) for matrix in matrices],
                gamma=gamma, solver=solver, init=start, max_iter=iterations,
            )
            words = f"network {case}: {solver}, {views} views, width {width}, gamma {gamma}, {dtype.__name__}"
            assert np.isfinite(found.u).all() and all(np.isfinite(v_k).all() for v_k in found.v), words
            if exact or found.n_iter < iterations:
                continue
            np.testing.assert_allclose(found.errors[-1] / norms, errors / norms, rtol=0, atol=tolerance, err_msg=words)
            if dtype == np.float64:
                scale = np.abs(u).max()
                np.testing.assert_allclose(found.u, u, rtol=0, atol=tolerance * scale, err_msg=words)
                np.testing.assert_allclose(found.weights, alpha, rtol=0, atol=1e-5, err_msg=words)
                compared += 1
    assert compared > BATCH // 2
