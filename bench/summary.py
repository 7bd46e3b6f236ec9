"""Generates summary.md from the raw.csv of a run: tables with ratios and targets, and lists of missed and skipped targets.

python3 bench/summary.py bench/runs/<run>    generates it again; needs only Python.
"""

import csv
import math
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

#: The solver with a start of its own instead of the one that scikit-learn has.
SINGULAR = "accelerated-hals, init svd"
COLUMNS = ("section", "what", "entries", "who", "solver", "width", "threads", "repeat", "seconds", "note")


class Run:
    def __init__(self, folder):
        self.rows = list(csv.DictReader(open(folder / "raw.csv")))
        self.text, self.verdicts = [], []

    def select(self, section, **wanted):
        fits = lambda row: row["section"] == section and all(row[key] == str(value) for key, value in wanted.items())
        return [row for row in self.rows if fits(row)]

    def seconds(self, section, **wanted):
        return sorted(float(row["seconds"]) for row in self.select(section, **wanted))

    def values(self, section, column, **wanted):
        return list(dict.fromkeys(row[column] for row in self.select(section, **wanted)))

    def say(self, *lines):
        self.text.extend(lines)

    def table(self, head, rows):
        self.say("", "| " + " | ".join(head) + " |", "|" + "---|" * len(head))
        self.say(*("| " + " | ".join(row) + " |" for row in rows), "")

    def judge(self, target, reached, value):
        self.verdicts.append((target, value, "reached" if reached else "**missed**"))
        return "" if reached else " **missed**"


def time_of(seconds):
    """The median, and the range if there are several values."""
    middle = median(seconds)
    unit, factor = (("s", 1), ("ms", 1e3))[middle < 1]
    text = f"{middle * factor:.3g} {unit}"
    if len(seconds) > 1:
        text += f" ({seconds[0] * factor:.3g} to {seconds[-1] * factor:.3g})"
    return text


def ratio(numerator, denominator):
    """The ratio of the medians, and of the best."""
    return median(numerator) / median(denominator), numerator[0] / denominator[0]


def nmf(run):
    run.say("## Seconds per iteration of NMF", "")
    run.say("Same matrix, same initial factors, 32-bit floats, same error after the same iterations (checked to 1e-3). `hals` is the same")
    run.say("algorithm as scikit-learn's `cd`. Median of the runs (lowest to highest); ratios are of medians, in parentheses of the best.")
    for name in run.values("nmf", "what"):
        entries = int(run.values("nmf", "entries", what=name)[0])
        run.say("", f"### {name}: {entries:,} entries")
        rows = []
        for solver in run.values("nmf", "solver", what=name):
            for width in run.values("nmf", "width", what=name):
                case = {"what": name, "solver": solver, "width": width}
                us = [run.seconds("nmf", who="manyview", threads=threads, **case) for threads in (1, 2)]
                them = [run.seconds("nmf", who="scikit-learn", threads=threads, **case) for threads in (1, 2)]
                if not (us[0] and them[0]):
                    continue
                cells = [solver, width, time_of(us[0]), time_of(us[1]), time_of(them[0]), time_of(them[1])]
                for ours, theirs, least in ((us[0], them[0], 4), (us[1], them[0], 7), (us[1], them[1], None)):
                    middle, best = ratio(theirs, ours)
                    cell = f"{middle:.1f} ({best:.1f})"
                    if least and solver == "cd" and width in ("16", "32"):
                        threads = 1 if least == 4 else 2
                        cell += f", target {least}"
                        cell += run.judge(f"{name}, width {width}, {threads} against 1 thread: {least} x scikit-learn's cd", middle >= least, f"{middle:.1f}")
                    elif middle < 1:
                        cell += " **slower**"
                    cells.append(cell)
                cells.append(f"{entries / us[0][0] / 1e6:.0f}")
                rows.append(cells)
        run.table(("solver", "width", "manyview, 1 thread", "manyview, 2", "scikit-learn, 1 thread", "scikit-learn, 2", "ratio, 1 to 1 thread", "2 to 1", "2 to 2", "manyview, best, M entries/s, 1 thread"), rows)


def equal_error(run):
    run.say("## Time to equal error", "")
    run.say("Seconds from the CSR matrix in memory (for manyview including the conversion to tiles and the start on a sample) until the error is no")
    run.say("larger than that of scikit-learn's `cd` after the given iterations, on one thread. The repeats have different starts, the same for both;")
    run.say("the ratio is the median over those that reached the error. `init svd` starts from singular vectors, whose time is included. A target is")
    run.say("reached from either start. RcppML, which has its own start and 64-bit numbers, is measured once.")
    cases = (("manyview", "accelerated-hals", 1), ("manyview", "accelerated-hals", 2), ("manyview", SINGULAR, 1), ("manyview", SINGULAR, 2), ("manyview", "hals", 1), ("manyview", "hals", 2), ("RcppML", "", 1), ("RcppML", "", 2))
    rows = []
    for name in run.values("equal", "what"):
        least = {1: 10, 2: 18} if name == "flickr" else {1: 6, 2: 10}
        for width in run.values("equal", "width", what=name):
            case, best = {"what": name, "width": width}, {1: 0.0, 2: 0.0}
            them = {row["repeat"]: row for row in run.select("equal", who="scikit-learn", **case)}
            cells = [name, width, time_of(sorted(float(row["seconds"]) for row in them.values())), them["0"]["note"]]
            for who, solver, threads in cases:
                us = run.select("equal", who=who, solver=solver, threads=threads, **case)
                if not us:
                    cells.append("")
                    continue
                reached = [row for row in us if "not reached" not in row["note"]]
                gains = sorted(float(them[row["repeat"]]["seconds"]) / float(row["seconds"]) for row in reached)
                gain = median(gains) if gains else 0.0
                if who == "manyview" and solver != "hals":
                    best[threads] = max(best[threads], gain)
                notes = ", ".join(row["note"].removesuffix(" iterations") for row in us)
                cells.append(f"{gain:.2g} x ({len(reached)} of {len(us)}; iterations: {notes})")
            for threads, gain in best.items():
                target = f"{name}, width {width}, {threads} against 1 thread: {least[threads]} x to equal error"
                cells[0] += run.judge(target, gain >= least[threads], f"{gain:.1f}")
            rows.append(cells)
    heads = [f"{who}{', ' + solver if solver else ''}, {threads} thread{'s' if threads > 1 else ''}" for who, solver, threads in cases]
    run.table(("matrix", "width", "scikit-learn, 1 thread", "the first start", *heads), rows)


def proximity(run):
    run.say("## Proximity", "")
    run.say("Window 5, negative 1, 32-bit floats, the same matrix (entries and values checked). SciPy: blocks of dense rows times the")
    run.say("sparse walk matrix, with the fastest block size on this machine; on two threads, blocks are distributed to a thread pool.")
    rows = []
    for name in run.values("proximity", "what"):
        us, them = ([run.seconds("proximity", what=name, who=who, threads=threads) for threads in (1, 2)] for who in ("manyview", "SciPy"))
        gain = median(them[0]) / median(us[1])
        missed = run.judge(f"proximity of {name}, 2 against 1 thread: 5 x SciPy", gain >= 5, f"{gain:.1f}")
        rows.append(
            [name, run.values("proximity", "entries", what=name)[0], time_of(us[0]), time_of(us[1]), time_of(them[0]), time_of(them[1])]
            + [f"{median(them[0]) / median(us[0]):.1f}", f"{gain:.1f}, target 5{missed}", f"{median(them[1]) / median(us[1]):.1f}"]
        )
    run.table(("network", "entries", "manyview, 1 thread", "manyview, 2", "SciPy, 1 thread", "SciPy, 2", "ratio, 1 to 1 thread", "2 to 1", "2 to 2"), rows)


def svd(run):
    run.say("## Singular vectors", "")
    run.say("From the CSR matrix in memory (for manyview including the conversion to tiles) to the leading vectors of both sides. The error is")
    run.say("`||A - U Uᵀ A||² / ||A||²`; scikit-learn's `randomized_svd` with default settings.")
    rows = []
    for name in run.values("svd", "what"):
        (width,) = run.values("svd", "width", what=name)
        us, them = ([run.seconds("svd", what=name, who=who, threads=threads) for threads in (1, 2)] for who in ("manyview", "scikit-learn"))
        notes = [run.values("svd", "note", what=name, who=who)[0].removeprefix("error ") for who in ("manyview", "scikit-learn")]
        gains = []
        for threads in (1, 2):
            gain = median(them[threads - 1]) / median(us[threads - 1])
            target = f"{width} singular vectors of {name}, {threads} threads each: not slower"
            gains.append(f"{gain:.1f}{run.judge(target, gain >= 1, f'{gain:.1f} x')}")
        missed = run.judge(f"{width} singular vectors of {name}: error not larger", float(notes[0]) <= float(notes[1]), f"{notes[0]} to {notes[1]}")
        rows.append([name, width, *(time_of(times) for times in (*us, *them)), *gains, f"{notes[0]}; {notes[1]}{missed}"])
    run.table(("matrix", "vectors", "manyview, 1 thread", "manyview, 2", "scikit-learn, 1 thread", "scikit-learn, 2", "ratio, 1 to 1 thread", "2 to 2", "error: manyview; scikit-learn"), rows)


def power(points):
    """The slope of log seconds over log entries, by least squares."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)


def growth(run):
    run.say("## Growth with entries", "")
    run.say("Three views, width 16, hals, two threads. `unique` is the sum over the views of one unique stage of that width per view;")
    run.say("consensus stages use all three together. Whole stages include the subtraction and, if pooled, the scales.")
    per = {"growth": defaultdict(dict), "stage": defaultdict(dict)}
    entries = {}
    for section, found in per.items():
        for group in run.values(section, "note"):
            for kind in ("unique", "shared", "pooled"):
                by_repeat = defaultdict(float)
                for row in run.select(section, what=kind, note=group):
                    by_repeat[row["repeat"]] += float(row["seconds"])
                found[group][kind] = sorted(by_repeat.values())
            entries[group] = int(run.select(section, what="shared", note=group)[0]["entries"])
    rows = []
    for group, kinds in per["growth"].items():
        cells = [f"{entries[group]:,}"] + [time_of(kinds[kind]) for kind in ("unique", "shared", "pooled")]
        for kind in ("shared", "pooled"):
            costs = median(kinds[kind]) / median(kinds["unique"])
            whole = median(per["stage"][group][kind]) / median(per["stage"][group]["unique"])
            # Very small matrices fit into a cache, so their ratio is less meaningful.
            missed = run.judge(f"{kind} consensus of {entries[group]:,} entries: at most 1.15 x the unique stages", costs <= 1.15, f"{costs:.2f}")
            cells.append(f"{costs:.2f} ({whole:.2f}){missed}")
        rows.append(cells)
    run.table(("entries", "unique, per iteration", "shared", "pooled", "shared / unique (whole stage), target 1.15", "pooled / unique (whole stage), target 1.15"), rows)
    for kind in ("unique", "shared", "pooled"):
        points = [(entries[group], median(kinds[kind])) for group, kinds in per["growth"].items()]
        if len(points) > 1:
            grows = power(points)
            steps = ", ".join(f"{math.log(b[1] / a[1]) / math.log(b[0] / a[0]):.2f}" for a, b in zip(points, points[1:]))
            missed = run.judge(f"the time of a {kind} iteration grows with the entries with an exponent of at most 1.05", grows <= 1.05, f"{grows:.3f}")
            run.say(f"- {kind}: exponent {grows:.3f} over all sizes, target 1.05{missed}; between consecutive sizes {steps}")
    for row in run.select("memory"):
        run.say(f"- memory with {int(row['entries']):,} entries: {float(row['seconds']):.2f} {row['note']} (including reading the files)")
    run.say("")


def whole_runs(run):
    run.say("## End to end", "", "Default settings, two threads, including reading and writing files.")
    rows = []
    for name, most in (("digits", 3), ("flickr folder", 20)):
        took = run.seconds("run", what=name)
        if took:
            missed = run.judge(f"{name} end to end under {most} s", median(took) < most, f"{median(took):.2f} s")
            rows.append([name, time_of(took), f"{most} s{missed}"])
    run.table(("network", "seconds", "target"), rows)


def ranks(run):
    run.say("## Ranks of MPI", "", "Factorization only, one thread per rank.")
    run.table(("ranks", "seconds"), [[note, time_of(run.seconds("mpi", note=note))] for note in run.values("mpi", "note")])


def evaluate(run):
    run.say("## Evaluation", "")
    run.say("11,000 x 256 vectors of 4 classes, including reading files. `classify`: 10 splits of 3 training fractions, C = 1, to scikit-learn's tolerance or")
    run.say("tighter. `cluster`: 10 times the best of 10 restarts of k-means. Scores and iterations are those of the first run. The target is")
    run.say("for all cores, compared with scikit-learn on one thread or on all cores, whichever is faster.")
    rows = []
    for task in run.values("evaluate", "what"):
        seconds = {who: [run.seconds("evaluate", what=task, who=who, threads=threads) for threads in (1, "all")] for who in ("manyview", "scikit-learn")}
        us, them = seconds["manyview"], seconds["scikit-learn"]
        notes = [run.values("evaluate", "note", what=task, who=who)[0] for who in seconds]
        one, gain = median(them[0]) / median(us[0]), min(map(median, them)) / median(us[1])
        missed = run.judge(f"evaluate {task}, all cores: faster than scikit-learn", gain > 1, f"{gain:.1f} x")
        times = [time_of(times) for times in (*us, *them)]
        rows.append([task, *times, f"{one:.1f}", f"{gain:.1f}{missed}", f"{notes[0]}; {notes[1]}"])
    run.table(("task", "manyview, 1 thread", "manyview, all", "scikit-learn, 1 thread", "scikit-learn, all", "ratio, 1 to 1 thread", "all to the faster", "manyview; scikit-learn"), rows)


def skipgram(run):
    run.say("## Skip-gram", "")
    run.say("DeepWalk's training on the same walks (10 from each node of Flickr's friendships, 40 nodes each), window 10, 5 negatives, 256")
    run.say("columns, one epoch, compared with gensim's Word2Vec, in million pairs per second. The time of manyview includes counting the nodes of the walks.")
    rows = []
    for threads in run.values("skipgram", "threads"):
        case = {"threads": threads}
        us, them = run.seconds("skipgram", who="manyview", **case), run.seconds("skipgram", who="gensim", **case)
        pairs = int(run.values("skipgram", "entries")[0])
        middle, best = ratio(them, us)
        missed = run.judge(f"skip-gram, {threads} threads: as fast as gensim", middle >= 1, f"{middle:.1f} x")
        notes = "; ".join(run.values("skipgram", "note", who=who, **case)[0] for who in ("manyview", "gensim"))
        speeds = [f"{pairs / median(seconds) / 1e6:.2f}" for seconds in (us, them)]
        rows.append([threads, time_of(us), time_of(them), *speeds, f"{middle:.1f} ({best:.1f}){missed}", notes])
    run.table(("threads", "manyview", "gensim", "manyview, M pairs/s", "gensim, M pairs/s", "ratio", "manyview; gensim"), rows)


def tucker(run):
    run.say("## TuckER", "", "Default settings on 4,019 nodes with 3 views (acm), two threads, including reading and writing files.")
    (took,) = run.seconds("tucker")
    missed = run.judge("tucker on 4,019 nodes x 3 views within 10 minutes", took < 600, f"{took:.0f} s")
    run.table(("network", "seconds", "target"), [["acm", f"{took:.1f}", f"600 s{missed}"]])


# By section of raw.csv; sections without measurements are omitted.
PARTS = {
    "nmf": nmf,
    "equal": equal_error,
    "proximity": proximity,
    "svd": svd,
    "growth": growth,
    "run": whole_runs,
    "mpi": ranks,
    "evaluate": evaluate,
    "skipgram": skipgram,
    "tucker": tucker,
}


def write(folder):
    run = Run(folder)
    for section, part in PARTS.items():
        if run.select(section):
            part(run)
    missed = [verdict for verdict in run.verdicts if verdict[2] != "reached"]
    head = [f"# {folder.name}", "", f"{len(run.verdicts) - len(missed)} of {len(run.verdicts)} targets reached."]
    if missed:
        head += ["", "Missed:", ""] + [f"- {target}: {value}" for target, value, _ in missed]
    skipped = run.select("skipped")
    if skipped:
        head += ["", "Skipped:", ""] + [f"- {row['what']}: {row['note']}" for row in skipped]
    machine = (folder / "machine.txt").read_text()
    (folder / "summary.md").write_text("\n".join([*head, "", "```text", machine + "```", "", *run.text]).rstrip() + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
