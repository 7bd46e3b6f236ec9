"""Scores of variants of the settings on every labeled network, as a basis for the defaults.

python3 bench/validate.py run --data DIR --set defaults -o docs/results/defaults.tsv      (resumes an interrupted run)
python3 bench/validate.py table docs/results/defaults.tsv      a comparison of the variants
python3 bench/validate.py scores docs/results/presets.tsv      all scores of all networks
python3 bench/validate.py spread docs/results/solver.tsv       what is left, F1 and NMI with their spread over seeds

DIR contains one folder per network, with edge lists and labels.tsv. Uses only the command line program and Python's standard
library. Scores do not depend on the machine, so it need not be idle.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean, stdev

BINARY = Path(__file__).parent.parent / "target" / "release" / "manyview"
FIELDS = ("network", "variant", "options", "seed", "f1_30", "f1_50", "f1_70", "macro_30", "macro_50", "macro_70", "f1_auto", "nmi", "ami", "seconds", "left")
SHARES = ("30", "50", "70")
# The first variant is the reference of the others.
SETS = {
    "defaults": {
        "pooled, 2 of 8 stages consensus": "--consensus-stages 2",
        "shared, gamma 0.1": "--consensus shared --gamma 0.1",
        "shared, gamma 1.5": "--consensus shared --gamma 1.5",
        "shared, gamma 2": "--consensus shared --gamma 2",
        "shared, gamma 5": "--consensus shared --gamma 5",
        "shared, gamma 50": "--consensus shared --gamma 50",
        "shared, gamma 5, normalize none": "--consensus shared --gamma 5 --normalize none",
        "shared, gamma 0.1, normalize none": "--consensus shared --gamma 0.1 --normalize none",
        "normalize max": "--normalize max --consensus-stages 2",
        "share equal": "--share equal --consensus-stages 2",
        "scale raw": "--scale raw --consensus-stages 2",
        "0 of 8 consensus": "--consensus-stages 0",
        "1 of 8 consensus": "--consensus-stages 1",
        "3 of 8 consensus": "--consensus-stages 3",
        "4 of 8 consensus": "--consensus-stages 4",
        "8 of 8 consensus": "--consensus-stages 8",
        "negative 2": "--negative 2 --consensus-stages 2",
        "negative 5": "--negative 5 --consensus-stages 2",
        "negative 5, 1 consensus stage": "--negative 5 --consensus-stages 1",
        "4 stages": "--stages 4 --consensus-stages 1",
        "16 stages": "--stages 16 --consensus-stages 4",
        "window 3": "--window 3 --consensus-stages 2",
        "window 10": "--window 10 --consensus-stages 2",
        "5 of 8 consensus": "--consensus-stages 5",
        "6 of 8 consensus": "--consensus-stages 6",
        "7 of 8 consensus": "--consensus-stages 7",
    },
    # On one seed the solvers end in different local minima: compare the means over seeds.
    "solvers": {"hals": "--solver hals", "accelerated-hals": "--solver accelerated-hals"},
    "joint": {"off": "--joint off", "on": "--joint on"},
    "subtract": {"plain": "--subtract plain", "symmetric": "--subtract symmetric"},
    # What auto can choose from.
    "plans": {
        "default": "",
        "auto": "--auto",
        "8 unique": "--stages 8 --consensus-stages 0",
        "8 pooled": "--stages 8 --consensus-stages 8",
        "one pooled": "--stages 1 --consensus-stages 1",
        "5 pooled, the last with half": "--stage-dims 32,32,32,32,128 --stages 5 --consensus-stages 5",
        "6 unique, a quarter pooled": "--stage-dims 32,32,32,32,32,32,64 --stages 7 --consensus-stages 1",
    },
    # And each view alone, see views().
    "presets": {"default": "", "paper": "--preset paper", "authors": "--preset authors"},
}


def call(*words):
    words = [str(word) for word in words]
    done = subprocess.run([BINARY, *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"manyview {' '.join(words)}\n{done.stderr}")
    return done.stdout


def score(network, options, seed, repeats, select_c):
    """A row of scores: micro- and macro-F1 with C = 1, micro-F1 at fraction 0.5 with C selected, NMI, AMI, residual."""
    labels = network / "labels.tsv"
    with tempfile.TemporaryDirectory() as folder:
        call("embed", network, "-o", folder, "--force", "-q", "--no-checkpoint", "--seed", seed, *options.split())
        made = json.loads((Path(folder) / "run.json").read_text())
        ask = ("--labels", labels, "--seed", seed, "--json", "-q")
        found = json.loads(call("evaluate", "classify", folder, *ask, "--repeats", repeats))
        row = {"f1_auto": "", "nmi": "", "ami": "", "seconds": round(made["seconds"]["total"], 2), "left": left(made)}
        if select_c:
            auto = json.loads(call("evaluate", "classify", folder, *ask, "--repeats", 1, "--train", 0.5, "--c", "auto"))
            row["f1_auto"] = auto["shares"][0]["micro_f1"]["mean"]
        for share, scores in zip(SHARES, found["shares"], strict=True):
            row |= {f"f1_{share}": scores["micro_f1"]["mean"], f"macro_{share}": scores["macro_f1"]["mean"]}
        if not found["multi_label"]:
            clusters = json.loads(call("evaluate", "cluster", folder, *ask, "--repeats", repeats))
            row |= {name: clusters[name]["mean"] for name in ("nmi", "ami")}
    return {name: f"{value:.4f}" if isinstance(value, float) and name != "seconds" else value for name, value in row.items()}


def left(made):
    """The share of the proximity that no stage explains, mean over the views."""
    shares = {}
    for stage in made["stages"]:
        shares |= stage["residual"]
    return f"{mean(shares.values()):.6f}"


def views(network):
    """The default settings on each view alone, with the nodes of all views."""
    names = (path.name.split(".")[0] for path in sorted(network.iterdir()) if not path.name.startswith(("labels", "SOURCE")))
    return {f"{name} alone": f"--view-only {name}" for name in names}


def run(arguments):
    done = set()
    if arguments.output.exists():
        with arguments.output.open() as lines:
            done = {(row["network"], row["variant"], row["seed"]) for row in csv.DictReader(lines, delimiter="\t")}
    networks = sorted(path.parent for path in arguments.data.glob("*/labels.tsv"))
    with arguments.output.open("a") as lines:
        rows = csv.DictWriter(lines, FIELDS, delimiter="\t", lineterminator="\n")
        if not done:
            rows.writeheader()
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            for network in networks:
                variants = SETS[arguments.set] | (views(network) if arguments.set == "presets" else {})
                for variant, options in variants.items():
                    if (network.name, variant, str(seed)) in done:
                        continue
                    found = score(network, options, seed, arguments.repeats, arguments.select_c)
                    rows.writerow({"network": network.name, "variant": variant, "options": options, "seed": seed} | found)
                    lines.flush()
                    print(network.name, variant, seed, file=sys.stderr)


def table(path):
    with path.open() as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    networks = sorted({row["network"] for row in rows})
    variants = list(dict.fromkeys(row["variant"] for row in rows))

    def of(network, variant, fields):
        cells = [row[field] for row in rows for field in fields if (row["network"], row["variant"]) == (network, variant)]
        return mean(map(float, cells)) * 100 if cells and "" not in cells else None

    for title, fields in (
        ("micro-F1, mean over the training fractions 0.3, 0.5, 0.7, C = 1", [f"f1_{share}" for share in SHARES]),
        ("micro-F1 at training fraction 0.5, C selected by cross-validation on the training nodes", ["f1_auto"]),
        ("NMI of k-means", ["nmi"]),
    ):
        known = [network for network in networks if of(network, variants[0], fields) is not None]
        print(f"### {title}\n\n| | " + " | ".join(known) + " | mean difference | worst |\n|---" + "|---:" * (len(known) + 2) + "|")
        for variant in variants:
            cells = [of(network, variant, fields) for network in known]
            if None in cells:
                continue
            apart = [cell - of(network, variants[0], fields) for network, cell in zip(known, cells, strict=True)]
            words = [f"{cell:.1f}" for cell in cells] + ([""] * 2 if variant == variants[0] else [f"{mean(apart):+.2f}", f"{min(apart):+.1f}"])
            print(f"| {variant} | " + " | ".join(words) + " |")
        print()


def scores(path):
    """All scores, averaged over seeds."""
    with path.open() as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    fields = [f"f1_{share}" for share in SHARES] + [f"macro_{share}" for share in SHARES] + ["f1_auto", "nmi", "ami"]
    heads = [f"{kind}-F1 0.{share[0]}" for kind in ("micro", "macro") for share in SHARES] + ["micro-F1 0.5, C selected", "NMI", "AMI"]
    for network in sorted({row["network"] for row in rows}):
        print(f"### {network}\n\n| | " + " | ".join(heads) + " |\n|---" + "|---:" * len(heads) + "|")
        own = [row for row in rows if row["network"] == network]
        for variant in dict.fromkeys(row["variant"] for row in own):
            cells = [[row[field] for row in own if row["variant"] == variant] for field in fields]
            words = ["" if "" in cell else f"{mean(map(float, cell)) * 100:.1f}" for cell in cells]
            print(f"| {variant} | " + " | ".join(words) + " |")
        print()


def spread(path):
    """Residual, F1 and NMI of each variant, with the standard deviation over seeds."""
    with path.open() as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    print("| | variant | left, % | change | micro-F1 | NMI | seconds |\n|---|---|---:|---:|---:|---:|---:|")
    for network in sorted({row["network"] for row in rows}):
        first = None
        for variant in variants:
            own = [row for row in rows if (row["network"], row["variant"]) == (network, variant)]
            left = [100 * float(row["left"]) for row in own]
            f1 = [100 * mean(float(row[f"f1_{share}"]) for share in SHARES) for row in own]
            nmi = [100 * float(row["nmi"]) for row in own if row["nmi"]]
            first = first or mean(left)
            cells = [f"{mean(left):.3f} ± {stdev(left):.3f}", f"{100 * (mean(left) / first - 1):+.2f} %", f"{mean(f1):.2f} ± {stdev(f1):.2f}"]
            cells += [f"{mean(nmi):.1f} ± {stdev(nmi):.1f}" if nmi else "", f"{min(float(row['seconds']) for row in own):.2f}"]
            print(f"| {network} | {variant} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_subparsers(dest="task", required=True)
    runner = tasks.add_parser("run")
    runner.add_argument("--data", type=Path, default=os.environ.get("MANYVIEW_DATA"))
    runner.add_argument("--set", choices=SETS, required=True)
    runner.add_argument("--seeds", type=int, default=2)
    runner.add_argument("--first-seed", type=int, default=0)
    runner.add_argument("--no-auto", dest="select_c", action="store_false", help="no score with C selected, which takes the longest")
    runner.add_argument("--repeats", type=int, default=3)
    runner.add_argument("-o", "--output", type=Path, required=True)
    for name in ("table", "scores", "spread"):
        tasks.add_parser(name).add_argument("path", type=Path)
    arguments = parser.parse_args()
    if arguments.task == "run":
        run(arguments)
    else:
        {"table": table, "scores": scores, "spread": spread}[arguments.task](arguments.path)
