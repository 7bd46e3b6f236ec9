"""Other programs that embed a single network, on the union of the views: ProNE, Cleora, DeepWalk by PecanPy and by fastnode2vec.

python3 bench/rivals.py prepare VENVS               installs each of them in an environment of its own (they disagree about NumPy)
VENVS/NAME/bin/python bench/rivals.py run NAME NETWORK OUT DIM      embeds; prints one JSON object with seconds and memory

NETWORK is a folder of `manyview generate`. The edges of all views are added up. Settings are those of each program's own defaults,
except for the number of columns and threads, and walks of the length and number given below. OUT has the format of a result.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

# Versions that were found to work together.
PACKAGES = {
    "prone": ["nodevectors==0.1.23", "numpy==2.4.6", "scipy==1.17.1"],
    "cleora": ["pycleora==3.2.1", "numpy==2.4.6", "scipy==1.17.1"],
    "pecanpy": ["pecanpy==2.0.9", "numpy==1.26.4", "scipy==1.17.1"],
    "fastnode2vec": ["fastnode2vec==0.0.7", "numpy==2.4.6", "scipy==1.17.1"],
}
THREADS = 2
# Ten walks of 40 steps from every node: half the length of PecanPy's default, for time.
WALKS, LENGTH, WINDOW = 10, 40, 5


def prepare(folder):
    """The names of the programs that could be installed, and why others could not."""
    refused = {}
    for name, packages in PACKAGES.items():
        python = folder / name / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], capture_output=True, text=True)
        if done.returncode:
            refused[name] = done.stderr.strip().splitlines()[-1]
    return [name for name in PACKAGES if name not in refused], refused


def union(folder):
    """The sum of the adjacency matrices of all views, and the ids."""
    import numpy as np
    import scipy.sparse as sp

    nodes = (folder / "nodes.txt").read_text().split()
    number = {node: index for index, node in enumerate(nodes)}
    total = sp.csr_matrix((len(nodes), len(nodes)))
    for path in sorted(folder.glob("view*.tsv")):
        ends = np.array([number[word] for word in path.read_text().split()]).reshape(-1, 2)
        once = sp.csr_matrix((np.ones(len(ends)), ends.T), shape=total.shape)
        total = total + once + once.T
    return total, nodes


def prone(matrix, dim, _):
    import nodevectors

    return nodevectors.ProNE(n_components=dim, verbose=False).fit_transform(matrix)


def cleora(matrix, dim, _):
    import numpy as np
    import pycleora
    import scipy.sparse as sp

    upper = sp.triu(matrix).tocoo()
    # An edge of several views is repeated.
    rows, cols = (np.repeat(ends, upper.data.astype(int)) for ends in (upper.row, upper.col))
    graph = pycleora.SparseMatrix.from_iterator((f"{a} {b}" for a, b in zip(rows, cols, strict=True)), "complex::reflexive::node")
    return ordered(pycleora.embed(graph, dim, num_workers=THREADS), map(int, graph.entity_ids), matrix.shape[0])


def pecanpy(matrix, dim, work):
    import scipy.sparse as sp
    from pecanpy import pecanpy

    upper = sp.triu(matrix).tocoo()
    path = work / "edges.edg"
    with open(path, "w") as file:
        file.writelines(f"{a}\t{b}\t{w}\n" for a, b, w in zip(upper.row, upper.col, upper.data, strict=True))
    graph = pecanpy.PreCompFirstOrder(1, 1, THREADS)
    graph.read_edg(str(path), True, False)
    path.unlink()
    graph.preprocess_transition_probs()
    vectors = graph.embed(dim=dim, num_walks=WALKS, walk_length=LENGTH, window_size=WINDOW, epochs=1)
    return ordered(vectors, map(int, graph.nodes), matrix.shape[0])


def fastnode2vec(matrix, dim, _):
    import scipy.sparse as sp
    from fastnode2vec import Graph, Node2Vec

    upper = sp.triu(matrix).tocoo()
    edges = list(zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True))
    graph = Graph(edges, directed=False, weighted=True)
    model = Node2Vec(graph, dim=dim, walk_length=LENGTH, window=WINDOW, p=1.0, q=1.0, workers=THREADS, seed=0)
    model.train(epochs=WALKS)
    return ordered(model.wv.vectors, model.wv.index_to_key, matrix.shape[0])


def ordered(vectors, rows_of, nodes):
    """Rows by node; nodes without edges are at zero."""
    import numpy as np

    found = np.zeros((nodes, vectors.shape[1]), dtype=np.float32)
    found[list(rows_of)] = vectors
    return found


def run(name, network, out, dim):
    import numpy as np

    matrix, nodes = union(network)
    out.mkdir(parents=True, exist_ok=True)
    began, before = time.perf_counter(), time.process_time()
    vectors = {"prone": prone, "cleora": cleora, "pecanpy": pecanpy, "fastnode2vec": fastnode2vec}[name](matrix, dim, out)
    seconds, cores = time.perf_counter() - began, time.process_time() - before
    np.save(out / "embedding.npy", np.ascontiguousarray(vectors, dtype=np.float32))
    (out / "nodes.txt").write_text("".join(f"{node}\n" for node in nodes))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps({"seconds": seconds, "core_seconds": cores, "peak_mb": peak}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["prepare"] and len(sys.argv) == 3:
        print(*prepare(Path(sys.argv[2])))
    elif sys.argv[1:2] == ["run"] and len(sys.argv) == 6:
        run(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]), int(sys.argv[5]))
    else:
        sys.exit(__doc__)
