#!/usr/bin/env python3
"""Runs the shell blocks of README.md and docs/*.md and compares their output with the output shown there.

    python3 docs/check_readme.py target/release

The argument is the folder that contains `manyview`. Marked blocks are run:

- `<!-- run -->` before a ```sh block. If a ```text block follows immediately, it is the expected output.
- `<!-- run -->` before a ```console block: lines that begin with `$ ` are commands, the others their expected output.
- `<!-- run: COMMAND -->` before a ```text block, which is the expected output of the command.

Blocks of one file run in order in one temporary folder, which contains a link to the repository's `data`. Output is
standard output and standard error together. A line `[...]` in the expected output stands for any number of lines.
Times (a number and s, ms, min or h) and sizes (a number and bytes, KB, MB or GB) are not compared.

The exit code is 1 if a command fails or an output differs. Needs Python 3.8 and a POSIX shell; no network.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!-- run(?:: (.*?))? -->\s*\Z", re.DOTALL)
ANY_LINES = "[...]"
TIME = re.compile(r"\s*\b\d[\d.,:]*\s?(s|ms|min|h)\b")
SIZE = re.compile(r"\s*\b\d[\d.,]*\s?(bytes|KB|MB|GB)\b")
SECONDS = 600  # for all blocks together


def blocks(text):
    """Yields the line, the script and the expected output (or None) of every command in a document."""
    fences = list(FENCE.finditer(text))
    marks = 0
    for at, fence in enumerate(fences):
        before = text[fences[at - 1].end() if at else 0:fence.start()]
        mark = MARK.search(before)
        if not mark:
            continue
        marks += 1
        kind, body = fence.groups()
        line = text.count("\n", 0, fence.start(2)) + 1
        if mark.group(1):
            if kind != "text":
                raise ValueError(f"line {line}: <!-- run: COMMAND --> is not followed by a ```text block")
            yield line, mark.group(1), body
        elif kind == "sh":
            after = fences[at + 1] if at + 1 < len(fences) else None
            shown = after and after.group(1) == "text" and not text[fence.end():after.start()].strip()
            yield line, body, after.group(2) if shown else None
        elif kind == "console":
            yield from commands(line, body)
        else:
            raise ValueError(f"line {line}: <!-- run --> is not followed by a ```sh or ```console block")
    if marks != text.count("<!-- run"):
        raise ValueError("a <!-- run --> is not followed by a block")


def commands(line, body):
    """Yields the commands of a ```console block."""
    found = []
    for offset, text in enumerate(body.splitlines()):
        if text.startswith("$ "):
            found.append((line + offset, text[2:], []))
        elif not found:
            raise ValueError(f"line {line}: a ```console block must begin with `$ `")
        else:
            found[-1][2].append(text)
    for number, command, shown in found:
        yield number, command, "".join(f"{text}\n" for text in shown)


def comparable(text):
    """The lines of an output without times and sizes."""
    lines = text.rstrip().splitlines()
    return [SIZE.sub(" SIZE", TIME.sub(" TIME", line)).rstrip() for line in lines]


def matches(expected, lines):
    """Whether lines equal the expected ones, in which `[...]` stands for any number of lines."""
    reached = {0}
    for wanted in expected:
        if wanted == ANY_LINES:
            reached = set(range(min(reached), len(lines) + 1)) if reached else set()
        else:
            reached = {at + 1 for at in reached if at < len(lines) and lines[at] == wanted}
    return len(lines) in reached


def indented(text):
    return "".join(f"    {line}\n" for line in text.rstrip().splitlines())


def run(script, expected, folder, environment, seconds):
    """Runs a script; returns what is wrong with it, or None."""
    try:
        done = subprocess.run(
            ["sh", "-e", "-c", script], cwd=folder, env=environment, timeout=seconds, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    except subprocess.TimeoutExpired:
        return f"still running after {seconds:.0f} s"
    if done.returncode:
        return f"exit code {done.returncode}\n{done.stdout}"
    if expected is None or matches(comparable(expected), comparable(done.stdout)):
        return None
    return f"the output differs; shown:\n{indented(expected)}  real:\n{indented(done.stdout)}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    binaries = pathlib.Path(sys.argv[1]).resolve()
    if not any((binaries / name).is_file() for name in ("manyview", "manyview.exe")):
        sys.exit(f"{binaries} does not contain manyview; build it with cargo build --release")
    environment = dict(os.environ, PATH=f"{binaries}{os.pathsep}{os.environ.get('PATH', '')}")
    end = time.monotonic() + SECONDS
    count = compared = failures = 0
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        name = path.relative_to(ROOT)
        try:
            found = list(blocks(path.read_text(encoding="utf-8")))
        except ValueError as error:
            sys.exit(f"{name}: {error}")
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(ROOT / "data", os.path.join(folder, "data"))
            for line, script, expected in found:
                began = time.monotonic()
                failure = run(script, expected, folder, environment, max(1, end - began))
                count += 1
                compared += expected is not None
                failures += failure is not None
                print(f"{name}:{line}: {failure or f'ok, {time.monotonic() - began:.1f} s'}", flush=True)
    print(f"{count} blocks run, {compared} outputs compared, {failures} failed")
    sys.exit(1 if failures or not count else 0)


if __name__ == "__main__":
    main()
