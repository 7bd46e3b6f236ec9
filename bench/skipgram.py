"""DeepWalk's training compared with gensim's Word2Vec: the same walks, window, negatives and rate, on one thread and on two.

python3 bench/skipgram.py theirs WALKS THREADS [FOLDER]    measures gensim; prints one JSON object
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

DIM, WINDOW, NEGATIVE, WALKS, LENGTH = 256, 10, 5, 10, 40


def theirs(path, threads, folder):
    from gensim.models import Word2Vec

    walks = [line.split() for line in path.read_text().splitlines()]
    model = Word2Vec(
        vector_size=DIM, window=WINDOW, negative=NEGATIVE, sg=1, hs=0, sample=0, min_count=1, epochs=1,
        alpha=0.025, min_alpha=0.0001, workers=threads, seed=0,
    )
    model.build_vocab(walks)
    # gensim's initial vectors are twice as long as those of word2vec and manyview, which makes a difference of 0.004 in F1 here.
    model.wv.vectors *= 0.5
    # Counting is not included here; in manyview's time it is.
    began = time.perf_counter()
    model.train(walks, total_examples=len(walks), epochs=1)
    seconds = time.perf_counter() - began
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "embedding.npy", model.wv.vectors)
        (folder / "nodes.txt").write_text("".join(f"{word}\n" for word in model.wv.index_to_key))
    print(json.dumps({"seconds": seconds}))


def pairs(path):
    """The expected number of pairs from the walks with random window sizes."""
    lengths = np.array([line.count(" ") + 1 for line in path.read_text().splitlines()])
    apart = range(1, WINDOW + 1)
    return sum(2 * np.maximum(lengths - t, 0).sum() * (WINDOW - t + 1) / WINDOW for t in apart)


def lines_of(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout or "{}")


def score(binary, folder, labels):
    found = lines_of([binary, "evaluate", "classify", folder, "--labels", labels, "--json", "--quiet"])
    return np.mean([run["micro_f1"] for share in found["shares"] for run in share["runs"]])


def section(bench, measure, binary, step):
    """Measures both programs alternately, and records the times and the number of pairs; with labels, scores must agree."""
    try:
        import gensim
    except ImportError:
        return bench.skip("skipgram", "gensim is not installed")
    edges = bench.data and bench.data / "flickr" / "friendship.tsv"
    if not edges or not edges.exists():
        return bench.skip("skipgram", "flickr/friendship.tsv not found; use --data or MANYVIEW_DATA")
    walks = bench.work / "flickr-walks.txt"
    lines_of([measure, "skip-gram", edges, "--walks", WALKS, "--only-walks", walks])
    count = round(pairs(walks))
    folders = {"manyview": bench.work / "skipgram-ours", "gensim": bench.work / "skipgram-theirs"}
    for repeat in range(bench.plan["runs"]):
        for threads in (1, 2):
            step(f"skipgram, {threads} threads, repeat {repeat + 1}")
            ours = [measure, "skip-gram", edges, "--walks", WALKS, "--dim", DIM, "--threads", threads, "--out", folders["manyview"]]
            us = lines_of(ours)
            them = lines_of([sys.executable, Path(__file__), "theirs", walks, threads, folders["gensim"]])
            note = {who: "" for who in folders}
            labels = bench.data / "flickr" / "labels.tsv"
            if labels.exists() and repeat == 0:
                scores = {who: score(binary, folder, labels) for who, folder in folders.items()}
                # Different seeds alone make a difference of 0.003 in either program.
                if scores["manyview"] < scores["gensim"] - 0.015:
                    sys.exit(f"skipgram: micro F1 {scores}; not a fair comparison")
                note = {who: f"micro F1 {scores[who]:.4f}" for who in folders}
            for who, found in (("manyview", us), ("gensim", them)):
                case = {"what": "flickr", "entries": count, "who": who, "width": DIM, "threads": threads, "repeat": repeat}
                bench.record("skipgram", seconds=found["seconds"], note=note[who], **case)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5) or sys.argv[1] != "theirs":
        sys.exit(__doc__)
    theirs(Path(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]) if len(sys.argv) == 5 else None)
