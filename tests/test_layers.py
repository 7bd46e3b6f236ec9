"""The layers of ARCHITECTURE.md hold: no module uses one that the list there does not allow, and there are no cycles."""

import functools
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES = ["base", "data", "core", "baselines", "analysis", "manyview"]
#: Modules that are part of a crate's root, not layers of their own.
ROOTS = {"lib"}


def modules(crate):
    source = ROOT / "crates" / crate / "src"
    return {path.stem if path.is_file() else path.name for path in source.iterdir()} - ROOTS - {"tests"}


def without_tests(text):
    """Unit tests are at the end of a file and may use what the code may not."""
    return re.split(r"#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*mod \w+ \{", text)[0]


def without_comments(text):
    return re.sub(r"^\s*//.*$", "", text, flags=re.M)


@functools.cache
def exported(crate):
    """The modules of a crate by the names under which its root offers them: themselves, re-exports and macros."""
    source = ROOT / "crates" / crate / "src"
    found = {module: module for module in modules(crate)}
    root = without_comments((source / "lib.rs").read_text(encoding="utf-8"))
    for module, names in re.findall(r"^pub use (?:crate::)?(\w+)::(\{[^}]*\}|[\w:]+);", root, flags=re.M):
        if module in found:
            found.update((path.split("::")[-1], module) for path in re.findall(r"[\w:]+", names))
    for path in source.rglob("*.rs"):
        macros = re.findall(r"#\[macro_export\]\nmacro_rules! (\w+)", path.read_text(encoding="utf-8"))
        found.update((macro, path.relative_to(source).parts[0]) for macro in macros if macro not in found)
    return found


def used(crate, text):
    """All modules that a source text names, in paths and in grouped imports, also through the roots of crates."""
    found = set()
    for prefix, rest in re.findall(r"\b(crate|manyview_\w+)::(\{[^;]*?\}|\w+)", text):
        owner = crate if prefix == "crate" else prefix.removeprefix("manyview_")
        names = re.findall(r"(?:^\{|,)\s*(\w+)", rest) if rest.startswith("{") else [rest]
        found |= {(owner, exported(owner)[name]) for name in names if owner in CRATES and name in exported(owner)}
    return found


def edges():
    found = set()
    for crate in CRATES:
        source = ROOT / "crates" / crate / "src"
        for path in source.rglob("*.rs"):
            parts = path.relative_to(source).with_suffix("").parts
            if parts[0] in ROOTS or "tests" in parts:
                continue
            module = (crate, parts[0])
            text = without_comments(without_tests(path.read_text(encoding="utf-8")))
            if len(parts) == 1 or parts[1:] == ("mod",):
                text = text.replace("super::", "crate::")
            found |= {(module, other) for other in used(crate, text) if other != module}
    return found


def name(module):
    return "::".join(module)


def allowed():
    """The list in ARCHITECTURE.md: `core::nmf: base::error, core::comm`."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    block = re.search(r"```layers\n(.*?)```", text, flags=re.S).group(1)
    found = set()
    for line in block.splitlines():
        module, _, others = line.partition(":  ")
        for other in filter(None, (other.strip() for other in others.split(","))):
            owner = module.strip().split("::")
            target = other.split("::") if "::" in other else [owner[0], other]
            found.add((tuple(owner), tuple(target)))
    return found


def written(found):
    """The edges as ARCHITECTURE.md lists them; modules of the same crate without its name."""
    lines = []
    for crate in CRATES:
        for module in sorted(modules(crate)):
            others = sorted(other for (user, other) in found if user == (crate, module))
            names = [other[1] if other[0] == crate else name(other) for other in others]
            lines.append(f"{crate}::{module}:  {', '.join(names)}".rstrip())
    return "\n".join(lines)


class Layers(unittest.TestCase):
    def test_uses_through_the_root_of_a_crate_are_seen(self):
        self.assertIn(("manyview", "model"), {user for user, other in edges() if other == ("baselines", "netmf")})
        self.assertEqual(used("core", "use manyview_data::{Embedding, io};"), {("data", "embedding"), ("data", "io")})
        self.assertEqual(used("core", "use manyview_data::Network;"), {("data", "network")})
        self.assertEqual(used("core", "manyview_base::named! {}"), {("base", "settings")})

    def test_every_use_is_in_the_architecture(self):
        unknown = edges() - allowed()
        self.assertFalse(unknown, "\n".join(f"{name(a)} uses {name(b)}" for a, b in sorted(unknown)))

    def test_the_architecture_lists_nothing_that_is_gone(self):
        gone = allowed() - edges()
        self.assertFalse(gone, "\n".join(f"{name(a)} no longer uses {name(b)}" for a, b in sorted(gone)))

    def test_there_are_no_cycles(self):
        uses = {}
        for user, other in edges():
            uses.setdefault(user, set()).add(other)
        done, path = set(), []

        def visit(module):
            if module in path:
                cycle = path[path.index(module) :] + [module]
                self.fail("a cycle: " + " -> ".join(map(name, cycle)))
            if module in done:
                return
            path.append(module)
            for other in sorted(uses.get(module, ())):
                visit(other)
            path.pop()
            done.add(module)

        for module in sorted(uses):
            visit(module)

    def test_crates_only_use_lower_crates(self):
        lower = {"base": [], "data": ["base"], "core": ["base", "data"], "analysis": ["base", "data"]}
        lower["baselines"] = ["base", "data", "core"]
        lower["manyview"] = ["base", "data", "core", "baselines", "analysis"]
        for (user, _), (other, _) in edges():
            self.assertTrue(user == other or other in lower[user], f"{user} uses {other}")


if __name__ == "__main__":
    import sys

    if sys.argv[1:] == ["--write"]:
        print(written(edges()))
    else:
        unittest.main()
