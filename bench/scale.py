"""Measures `manyview embed` on planted networks of up to a million nodes, and compares its vectors with those of other methods.

python3 bench/scale.py OUT [--quick] [--data DIR] [--rivals VENVS] [--mpi BINARY] [--sections sizes,quality,budget,ranks]
(bench/run.sh --only scale builds the program and calls it)

sizes     time, peak memory and scores of each network, beside what `embed --plan` expects
quality   micro-F1 (10 % of the nodes for training) and NMI of mnmf and netmf-sum on the same sampled matrices, over noise, consensus and
          absent nodes; on some networks also of other programs, on the union of the views (--rivals: see rivals.py)
budget    real networks of DIR (--data): exact matrices, and sampled ones with 3, 10 and 30 % of their entries
ranks     1, 2 and 4 ranks on this machine (--mpi: a manyview with the feature mpi)

Writes scale.csv and scale.md to OUT; every line is written as soon as it is measured. Uses only the command line program and Python's
standard library; other programs run in their own environments.
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
GRID = [(0.1, 0.2, 0.5)] + [(noise, consensus, absent) for noise in (0.3, 0.5) for consensus in (0.2, 0.8) for absent in (0.0, 0.5)]
# Where other programs are measured too.
WITH_RIVALS = [(0.3, 0.2, 0.0), (0.5, 0.8, 0.5)]
BUDGET_NETWORKS = ["worm_ppi", "aminer_authors", "acm", "flickr"]
BUDGETS, BUDGET_SEEDS = (0.03, 0.1, 0.3), 3
# Nodes, ranks, and walks: those that `auto` takes, but of the large network half as many, for which four ranks fit into 14 GB.
RANKS = [(100_000, 1, 90), (100_000, 2, 90), (100_000, 4, 90), (1_000_000, 1, 10), (1_000_000, 2, 10), (1_000_000, 4, 10)]
QUICK_RANKS = [(10_000, 1, 20), (10_000, 2, 20)]
# Iterations on the sample of rows that a factorization starts from, at most: ITERATIONS in crates/core/src/nmf/sample.rs.
ITERATIONS_ON_SAMPLE = 10
QUICK_GRID = [(0.1, 0.8, 0.0), (0.3, 0.5, 0.0)]
COLUMNS = ["section", "network", "nodes", "dim", "noise", "consensus", "absent", "method", "ranks", "share", "walks", "entries", "seconds", "core_seconds", "read", "proximity",
           "factorize", "peak_mb", "expected_entries", "expected_mb", "expected_seconds", "communication",
           "rank_entries_most", "rank_mb_most", "rank_mb_least", "megabytes", "expected_megabytes",
           "micro_f1", "nmi", "f1_30", "f1_70"]
RIVALS = ["prone", "cleora", "pecanpy", "fastnode2vec"]
UNITS = {"B": 1e-6, "KB": 1e-3, "MB": 1.0, "GB": 1e3}


def manyview(*words):
    """Runs a command; returns its output, its wall time, its time on the cores, and its peak resident memory in MB."""
    began = time.monotonic()
    process = subprocess.Popen([BINARY, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"manyview {' '.join(map(str, words))} failed:\n{err}")
    return out, time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3


def generate(folder, nodes, noise, consensus, absent, degree=20):
    manyview("generate", "--nodes", nodes, "--views", 3, "--degree", degree, "--noise", noise, "--consensus", consensus,
             "--absent", absent, "--communities", 10, "-o", folder, "--quiet", "--force")


def scores(result, labels):
    found = {}
    for task, name, options in [("classify", "micro_f1", ["--train", "0.1"]), ("cluster", "nmi", [])]:
        out, *_ = manyview("evaluate", task, result, "--labels", labels, "--repeats", 1, "--json", "--quiet", *options)
        found[name] = float(re.search(rf'"{name}":\s*{{\s*"mean":\s*([0-9.e-]+)', out).group(1))
    return found


def embedded(network, result, *options):
    """Embeds; returns what was measured."""
    shutil.rmtree(result, ignore_errors=True)
    _, seconds, cores, peak = manyview("embed", network, "-o", result, "--quiet", *options)
    run = json.loads((result / "run.json").read_text())
    views = run["network"]["views"] + ([run["network"]["joint"]] if "joint" in run["network"] else [])
    sampled = views[0].get("sampled")
    return {
        "walks": sampled["walks"] if sampled else "",
        "entries": sum(view["entries"] for view in views),
        "seconds": round(seconds, 2),
        "core_seconds": round(cores, 1),
        "read": round(run["seconds"]["read"], 2),
        "proximity": round(run["seconds"].get("proximity", 0.0), 2),
        "factorize": round(run["seconds"].get("factorize", 0.0), 2),
        "peak_mb": round(peak),
    }


def expected(network, *options):
    """What the plan says: entries, memory and time."""
    plan, *_ = manyview("embed", network, "--plan", *options)
    entries = int(re.search(r"^all\s+([0-9,]+)", plan, re.M).group(1).replace(",", ""))
    size, unit = re.search(r"memory\s+peak ([0-9.]+) (\w+)", plan).groups()
    took = re.search(r"time\s+about ([0-9.:]+) (s|min|h)", plan)
    parts = [float(part) for part in took.group(1).split(":")]
    seconds = parts[0] if took.group(2) == "s" else parts[0] * 60 + (parts[1] if len(parts) > 1 else 0)
    if took.group(2) == "h":
        seconds = parts[0] * 3600 + (parts[1] * 60 if len(parts) > 1 else 0)
    return {"expected_entries": entries, "expected_mb": round(float(size) * UNITS[unit]), "expected_seconds": round(seconds, 1)}


def rival(name, venvs, network, result, dim):
    """Runs another program; returns what was measured."""
    began = time.monotonic()
    words = [venvs / name / "bin" / "python", ROOT / "bench" / "rivals.py", "run", name, network, result, str(dim)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = process.communicate()
    if process.returncode:
        raise SystemExit(f"{name} failed:\n{err}")
    usage = json.loads(out.strip().splitlines()[-1])
    return {"seconds": round(usage["seconds"], 2), "factorize": "", "proximity": "", "read": round(time.monotonic() - began - usage["seconds"], 2),
            "core_seconds": round(usage["core_seconds"], 1), "peak_mb": round(usage["peak_mb"])}


def walks_for(network, share, entries):
    """The number of walks that leaves this share of the exact entries, by bisection over the plan."""
    low, high = 1, 2000
    while low < high:
        middle = (low + high) // 2
        found = expected(network, "--proximity", "sampled", "--walks", middle)["expected_entries"]
        low, high = (middle + 1, high) if found < share * entries else (low, middle)
    return low


def real_scores(result, labels, seed):
    out, *_ = manyview("evaluate", "classify", result, "--labels", labels, "--repeats", 3, "--seed", seed, "--train", "0.3,0.7", "--json", "--quiet")
    f1 = [float(mean) for mean in re.findall(r'"micro_f1":\s*{\s*"mean":\s*([0-9.e-]+)', out)]
    out, *_ = manyview("evaluate", "cluster", result, "--labels", labels, "--repeats", 3, "--seed", seed, "--json", "--quiet")
    return {"f1_30": f1[0], "f1_70": f1[1], "nmi": float(re.search(r'"nmi":\s*{\s*"mean":\s*([0-9.e-]+)', out).group(1))}


def on_ranks(binary, ranks, network, result, *options):
    """Embeds on several ranks of this machine, each with its share of the cores."""
    shutil.rmtree(result, ignore_errors=True)
    threads = max(1, (os.cpu_count() or 1) // ranks)
    words = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks, binary, "embed", network, "-o", result, "--quiet",
             "--threads", threads, *options]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    began = time.monotonic()
    process = subprocess.Popen([str(word) for word in words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    err = process.stderr.read()
    # The ranks are children of mpirun, so their time is in its. Ranks that wait for others keep their cores busy.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"mpirun failed:\n{err}")
    run = json.loads((result / "run.json").read_text())
    records = run["rank_records"]
    views = [*run["network"]["views"], *filter(None, [run["network"].get("joint")])]
    peaks = [one["peak_memory_bytes"] / 1e6 for one in records]
    return {
        "entries": sum(view["entries"] for view in views),
        "seconds": round(time.monotonic() - began, 2),
        "core_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "read": round(run["seconds"]["read"], 2),
        "proximity": round(run["seconds"]["proximity"], 2),
        "factorize": round(run["seconds"]["factorize"], 2),
        "communication": round(max(one["seconds"]["communication"] for one in records), 2),
        "rank_entries_most": max(one["entries"] for one in records),
        "rank_mb_most": round(max(peaks)),
        "rank_mb_least": round(min(peaks)),
        "peak_mb": round(sum(peaks)),
        "megabytes": round(records[0]["bytes"] / 1e6, 1),
        "expected_megabytes": round(traffic(run, records[0]) / 1e6, 1),
    }


def traffic(run, record):
    """The bytes that a rank brings to collectives, by the model of docs/scale.md: in each iteration of a factorization with one V the
    numerators of V; after it, the rank's rows of U once for the embedding, and once for each view that the product is subtracted from."""
    nodes, total, fixed, pieces, iterations = run["network"]["nodes"], 0.0, 0, [], 0
    for stage in run["stages"]:
        width = stage["columns"][1] - stage["columns"][0]
        row = 4 * -(-width // 4) * 4
        total += row * (stage["iterations"] * nodes + (len(stage["weights"]) + 1) * record["rows"])
        pieces.append(row * nodes)
        iterations += stage["iterations"]
        # One call for each view and for the embedding, one more for each view to measure what is left, and small sums.
        fixed += 2 * len(stage["weights"]) + 5
    # Iterations on samples are not recorded; each makes four calls, as all iterations do.
    on_samples = (record["calls"] - fixed) / 4 - iterations
    return total + sum(pieces) * min(max(on_samples / max(len(pieces), 1), 0), ITERATIONS_ON_SAMPLE)


def table(lines, columns):
    head = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(head + ["| " + " | ".join(str(line.get(name, "")) for name in columns) + " |" for line in lines]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--quick", action="store_true", help="small networks")
    parser.add_argument("--sections", default="sizes,quality,budget,ranks")
    parser.add_argument("--data", type=Path, default=os.environ.get("MANYVIEW_DATA"), help="folder of real networks")
    parser.add_argument("--rivals", type=Path, help="folder of the environments that rivals.py prepared")
    parser.add_argument("--mpi", type=Path, help="a manyview that was built with the feature mpi")
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
                found = embedded(network, result, "--dim", dim, "--method", method, "--proximity", "sampled")
                record(section="quality", nodes=nodes, dim=dim, noise=noise, consensus=consensus, absent=absent, method=method,
                       **found, **scores(result, network / "labels.tsv"))
            for name in RIVALS if arguments.rivals and (arguments.quick or (noise, consensus, absent) in WITH_RIVALS) else []:
                found = rival(name, arguments.rivals, network, result, dim)
                record(section="quality", nodes=nodes, dim=dim, noise=noise, consensus=consensus, absent=absent, method=name,
                       **found, **scores(result, network / "labels.tsv"))
        for name in BUDGET_NETWORKS if "budget" in sections and arguments.data else []:
            network = arguments.data / name
            exact = expected(network, "--proximity", "exact")["expected_entries"]
            for share in (1.0, *BUDGETS):
                options = ["--proximity", "exact"]
                if share < 1.0:
                    options = ["--proximity", "sampled", "--walks", walks_for(network, share, exact)]
                for seed in range(BUDGET_SEEDS):
                    found = embedded(network, result, *options, "--seed", seed)
                    record(section="budget", network=name, method="mnmf", share=share, **found, **real_scores(result, network / "labels.tsv", seed))
        network, before = Path(work) / "network", None
        for nodes, ranks, walks in (QUICK_RANKS if arguments.quick else RANKS) if "ranks" in sections and arguments.mpi else []:
            if nodes != before:
                generate(network, nodes, 0.1, 0.5, 0.0)
                before = nodes
            dim = 16 if arguments.quick else 64
            options = ["--dim", dim, "--proximity", "sampled", "--walks", walks]
            found = on_ranks(arguments.mpi, ranks, network, result, *options)
            record(section="ranks", nodes=nodes, dim=dim, method="mnmf", ranks=ranks, walks=walks, **found,
                   **scores(result, network / "labels.tsv"))
    measured = {section: [line for line in lines if line["section"] == section] for section in sections}
    used = {section: [name for name in COLUMNS[1:] if any(name in line for line in of)] for section, of in measured.items()}
    parts = [table(measured[section], used[section]) for section in sections if measured[section]]
    (arguments.out / "scale.md").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
