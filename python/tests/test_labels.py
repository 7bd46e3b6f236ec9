"""Labels in the forms of pandas and scikit-learn."""

import manyview
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from manyview import evaluate

QUICK = {"train": 0.5, "repeats": 2}


@pytest.fixture(scope="module")
def named():
    """An embedding whose nodes have names, and their labels in row order."""
    made = manyview.generate(nodes=100, views=2, communities=4, seed=2)
    names = [f"n{node}" for node in range(100)]
    network = manyview.Network.from_matrices(made.views, names)
    z = manyview.embed(network, "netmf-sum", dim=8)
    return z, [f"c{label}" for label in made.labels.tolist()]


def shares(z, labels):
    return evaluate.classify(z, labels, **QUICK)["shares"]


def test_a_series_is_looked_up_by_its_index(named):
    z, labels = named
    wanted = shares(z, labels)
    series = pd.Series(labels, index=z.nodes)
    turned = series.sample(frac=1, random_state=0)
    assert turned.index[0] != "n0"
    for given in (series, turned, turned.astype("category"), turned.astype("string"), turned.to_frame()):
        assert shares(z, given) == wanted
    assert shares(z.to_frame(), turned) == wanted
    # With rows in another order, splits are the same, and sums may differ in their last digits.
    shuffled = shares(z.to_frame().sample(frac=1, random_state=1), turned)
    assert shuffled[0]["micro_f1"] == wanted[0]["micro_f1"]
    assert shares(np.asarray(z), series) != wanted  # rows without ids have other splits
    assert evaluate.classify(z.vectors, turned, nodes=z.nodes, **QUICK)["shares"] == wanted
    wanted = evaluate.cluster(z, labels, repeats=2)["runs"]
    assert evaluate.cluster(z, turned, repeats=2)["runs"] == wanted
    assert evaluate.cluster(z.to_frame(), turned, repeats=2)["runs"] == wanted


def test_a_series_without_an_index_of_its_own_is_taken_in_order(named):
    z, labels = named
    wanted = shares(z, labels)
    assert shares(z, pd.Series(labels)) == wanted
    assert shares(z.to_frame(), pd.Series(labels)) == wanted
    # Rows of an array have no ids, so the index is ignored.
    of_rows = shares(np.asarray(z), labels)
    shuffled = pd.Series(labels, index=np.random.default_rng(0).permutation(100))
    assert shares(np.asarray(z), shuffled) == of_rows
    with pytest.raises(ValueError, match="got 99 labels for 100 vectors"):
        shares(np.asarray(z), shuffled[:99])


def test_numbers_as_ids_are_looked_up_too(planted, small):
    small.fit(planted.views)
    series = pd.Series(planted.labels)
    wanted = shares(small, series)
    assert shares(small, series.sample(frac=1, random_state=0)) == wanted
    assert evaluate.classify(small, series[:120], **QUICK)["labeled"] == 120
    found = evaluate.classify(small, series[150:].rename(lambda node: node + 10), **QUICK)
    assert (found["labeled"], found["unknown"]) == (40, 10)


def test_ids_that_are_no_nodes_are_counted(named, tmp_path):
    z, labels = named
    by_node = dict(zip(z.nodes.tolist(), labels, strict=True))
    some = {**dict(list(by_node.items())[10:]), "zzz": "c0", "zz": "c1", "z": None}
    (tmp_path / "labels.tsv").write_text("".join(f"{node}\t{label}\n" for node, label in some.items() if label))
    for given in (some, pd.Series(some), tmp_path / "labels.tsv"):
        for found in (evaluate.classify(z, given, **QUICK), evaluate.cluster(z, given, repeats=1)):
            assert (found["labeled"], found["unknown"]) == (90, 2)


def test_labels_of_other_nodes_get_a_sentence_with_examples(named, planted, small):
    z, labels = named
    for given in (dict(enumerate(labels)), pd.Series(labels, index=range(1, 101))):
        for judge in (evaluate.classify, evaluate.cluster):
            with pytest.raises(ValueError, match="none of the 100 ids with labels .* such as [01], .* such as 'n0'"):
                judge(z, given)
    small.fit(planted.views)
    texts = {str(node): label for node, label in enumerate(planted.labels)}
    with pytest.raises(ValueError, match="such as '0', and node ids are such as 0;"):
        evaluate.classify(small, texts)


def test_a_node_that_comes_twice_has_both_labels(named):
    z, labels = named
    series = pd.Series([*labels, "extra"], index=[*z.nodes, "n0"])
    found = evaluate.classify(z, series, **QUICK)
    assert found["multi_label"] and found["labeled"] == 100


def test_indicator_matrices_are_several_labels_a_node(named):
    z, labels = named
    sets = [{label, f"x{row % 2}"} for row, label in enumerate(labels)]
    names = sorted(set().union(*sets))
    matrix = np.array([[int(name in labels) for name in names] for labels in sets])
    numbers = [{str(names.index(name)) for name in labels} for labels in sets]
    wanted = evaluate.classify(z, numbers, **QUICK)
    assert wanted["multi_label"] and len(wanted["classes"]) == 6
    forms = [matrix, matrix.astype(bool), matrix.astype(float), matrix.tolist(), np.asfortranarray(matrix)]
    forms += [sp.csr_matrix(matrix), sp.csc_array(matrix), sp.lil_matrix(matrix), sp.coo_matrix(matrix.astype(bool))]
    for given in forms:
        found = evaluate.classify(z, given, **QUICK)
        assert (found["classes"], found["shares"]) == (wanted["classes"], wanted["shares"])
    frame = pd.DataFrame(matrix, columns=names, index=z.nodes).sample(frac=1, random_state=0)
    assert shares(z, frame) == shares(z, sets)
    matrix[:7] = 0
    assert evaluate.classify(z, matrix, **QUICK)["labeled"] == 93
    with pytest.raises(ValueError, match="expected a matrix of 0 and 1 with one column per label, but it contains 3"):
        evaluate.classify(z, 3 * matrix)
    with pytest.raises(ValueError, match="several labels"):
        evaluate.cluster(z, matrix)


def test_a_column_is_one_label_a_node(named):
    z, labels = named
    numbers = np.array([int(label[1:]) for label in labels])
    wanted = shares(z, numbers)
    assert shares(z, numbers[:, None]) == wanted
    assert shares(z, sp.csr_matrix(numbers[:, None])) == wanted
    assert shares(z, np.array(labels, dtype=object)[:, None]) == shares(z, labels)


def test_missing_labels_of_all_kinds(named):
    z, labels = named
    for nothing in (None, float("nan"), np.nan, pd.NA, pd.NaT, [], set()):
        given = [nothing if row < 5 else label for row, label in enumerate(labels)]
        assert evaluate.classify(z, given, **QUICK)["labeled"] == 95
    series = pd.Series(labels, index=z.nodes, dtype="string").where(z.nodes != "n3")
    assert evaluate.classify(z, series, **QUICK)["labeled"] == 99


def test_no_labels_get_a_sentence(named):
    z, _ = named
    for judge in (evaluate.classify, evaluate.cluster):
        for nothing in (None, 3, np.array(3), np.zeros((100, 2, 2))):
            with pytest.raises(ValueError, match="expected one label per node, a dict of node and label, or the path"):
                judge(z, nothing)
        with pytest.raises(ValueError, match="no node has a label"):
            judge(z, [None] * 100)
        with pytest.raises(ValueError, match="at least two classes"):
            judge(z, ["a"] * 100)


def test_a_method_that_learns_takes_the_same_forms(tmp_path):
    made = manyview.generate(nodes=60, views=2, communities=3, seed=4)
    names = [f"n{node}" for node in range(60)]
    network = manyview.Network.from_matrices(made.views, names)
    labels = [str(label) if node < 40 else None for node, label in enumerate(made.labels)]
    settings = {"dim": 4, "walks": 2, "length": 8, "window": 2, "epochs": 2, "attention": True}
    wanted = manyview.embed(network, "mve", labels=labels, **settings).vectors
    turned = pd.Series(labels, index=names).sample(frac=1, random_state=0)
    (tmp_path / "labels.tsv").write_text("".join(f"n{node}\t{labels[node]}\n" for node in range(40)))
    for given in (turned, turned.dropna().to_dict(), tmp_path / "labels.tsv"):
        assert np.array_equal(manyview.embed(network, "mve", labels=given, **settings), wanted)
    with pytest.raises(ValueError, match="such as 'n0'"):
        manyview.embed(network, "mve", labels={0: "a"}, **settings)


def test_vectors_that_are_none_get_a_sentence(named):
    z, labels = named
    with pytest.raises(ValueError, match="z is a sparse matrix; .* use z.toarray"):
        evaluate.classify(sp.csr_matrix(z.vectors), labels)
    for wrong in ("folder", [["a"]], [[1], [1, 2]], None, z.vectors.astype(complex), {"a": 1}):
        with pytest.raises(ValueError, match="expected a fitted MNMF, an Embedding, or an array of numbers"):
            evaluate.classify(wrong, labels)
