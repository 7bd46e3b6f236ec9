"""Runs `manyview compare` on every labeled network with several seeds, and combines the scores.

python3 bench/results.py run --data DIR --work WORK [--seeds 5] [--methods mnmf,netmf-sum]    (resumes an interrupted run)
python3 bench/results.py table --work WORK -o docs/results/compare

DIR contains one folder per network, with edge lists and labels.tsv. A seed decides on the vectors, the split and k-means; all
methods have the same. The embeddings, a few gigabytes, are stored in WORK. `table` writes scores.tsv, a line per network,
seed and method, and tables.md. Uses only the command line program and Python's standard library. Scores do not depend on the
machine; times do.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import mean, stdev

BINARY = Path(__file__).resolve().parent.parent / "target" / "release" / "manyview"
OPTIONS = ["--repeats", "1", "--train", "0.3,0.7", "--c", "1,auto", "--no-pictures"]
# Without ablations and sweeps.
SECTIONS = ("single view", "heterogeneous", "multi-view", "plain", "ours")
# A name, the start of the title of a table of one network, and the column.
SCORES = {
    "f1_30": ("Micro-F1, training share 0.3, C = 1", "Classification, C = 1", "micro-F1 0.3"),
    "f1_70": ("Micro-F1, training share 0.7, C = 1", "Classification, C = 1", "micro-F1 0.7"),
    "f1_30_auto": ("Micro-F1, training share 0.3, C selected on the training nodes", "Classification, C chosen", "micro-F1 0.3"),
    "f1_70_auto": ("Micro-F1, training share 0.7, C selected on the training nodes", "Classification, C chosen", "micro-F1 0.7"),
    "nmi": ("NMI of k-means", "Clustering", "NMI"),
}
# Scores that look the same have the same rank.
EQUAL = 0.05
# What counts as behind the best.
BEHIND = 0.5


def run(arguments):
    arguments.work.mkdir(parents=True, exist_ok=True)
    data = arguments.work / "data"
    if not data.exists():
        data.symlink_to(arguments.data.resolve(), target_is_directory=True)
    found = sorted(path.parent.name for path in data.glob("*/labels.tsv"))
    failed = []
    for seed in range(arguments.seeds):
        for name in arguments.only or found:
            words = [BINARY, "compare", f"data/{name}", "--labels", f"data/{name}/labels.tsv", "-o", f"{name}/{seed}", "--seed", str(seed), *OPTIONS]
            words += ["--methods", arguments.methods] if arguments.methods else []
            with open(arguments.work / f"{name}-{seed}.log", "w") as log:
                code = subprocess.run(words, cwd=arguments.work, stdout=log, stderr=log).returncode
            print(name, f"seed {seed}, exit {code}", file=sys.stderr)
            failed += [f"{name} {seed}"] if code else []
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}; see the logs in {arguments.work}")


def rows_of(path):
    """The scores of each method in one comparison, and its seconds. Rows that were selected on test nodes are left out."""
    found = json.loads(path.read_text())
    rows = {}
    for name, (_, title, column) in SCORES.items():
        for table in found["tables"]:
            # With several labels per node there is a second table, with the number of labels known.
            if not table["title"].startswith(title) or "number" in table["title"]:
                continue
            at = table["columns"].index(column)
            for line in table["lines"]:
                usual = line["section"] in SECTIONS and not line["oracle"]
                if usual and line["cells"] and line["cells"][at]:
                    rows.setdefault(line["name"], {})[name] = 100 * line["cells"][at]["mean"]
    for method in found["methods"]:
        for name in rows:
            if name in (method["name"], f"{method['name']}, chosen view", f"{method['name']}, chosen path"):
                rows[name]["seconds"] = sum(one["seconds"] for one in method["candidates"])
    return rows


def collect(work):
    """All rows: network, seed, method, and its scores."""
    for path in sorted(work.glob("*/*/compare.json")):
        for method, scores in rows_of(path).items():
            yield {"network": path.parent.parent.name, "seed": path.parent.name, "method": method} | scores


def cells_of(rows, score):
    """For each network and method the scores of all seeds."""
    cells = {}
    for row in rows:
        if row.get(score) not in (None, ""):
            cells.setdefault(row["network"], {}).setdefault(row["method"], []).append(float(row[score]))
    return cells


def side_by_side(rows, score):
    cells = cells_of(rows, score)
    methods = list(dict.fromkeys(row["method"] for row in rows))
    means = {network: {method: mean(values) for method, values in found.items()} for network, found in cells.items()}
    ranks = {network: {method: 1 + sum(other > value + EQUAL for other in found.values()) for method, value in found.items()} for network, found in means.items()}
    yield "| | " + " | ".join(means) + " | mean rank | behind by more than 0.5 |"
    yield "|---" + "|---:" * (len(means) + 2) + "|"
    place = {method: mean(ranks[network][method] for network in means if method in means[network]) for method in methods if any(method in found for found in means.values())}
    for method in sorted(place, key=place.get):
        words, behind = [], 0
        for network, found in means.items():
            if method not in found:
                words.append("")
                continue
            values = cells[network][method]
            text = f"{found[method]:.1f}"
            text = f"**{text}**" if ranks[network][method] == 1 else text
            words.append(text + (f" ± {stdev(values):.1f}" if len(values) > 1 else ""))
            behind += found[method] < max(found.values()) - BEHIND
        yield f"| {method} | " + " | ".join(words) + f" | {place[method]:.2f} | {behind} |"


def seconds(rows):
    """The median time of a fit; for methods of one view the sum over the views."""
    cells = cells_of(rows, "seconds")
    methods = list(dict.fromkeys(row["method"] for row in rows))
    yield "| | " + " | ".join(cells) + " |"
    yield "|---" + "|---:" * len(cells) + "|"
    for method in methods:
        known = [sorted(found.get(method, [])) for found in cells.values()]
        yield f"| {method} | " + " | ".join(f"{values[len(values) // 2]:.1f}" if values else "" for values in known) + " |"


def table(arguments):
    rows = list(collect(arguments.work))
    arguments.output.mkdir(parents=True, exist_ok=True)
    with (arguments.output / "scores.tsv").open("w") as lines:
        fields = ["network", "seed", "method", *SCORES, "seconds"]
        writer = csv.DictWriter(lines, fields, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: f"{value:.2f}" if isinstance(value, float) else value for name, value in row.items()})
    seeds = sorted({row["seed"] for row in rows}, key=int)
    parts = ["# All methods on all networks", "", f"Seeds {seeds[0]} to {seeds[-1]}; mean ± standard deviation, percent. [compare.md](../compare.md) says how this was made.", ""]
    for score, (title, _, _) in SCORES.items():
        parts += [f"## {title}", "", *side_by_side(rows, score), ""]
    parts += ["## Seconds", "", *seconds(rows), ""]
    (arguments.output / "tables.md").write_text("\n".join(parts))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_subparsers(dest="task", required=True)
    runner = tasks.add_parser("run")
    runner.add_argument("--data", type=Path, default=os.environ.get("MANYVIEW_DATA"))
    runner.add_argument("--work", type=Path, required=True)
    runner.add_argument("--seeds", type=int, default=5)
    runner.add_argument("--methods", help="comma-separated (default: all)")
    runner.add_argument("--only", nargs="*", metavar="NAME", help="networks (default: all)")
    tabler = tasks.add_parser("table")
    tabler.add_argument("--work", type=Path, required=True)
    tabler.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    run(arguments) if arguments.task == "run" else table(arguments)
