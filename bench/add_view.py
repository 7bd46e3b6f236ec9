"""What a view that is added to a kept model is worth, beside a new fit with all views.

    python3 bench/add_view.py NETWORK... [--binary target/release/manyview]

Each NETWORK is a folder with one edge list (.tsv) per view and labels.tsv. Each view in turn is left out of a fit with the default settings, and
added to its model. Prints a Markdown table: the share of the view that the consensus columns explain and that its own columns add; micro-F1 of a
classifier (C = 1, half of the labeled nodes for training, ten splits; with several labels per node, as many as it has) without the view, with it
added, and with a fit of all views. Edges of nodes that no other view has are left out.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path


def run(binary, *words):
    command = [binary, *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def micro_f1(binary, result, labels):
    text = run(binary, "evaluate", "classify", result, "--labels", labels, "--train", "0.5", "--json", "-q")
    share = json.loads(text)["shares"][0]
    return 100 * (share["known_micro_f1"] or share["micro_f1"])["mean"]


def known_edges(view, nodes, target):
    """Writes the edges of a view between known nodes."""
    lines = view.read_text(encoding="utf-8").splitlines()
    known = (line for line in lines if set(line.split("\t")[:2]) <= nodes)
    target.write_text("".join(line + "\n" for line in known), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="+", type=Path)
    parser.add_argument("--binary", default="target/release/manyview")
    args = parser.parse_args()
    print("| network | view added | columns | explained | added | F1 without | F1 with | F1 of a new fit |")
    print("|---|---|---|---|---|---|---|---|")
    for folder in args.networks:
        labels = folder / "labels.tsv"
        views = sorted(path for path in folder.glob("*.tsv") if path != labels)
        with tempfile.TemporaryDirectory() as place:
            place = Path(place)
            run(args.binary, "embed", *views, "-q", "-o", place / "all")
            whole = micro_f1(args.binary, place / "all", labels)
            for view in views:
                others = [path for path in views if path != view]
                run(args.binary, "embed", *others, "--save-model", "-q", "--force", "-o", place / "model")
                nodes = set((place / "model" / "nodes.txt").read_text(encoding="utf-8").splitlines())
                known_edges(view, nodes, place / "view.tsv")
                given = f"{view.stem}={place / 'view.tsv'}"
                run(args.binary, "add-view", place / "model", given, "-q", "--force", "-o", place / "wide")
                added = json.loads((place / "wide" / "run.json").read_text())["added_views"][0]
                own = 1 - added["left"] - added["explained"]
                scores = [micro_f1(args.binary, place / name, labels) for name in ("model", "wide")]
                cells = [folder.name, view.stem, added["columns"][1] - added["columns"][0]]
                cells += [f"{100 * share:.0f} %" for share in (added["explained"], own)]
                cells += [f"{score:.1f}" for score in (*scores, whole)]
                print("|", " | ".join(map(str, cells)), "|")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
