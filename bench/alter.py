"""Networks with views that have nothing to do with each other, or that repeat each other, made from a labeled one.

python3 bench/alter.py shuffle NETWORK VIEW... -o DIR      the nodes of these views exchanged at random
python3 bench/alter.py copies NETWORK VIEW --share 0.7 -o DIR      three copies of one view, each with this share of its edges

NETWORK is a folder with tab-separated edge lists, one per view, and labels.tsv, which is copied. Uses only Python's standard library.
"""

import argparse
import gzip
import random
import shutil
from pathlib import Path


def edges(path):
    """The lines of an edge list, without comments."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as lines:
        return [line.rstrip("\n") for line in lines if not line.startswith("#")]


def views(network):
    """The edge lists of a network by the name of the view."""
    files = (path for path in sorted(network.iterdir()) if not path.name.startswith(("labels", "SOURCE")))
    return {path.name.split(".")[0]: path for path in files}


def shuffled(path):
    """The edges of a view after its nodes were exchanged; the same on every run."""
    rows = [line.split("\t") for line in edges(path)]
    ids = sorted({name for row in rows for name in row[:2]})
    others = ids[:]
    random.Random(path.name).shuffle(others)
    to = dict(zip(ids, others, strict=True))
    return ["\t".join([to[row[0]], to[row[1]], *row[2:]]) for row in rows]


def write(folder, name, lines):
    (folder / f"{name}.tsv").write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("shuffle", "copies"))
    parser.add_argument("network", type=Path)
    parser.add_argument("views", nargs="+")
    parser.add_argument("--share", type=float, default=0.7)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    found = views(given.network)
    unknown = [name for name in given.views if name not in found]
    if unknown or (given.task == "copies" and len(given.views) > 1):
        parser.error(f"expected {'one view' if given.task == 'copies' else 'views'} of {', '.join(found)}")
    given.output.mkdir(parents=True, exist_ok=True)
    shutil.copy(given.network / "labels.tsv", given.output)
    if given.task == "shuffle":
        for name, path in found.items():
            write(given.output, name, shuffled(path) if name in given.views else edges(path))
    else:
        lines = edges(found[given.views[0]])
        for copy in range(3):
            draws = random.Random(copy)
            write(given.output, f"copy{copy}", [line for line in lines if draws.random() < given.share])
