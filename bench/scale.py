"""Measures `manyview embed` on planted networks of up to a million nodes, and compares its vectors with those of netmf-sum.

python3 bench/scale.py OUT [--quick]      (bench/run.sh --only scale builds the program and calls it)

Sizes: time, peak memory and scores of each network, beside what `embed --plan` expects. Quality: micro-F1 (10 % of the nodes for
training) and NMI of mnmf and netmf-sum on the same sampled matrices, over noise, consensus and absent nodes. Writes scale.csv and
scale.md to OUT; every line is written as soon as it is measured. Uses only the command line program and Python's standard library.
"""

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = ROOT / "target" / "release" / "manyview"

# Nodes and columns. Each network has three views of mean degree 20.
SIZES = [(10_000, 64), (100_000, 64), (1_000_000, 64), (1_000_000, 128)]
QUICK_SIZES = [(3_000, 16), (10_000, 16)]
# Noise, consensus, absent.
GRID = [(noise, consensus, absent) for noise in (0.1, 0.3, 0.5) for consensus in (0.2, 0.5, 0.8) for absent in (0.0, 0.5)]
QUICK_GRID = [(0.1, 0.8, 0.0), (0.3, 0.5, 0.0)]
COLUMNS = ["section", "nodes", "dim", "noise", "consensus", "absent", "method", "walks", "entries", "seconds", "read", "proximity",
           "factorize", "peak_mb", "expected_entries", "expected_mb", "expected_seconds", "micro_f1", "nmi"]
UNITS = {"B": 1e-6, "KB": 1e-3, "MB": 1.0, "GB": 1e3}


def manyview(*words):
    """Runs a command; returns its output, its wall time and its peak resident memory in MB."""
    began = time.monotonic()
    process = subprocess.Popen([BINARY, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"manyview {' '.join(map(str, words))} failed:\n{err}")
    return out, time.monotonic() - began, usage.ru_maxrss / 1e3


def generate(folder, nodes, noise, consensus, absent, degree=20):
    manyview("generate", "--nodes", nodes, "--views", 3, "--degree", degree, "--noise", noise, "--consensus", consensus,
             "--absent", absent, "--communities", 10, "-o", folder, "--quiet", "--force")


def scores(result, labels):
    found = {}
    for task, name, options in [("classify", "micro_f1", ["--train", "0.1"]), ("cluster", "nmi", [])]:
        out, _, _ = manyview("evaluate", task, result, "--labels", labels, "--repeats", 1, "--json", "--quiet", *options)
        found[name] = float(re.search(rf'"{name}":\s*{{\s*"mean":\s*([0-9.e-]+)', out).group(1))
    return found


def embedded(network, result, *options):
    """Embeds; returns what was measured."""
    shutil.rmtree(result, ignore_errors=True)
    _, seconds, peak = manyview("embed", network, "-o", result, "--quiet", *options)
    run = json.loads((result / "run.json").read_text())
    views = run["network"]["views"] + ([run["network"]["joint"]] if "joint" in run["network"] else [])
    sampled = views[0].get("sampled")
    return {
        "walks": sampled["walks"] if sampled else "",
        "entries": sum(view["entries"] for view in views),
        "seconds": round(seconds, 2),
        "read": round(run["seconds"]["read"], 2),
        "proximity": round(run["seconds"].get("proximity", 0.0), 2),
        "factorize": round(run["seconds"].get("factorize", 0.0), 2),
        "peak_mb": round(peak),
    }


def expected(network, *options):
    """What the plan says: entries, memory and time."""
    plan, _, _ = manyview("embed", network, "--plan", *options)
    entries = int(re.search(r"^all\s+([0-9,]+)", plan, re.M).group(1).replace(",", ""))
    size, unit = re.search(r"memory\s+peak ([0-9.]+) (\w+)", plan).groups()
    took = re.search(r"time\s+about ([0-9.:]+) (s|min|h)", plan)
    parts = [float(part) for part in took.group(1).split(":")]
    seconds = parts[0] if took.group(2) == "s" else parts[0] * 60 + (parts[1] if len(parts) > 1 else 0)
    if took.group(2) == "h":
        seconds = parts[0] * 3600 + (parts[1] * 60 if len(parts) > 1 else 0)
    return {"expected_entries": entries, "expected_mb": round(float(size) * UNITS[unit]), "expected_seconds": round(seconds, 1)}


def table(lines, columns):
    head = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(head + ["| " + " | ".join(str(line.get(name, "")) for name in columns) + " |" for line in lines]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--quick", action="store_true", help="small networks")
    parser.add_argument("--sections", default="sizes,quality")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    sections, lines = arguments.sections.split(","), []
    with tempfile.TemporaryDirectory() as work, open(arguments.out / "scale.csv", "w", newline="") as file:
        network, result = Path(work) / "network", Path(work) / "result"
        rows = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        rows.writeheader()

        def record(**values):
            rows.writerow(values)
            file.flush()
            lines.append(values)
            print(values, flush=True)

        for nodes, dim in (QUICK_SIZES if arguments.quick else SIZES) if "sizes" in sections else []:
            generate(network, nodes, 0.1, 0.5, 0.0)
            options = ["--dim", dim]
            plan = expected(network, *options)
            found = embedded(network, result, *options)
            record(section="sizes", nodes=nodes, dim=dim, method="mnmf", **found, **plan, **scores(result, network / "labels.tsv"))
        nodes, dim, grid = (10_000, 32, QUICK_GRID) if arguments.quick else (100_000, 64, GRID)
        for noise, consensus, absent in grid if "quality" in sections else []:
            generate(network, nodes, noise, consensus, absent)
            for method in ("mnmf", "netmf-sum"):
                found = embedded(network, result, "--dim", dim, "--method", method, "--proximity", "sampled", "--walks", 20)
                record(section="quality", nodes=nodes, dim=dim, noise=noise, consensus=consensus, absent=absent, method=method,
                       **found, **scores(result, network / "labels.tsv"))
    parts = [table([line for line in lines if line["section"] == section], [name for name in COLUMNS[1:]]) for section in sections]
    (arguments.out / "scale.md").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
