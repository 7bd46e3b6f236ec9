"""Extreme but legal sizes: each ends well, or is refused in a sentence, within a stated time."""

RING = "".join(f"{n}\t{(n + 1) % 30}\n" for n in range(30))

#: Name, files, command line, and the time it may take in seconds.
SHORT = [
    ("1,024 stages", {"ring.tsv": lambda: RING}, "embed ring.tsv -o x --dim 1024 --stages 1024", 120),
    ("dim above nodes", {"ring.tsv": lambda: RING}, "embed ring.tsv -o x --dim 500 --stages 2", 30),
    *(
        (f"gamma {gamma}, {solver}", {"ring.tsv": lambda: RING},
         f"embed --view a=ring.tsv --view b=ring.tsv -o x --dim 16 --stages 2 --consensus shared --solver {solver} --gamma {gamma}", 30)
        for gamma in ("1e-300", "1e300")
        for solver in ("hals", "mu")
    ),
    ("dim 60,000", {"ring.tsv": lambda: RING}, "embed ring.tsv -o x --dim 60000 --stages 1 --max-memory 1G", 30),
]  # fmt: skip


def complete_graph(nodes):
    return "".join(f"{a}\t{b}\n" for a in range(nodes) for b in range(a + 1, nodes))


def one_edge_views(views):
    return "".join(f"{n % 7}\t{n % 5 + 7}\tr{n}\n" for n in range(views))


LONG = [
    ("a star of 10^6 leaves", {"star.tsv": lambda: "".join(f"hub\t{n}\n" for n in range(1_000_000))},
     "embed star.tsv -o x --dim 8 --stages 2 --max-memory 4G", 300),
    ("a complete graph of 3,000", {"complete.tsv": lambda: complete_graph(3000)},
     "embed complete.tsv -o x --dim 16 --stages 2 --max-memory 4G", 300),
    ("10^5 views of one edge", {"many.tsv": lambda: one_edge_views(100_000)},
     "embed many.tsv --relation 3 -o x --dim 16 --stages 2 --consensus-stages 2 --max-memory 4G", 300),
    ("10^5 views of one edge, unique stages", {"many.tsv": lambda: one_edge_views(100_000)},
     "embed many.tsv --relation 3 -o x --dim 200000 --stages 2 --max-memory 4G", 300),
]  # fmt: skip


def extreme_sizes(faults):
    for name, files, line, seconds in SHORT + (LONG if faults.long else []):
        with faults.case("extreme sizes", f"{name}: {line}"):
            for file, content in files.items():
                (faults.folder / file).write_text(content())
            process = faults.start(line)
            code, err = faults.end(process, seconds)
            faults.check_words(code, err)
            if code == 0:
                faults.finite("x")
        faults.clear("x")
        for file in files:
            (faults.folder / file).unlink(missing_ok=True)
    if not faults.long:
        faults.skip("the largest of the extreme sizes", "only with --long")
