"""The documentation names what exists: code, files and settings."""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "target/release/manyview"
DOCUMENTS = ["docs/method.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "bench/README.md"]
CODE = ["crates", "python", "bench", "fuzz"]
SOURCES = {".rs", ".py", ".pyi", ".js", ".css", ".html", ".sh", ".toml"}
#: Files that manyview reads or writes, and names of other projects.
NOT_IN_THE_SOURCES = {
    "embedding.npy", "nodes.txt", "network.toml", "run.json", "report.html", "labels.tsv", "nodes.tsv", "made.json",
    "scores.json", "flickr/friendship.tsv", "libm", "Default",
}
NAME = re.compile(r"[A-Za-z_]\w*")
PATH = re.compile(r"[\w.-]+(/[\w.-]+)*(/|\.(rs|py|pyi|md|toml|sh|json|txt|npy|tsv|html|css|js))")


def files():
    """All files that git knows or would add, and their folders, as paths relative to the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
        stdout=subprocess.PIPE, encoding="utf-8").stdout.splitlines()
    found = {pathlib.PurePosixPath(path) for path in listed if (ROOT / path).is_file()}
    folders = {folder for path in found for folder in path.parents}
    return found, folders


def without_comments(path):
    text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
    return re.sub(r"^\s*//.*$", "", text, flags=re.M) if path.suffix == ".rs" else text


def spans(text):
    """The texts in backquotes outside of code blocks, each with the file that is named before it in the same cell."""
    text = re.sub(r"^```.*?^```$", lambda block: "\n" * block.group().count("\n"), text, flags=re.M | re.S)
    for number, line in enumerate(text.splitlines(), 1):
        for cell in line.split("|"):
            place = None
            for found in re.finditer(r"`([^`]+)`(:?)", cell):
                if found.group(2) and found.group(1).endswith(".rs"):
                    place = found.group(1)
                yield number, found.group(1), place


def names(span, place=None):
    """The names of code in a span: `a::b`, `name()`, snake_case and CamelCase. Other spans have none, unless they follow the
    name of a file."""
    call = re.fullmatch(r"([\w:]+)(!|\([^()]*\))", span)
    bare = call.group(1) if call else span
    if re.fullmatch(r"\w+(::\w+)+", bare):
        return bare.split("::")
    looks_like_code = place or call or "_" in bare or (bare[:1].isupper() and re.search("[a-z]", bare))
    return [bare] if NAME.fullmatch(bare) and looks_like_code else []


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files, cls.folders = files()
        sources = [path for path in cls.files if path.parts[0] in CODE and path.suffix in SOURCES]
        texts = {path: without_comments(path) for path in sources}
        cls.words = {path: set(NAME.findall(text)) for path, text in texts.items()}
        types = re.compile(r"\b(?:struct|enum|trait|type|class|union) ([A-Z]\w*)")
        cls.types = {name for text in texts.values() for name in types.findall(text)}

    def exists(self, path):
        """A path may be relative to any folder: `nmf/update.rs` is in the sources of some crate."""
        parts = pathlib.PurePosixPath(path).parts
        known = self.folders if path.endswith("/") else self.files
        return any(other.parts[-len(parts):] == parts for other in known)

    def defined(self, wanted, place):
        """All names occur in one source file; the first is a type if it is in CamelCase. Crates and modules are names of
        files and folders."""
        if wanted[0][0].isupper() and re.search("[a-z]", wanted[0]) and wanted[0] not in self.types:
            return False
        modules = {part.removesuffix(".rs") for path in self.words for part in path.parts}
        crates = {f"manyview_{crate}" for crate in modules}
        wanted = {name for name in wanted if name not in modules | crates | {"manyview", "std", "crate"}}
        parts = pathlib.PurePosixPath(place).parts if place else ()
        within = [words for path, words in self.words.items() if path.parts[len(path.parts) - len(parts):] == parts]
        return any(wanted <= words for words in within)

    def test_every_name_in_the_documents_exists(self):
        missing = []
        for document in DOCUMENTS:
            for number, span, place in spans((ROOT / document).read_text(encoding="utf-8")):
                if span in NOT_IN_THE_SOURCES:
                    continue
                if PATH.fullmatch(span):
                    good = self.exists(span)
                else:
                    wanted = names(span, place)
                    good = not wanted or self.defined(wanted, place)
                if not good:
                    missing.append(f"{document}:{number}: `{span}`" + (f" in {place}" if place else ""))
        self.assertEqual(missing, [], "not in the sources:\n" + "\n".join(missing))

    def test_the_check_finds_what_is_gone(self):
        self.assertTrue(self.exists("nmf/update.rs") and self.exists("crates/") and not self.exists("nmf/gone.rs"))
        self.assertTrue(self.defined(["Walk", "step"], "proximity/walk.rs"))
        self.assertFalse(self.defined(["Walk", "gone_step"], None))
        self.assertFalse(self.defined(["view_weights"], "proximity/walk.rs"))
        self.assertFalse(self.defined(["Interrupted"], None), "a variant of an enum, not a type")
        for span, found in {
            "Config::dim": ["Config", "dim"], "fit_with()": ["fit_with"], "Residual": ["Residual"], "max_iter": ["max_iter"],
            "stages N": [], "U V": [], "W_k^2": [], "shared": [], "X": [],
        }.items():
            self.assertEqual(names(span), found, span)
        self.assertEqual(names("multiply", "nmf/update.rs"), ["multiply"])
        self.assertTrue(self.defined(["multiply"], "nmf/update.rs"))
        self.assertFalse(self.defined(["gone"], "nmf/update.rs"))

    def test_commands_of_the_documents_name_packages_and_features_that_exist(self):
        manifests = [path for path in self.files if path.name == "Cargo.toml"]
        texts = [(ROOT / path).read_text(encoding="utf-8") for path in manifests]
        packages = {name for text in texts for name in re.findall(r'^name = "([\w-]+)"', text, flags=re.M)}
        features = {name for text in texts for block in re.findall(r"^\[features\]\n(.*?)(?:^\[|\Z)", text, flags=re.M | re.S)
                    for name in re.findall(r"^(\w+) =", block, flags=re.M)}
        for document in sorted(path for path in self.files if path.suffix == ".md"):
            for line in re.findall(r"cargo \w+ [^`\n]*", (ROOT / document).read_text(encoding="utf-8")):
                for package in re.findall(r" -p ([\w-]+)", line):
                    self.assertIn(package, packages, f"{document}: {line}")
                for feature in re.findall(r" --features (\w+)", line):
                    self.assertIn(feature, features, f"{document}: {line}")


class Links(unittest.TestCase):
    def test_links_between_documents_have_targets(self):
        documents = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")]
        missing = []
        for document in [*documents, *sorted((ROOT / "docs").rglob("*.md"))]:
            for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8")):
                if re.match(r"\w+:", target):
                    continue
                path, _, anchor = target.partition("#")
                other = document.parent / path if path else document
                if not other.exists() or (anchor and other.suffix == ".md" and anchor not in anchors(other)):
                    missing.append(f"{document.relative_to(ROOT)}: {target}")
        self.assertEqual(missing, [])


def anchors(document):
    """The anchors that GitHub gives to the headings of a document."""
    text = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Outputs(unittest.TestCase):
    """docs/check_readme.py, which ./test.sh runs on its own."""

    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(ROOT / "docs"))
        cls.check = __import__("check_readme")
        sys.path.pop(0)

    def wrong(self, script, expected):
        return self.check.run(script, expected, ROOT, None, 60)

    def test_outputs_are_compared_without_times_and_sizes(self):
        self.assertIsNone(self.wrong("echo 'a   1.25 s, 30 MB'", "a  12:05 min, 1.2 GB\n"))
        self.assertIsNone(self.wrong("echo a; echo b; echo c", "a\n[...]\nc\n"))
        self.assertIsNone(self.wrong("echo a", None))
        self.assertIn("shown:\n    b\n  real:\n    a\n", self.wrong("echo a", "b\n"))
        self.assertIn("differs", self.wrong("echo 'score 0.98'", "score 0.97\n"))
        self.assertIn("differs", self.wrong("echo a; echo b", "a\n"))
        self.assertIn("exit code 3", self.wrong("exit 3", None))

    def test_blocks_are_found_with_their_outputs(self):
        text = (
            "<!-- run -->\n```sh\necho a\n```\n\n```text\na\n```\n\nWords.\n\n"
            "<!-- run -->\n```console\n$ echo b\nb\n$ echo c\n```\n\n"
            "<!-- run: echo d -->\n```text\nd\n```\n\n```sh\nnot run\n```\n")
        found = [(script, expected) for _, script, expected in self.check.blocks(text)]
        self.assertEqual(found, [("echo a\n", "a\n"), ("echo b", "b\n"), ("echo c", ""), ("echo d", "d\n")])
        with self.assertRaises(ValueError):
            list(self.check.blocks("<!-- run -->\n\nNo block.\n"))


class Settings(unittest.TestCase):
    def test_the_reference_of_settings_is_current(self):
        script = ROOT / "docs/generate_settings.py"
        done = subprocess.run([sys.executable, script, BINARY, "--check"], stderr=subprocess.PIPE, encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
