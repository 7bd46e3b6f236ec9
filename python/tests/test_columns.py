"""How the columns of tables and files are found: by the same rules, with the same notes and warnings."""

import warnings

import manyview
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

MAKERS = pytest.mark.parametrize(
    "make", [lambda t: t, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "pyarrow"]
)


def calls(count=30):
    people = [f"p{at}" for at in range(count)]
    return pd.DataFrame(
        {
            "call_id": range(count),
            "date": pd.date_range("2024-01-01", periods=count),
            "caller": people,
            "callee": people[1:] + people[:1],
            "minutes": [at % 5 + 1 for at in range(count)],
        }
    )


def edges(network, view):
    matrix = network.adjacency(view).tocoo()
    pairs = zip(network.nodes[matrix.row], network.nodes[matrix.col], matrix.data)
    return sorted((a, b, weight) for a, b, weight in pairs if a < b)


@MAKERS
def test_usual_names_are_known_wherever_they_stand(make, tmp_path):
    network = manyview.Network.from_table(make(calls()))
    assert list(network.nodes[:3]) == ["p0", "p1", "p2"]
    assert network.notes == [
        'the table: columns (caller, callee), no weights; columns "call_id", "date", "minutes" are ignored '
        '(use weight="minutes" to read weights from it)'
    ]
    weighted = manyview.Network.from_table(make(calls()), weight="minutes")
    calls().to_csv(tmp_path / "calls.csv", index=False)
    read = manyview.read_network(tmp_path / "calls.csv", weight="minutes")
    assert edges(weighted, "edges") == edges(read, "calls")
    by_number = manyview.Network.from_table(make(calls()), source=3, target=4, weight=5)
    assert edges(by_number, "edges") == edges(weighted, "edges")


@MAKERS
def test_what_could_only_be_guessed_is_an_error(make):
    table = calls().rename(columns={"caller": "person", "callee": "friend"})
    with pytest.raises(ValueError) as raised:
        manyview.Network.from_table(make(table))
    assert str(raised.value) == (
        "the table: cannot tell which columns are the ends of an edge: the columns have no usual names; the columns are call_id, date, "
        'person, friend, minutes; choose with source="COL" and target="COL" (and weight="COL", if there are weights)'
    )
    with pytest.raises(ValueError, match="view 'calls': there is no column \"x\"; the columns are call_id, date, person"):
        manyview.Network.from_tables({"calls": make(table)}, source="x", target="friend")
    with pytest.raises(ValueError, match='use relation="kind" to split the table into views'):
        manyview.Network.from_table(make(calls().assign(kind="work")))


@MAKERS
def test_blanks_around_ids_are_removed_as_in_files(make, tmp_path):
    table = pd.DataFrame({"source": ["Anna", "anna ", " bob"], "target": [" bob", "cat\t", "cat"]})
    network = manyview.Network.from_table(make(table))
    assert list(network.nodes) == ["Anna", "bob", "anna", "cat"]
    table.to_csv(tmp_path / "x.csv", index=False)
    assert list(manyview.read_network(tmp_path / "x.csv").nodes) == list(network.nodes)
    with pytest.raises(ValueError, match="the table: a source is empty"):
        manyview.Network.from_table(make(table.assign(source=["a", " ", "b"])))


def test_columns_after_a_path(tmp_path):
    table = calls().rename(columns={"caller": "person", "callee": "friend"})
    path = tmp_path / "calls.csv"
    table.to_csv(path, index=False)
    network = manyview.read_network({"calls": f"{path}:person,friend,minutes"})
    assert edges(network, "calls") == edges(manyview.Network.from_table(calls(), weight="minutes"), "edges")
    assert manyview.read_network([f"{path}:person,friend"]).views == ("calls",)


def test_decimal_commas_and_skipped_lines(tmp_path):
    (tmp_path / "x.csv").write_text("source;target;weight\na;b;1.234,5\nb;c;many\nc;a;0,5\n")
    with pytest.raises(ValueError, match='weight "1.234,5" is not a number: use decimal="comma"'):
        manyview.read_network(tmp_path / "x.csv")
    with pytest.warns(manyview.ManyviewWarning, match="1 of 3 lines were skipped") as told:
        network = manyview.read_network(tmp_path / "x.csv", decimal="comma", on_error="skip")
    assert told[0].filename == __file__
    assert edges(network, "x") == [("a", "b", 1234.5), ("a", "c", 0.5)]
    assert network.skipped_lines == 1
    assert network.notes[0].endswith("decimal commas; skipped 1 line that cannot be read")
    model = manyview.MNMF(dim=2, stages=2).fit(network)
    assert model.run_["skipped_lines"] == 1
    assert model.run_["notes"][0].endswith("skipped 1 line that cannot be read")
    assert model.run_["warnings"][0] == network.warnings[0].replace("unweighted=True", "unweighted")
    with pytest.raises(ValueError, match='decimal="x": expected one of point, comma'):
        manyview.read_network(tmp_path / "x.csv", decimal="x")


@MAKERS
def test_networks_that_were_not_meant_are_told(make):
    padded = calls()[["caller", "callee"]]
    other = padded.apply(lambda column: column.str.upper() + " ")
    with pytest.warns(manyview.ManyviewWarning) as told:
        network = manyview.Network.from_tables({"calls": make(padded), "mails": make(other)})
    assert [str(warning.message) for warning in told] == network.warnings
    assert network.warnings[0].startswith("view calls: shares 0 of its 30 nodes (0 %) with view mails; ")
    assert '30 ids of one view seem to be written differently in another, such as "p0" and "P0"' in network.warnings[1]
    assert manyview.MNMF(dim=4, stages=2).fit(network).run_["warnings"][:2] == network.warnings
    dates = calls().assign(weight=[20_240_101 + at % 28 for at in range(30)])
    with pytest.warns(manyview.ManyviewWarning, match="from 20240101 to 20240128, look like dates"):
        manyview.Network.from_table(make(dates))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert manyview.Network.from_table(make(calls())).warnings == []
