"""Runs `manyview compare` on every labeled network, and combines the tables.

python3 bench/results.py run --data DIR --work WORK                     (resumes an interrupted run)
python3 bench/results.py table --work WORK -o docs/results/compare

DIR contains one folder per network, with edge lists and labels.tsv. The embeddings, a few gigabytes, are stored in WORK. Uses
only the command line program and Python's standard library. Scores do not depend on the machine; times do.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import mean

BINARY = Path(__file__).resolve().parent.parent / "target" / "release" / "manyview"
USUAL = ["--repeats", "3", "--no-pictures"]
# Selecting C takes minutes per embedding for many classes or 11,000 nodes. The digits are part of the repository, so that
# everybody can repeat the ablations and sweeps.
OTHER = {
    "aminer_authors": ["--c", "1"],
    "human_ppi_kegg": ["--c", "1"],
    "worm_ppi": ["--c", "1"],
    "mfeat": ["--ablations", "--sweep", "dim,gamma,stages,consensus-stages"],
}
# Without ablations and sweeps, which exist for single networks only.
SECTIONS = ("single view", "heterogeneous", "multi-view", "plain", "ours")
# The combined tables: title, start of the title of the table of one network, and start of the names of its columns.
SHOWN = (
    ("Micro-F1, mean over the training fractions 0.3, 0.5 and 0.7, C = 1", "Classification, C = 1", "micro-F1"),
    ("Micro-F1, same fractions, C selected by cross-validation on the training nodes", "Classification, C chosen", "micro-F1"),
    ("Macro-F1, same fractions, C = 1", "Classification, C = 1", "macro-F1"),
    ("NMI of k-means", "Clustering", "NMI"),
    ("AMI of k-means", "Clustering", "AMI"),
)


def run(arguments):
    arguments.work.mkdir(parents=True, exist_ok=True)
    data = arguments.work / "data"
    if not data.exists():
        data.symlink_to(arguments.data.resolve(), target_is_directory=True)
    found = sorted(path.parent.name for path in data.glob("*/labels.tsv"))
    failed = []
    for name in arguments.only or found:
        # Relative paths, because the tables contain the command.
        words = [BINARY, "compare", f"data/{name}", "--labels", f"data/{name}/labels.tsv", "-o", name, *USUAL, *OTHER.get(name, [])]
        with open(arguments.work / f"{name}.log", "w") as log:
            code = subprocess.run(words, cwd=arguments.work, stdout=log, stderr=log).returncode
        print(name, f"exit {code}", file=sys.stderr)
        failed += [name] if code else []
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}; see the logs in {arguments.work}")


def lines_of(found, title, column):
    """The rows of a network's table: for each name the mean over the columns that start with `column`, and whether it is an oracle."""
    for table in found["tables"]:
        if table["title"].startswith(title):
            wanted = [at for at, name in enumerate(table["columns"]) if name.startswith(column)]
            scores = {}
            for line in table["lines"]:
                cells = [line["cells"][at] for at in wanted if line["cells"]]
                if cells and None not in cells:
                    scores[line["name"]] = (mean(cell["mean"] for cell in cells) * 100, line["oracle"])
            return scores
    return {}


def one_name(name):
    return name.replace(", best path", ", best view").replace(", chosen path", ", chosen view")


def side_by_side(networks, title, column, usual):
    tables = {name: {one_name(line): cell for line, cell in lines_of(found, title, column).items()} for name, found in networks.items()}
    tables = {name: {line: cell for line, cell in table.items() if line in usual} for name, table in tables.items() if table}
    fair = {name: {line: cell for line, (cell, oracle) in table.items() if not oracle} for name, table in tables.items()}
    ranks = {name: {line: 1 + sum(other > cell + 0.05 for other in table.values()) for line, cell in table.items()} for name, table in fair.items()}
    yield "| | " + " | ".join(tables) + " | mean rank |"
    yield "|---" + "|---:" * (len(tables) + 1) + "|"
    for line in usual:
        words = []
        for name, table in tables.items():
            cell, oracle = table.get(line, (None, False))
            best = not oracle and cell is not None and ranks[name][line] == 1
            words.append("" if cell is None else f"**{cell:.1f}**" if best else f"{cell:.1f}")
        places = [ranks[name][line] for name in tables if line in ranks[name]]
        place = f"{mean(places):.1f}" if places and any(words) else ""
        starred = any(table.get(line, (0, False))[1] for table in tables.values())
        if any(words):
            yield f"| {line}{' *' if starred else ''} | " + " | ".join(words) + f" | {place} |"


def seconds(networks):
    """Run time of each method: the sum over its views or paths; one fit for MVE."""
    methods = [method for found in networks.values() for method in found["methods"] if method["section"] in SECTIONS]
    methods = list(dict.fromkeys(method["name"] for method in methods))
    yield "| | " + " | ".join(networks) + " |"
    yield "|---" + "|---:" * len(networks) + "|"
    for name in methods:
        words = []
        for found in networks.values():
            candidates = [one for method in found["methods"] if method["name"] == name for one in method["candidates"]]
            whole = sum(one["seconds"] for one in candidates)
            words.append("" if not candidates else f"{whole:.1f}")
        yield f"| {name} | " + " | ".join(words) + " |"


def table(arguments):
    networks = {path.parent.name: json.loads(path.read_text()) for path in sorted(arguments.work.glob("*/compare.json"))}
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name in networks:
        shutil.copy(arguments.work / name / "compare.md", arguments.output / f"{name}.md")
    lines = [line for found in networks.values() for line in found["tables"][0]["lines"] if line["section"] in SECTIONS]
    usual = list(dict.fromkeys(one_name(line["name"]) for line in lines))
    parts = ["# All methods on all networks", ""]
    for title, beginning, column in SHOWN:
        parts += [f"## {title}", "", *side_by_side(networks, beginning, column, usual), ""]
    parts += ["## Seconds", "", *seconds(networks), ""]
    (arguments.output / "tables.md").write_text("\n".join(parts))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_subparsers(dest="task", required=True)
    runner = tasks.add_parser("run")
    runner.add_argument("--data", type=Path, default=os.environ.get("MANYVIEW_DATA"))
    runner.add_argument("--work", type=Path, required=True)
    runner.add_argument("--only", nargs="*", metavar="NAME", help="networks (default: all)")
    tabler = tasks.add_parser("table")
    tabler.add_argument("--work", type=Path, required=True)
    tabler.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    run(arguments) if arguments.task == "run" else table(arguments)
