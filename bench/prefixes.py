"""What is lost when the last stages of a result are cut off: scores of the first stages.

    python3 bench/prefixes.py NETWORK... [--binary target/release/manyview]

Each NETWORK is a folder that `manyview embed` reads, with labels.tsv. Prints a Markdown table: micro-F1 of a classifier (C = 1, half of the labeled
nodes for training, ten splits; with several labels per node, as many as it has, and no NMI) and NMI of k-means, after each number of stages of one fit with the default settings.
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


def scores(binary, folder, labels):
    """Of classification, and the NMI of clusters if nodes have one label each."""
    classified = json.loads(run(binary, "evaluate", "classify", folder, "--labels", labels, "--train", "0.5", "--json", "-q"))
    if any(line.count("\t") > 1 for line in labels.read_text(encoding="utf-8").splitlines()):
        return classified, "–"
    clustered = json.loads(run(binary, "evaluate", "cluster", folder, "--labels", labels, "--json", "-q"))
    return classified, f"{100 * clustered['nmi']['mean']:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="+", type=Path)
    parser.add_argument("--binary", default="target/release/manyview")
    args = parser.parse_args()
    print("| network | stages | columns | micro-F1 | NMI |")
    print("|---|---|---|---|---|")
    for folder in args.networks:
        with tempfile.TemporaryDirectory() as place:
            whole = Path(place) / "whole"
            run(args.binary, "embed", folder, "-q", "-o", whole)
            records = json.loads((whole / "run.json").read_text())["stages"]
            for stages in range(1, records[-1]["stage"] + 1):
                cut = Path(place) / str(stages)
                run(args.binary, "truncate", whole, "--stages", stages, "-q", "-o", cut)
                classified, nmi = scores(args.binary, cut, folder / "labels.tsv")
                dim = json.loads((cut / "run.json").read_text())["config"]["dim"]
                share = classified["shares"][0]
                f1 = 100 * (share["known_micro_f1"] or share["micro_f1"])["mean"]
                print(f"| {folder.name} | {stages} | {dim} | {f1:.1f} | {nmi} |")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
