#!/usr/bin/env python3
"""Runs the shell blocks of README.md and docs/*.md, so that they cannot go stale.

    python3 docs/check_readme.py target/release

The argument is the folder with the built `manyview`. A block is run when the line before its ```sh is
`<!-- run -->`. Blocks of one file run in order in one temporary folder, which has the repository's `data` in it;
a block ends at the first command that fails, and then so does this script, with exit code 1.
Needs Python 3.8 and a POSIX shell; no network.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = re.compile(r"^<!-- run -->\n+```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
SECONDS = 120  # for all blocks together


def blocks(path):
    text = path.read_text(encoding="utf-8")
    if text.count("<!-- run -->") != len(MARK.findall(text)):
        sys.exit(f"{path}: a <!-- run --> is not followed by a ```sh block")
    for found in MARK.finditer(text):
        yield text.count("\n", 0, found.start(1)) + 1, found.group(1)


def run(block, folder, environment, seconds):
    try:
        done = subprocess.run(
            ["sh", "-e", "-c", block], cwd=folder, env=environment, timeout=seconds, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    except subprocess.TimeoutExpired:
        return f"not done after {seconds:.0f} s"
    return f"exit code {done.returncode}\n{done.stdout}" if done.returncode else None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    binaries = pathlib.Path(sys.argv[1]).resolve()
    if not any((binaries / name).is_file() for name in ("manyview", "manyview.exe")):
        sys.exit(f"{binaries} has no manyview; build it with cargo build --release")
    environment = dict(os.environ, PATH=f"{binaries}{os.pathsep}{os.environ.get('PATH', '')}")
    end = time.monotonic() + SECONDS
    count = failures = 0
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(ROOT / "data", os.path.join(folder, "data"))
            for line, block in blocks(path):
                began = time.monotonic()
                failure = run(block, folder, environment, max(1, end - began))
                count += 1
                failures += failure is not None
                place = f"{path.relative_to(ROOT)}:{line}"
                print(f"{place}: {failure or f'ok, {time.monotonic() - began:.1f} s'}", flush=True)
    print(f"{count} blocks, {failures} failed")
    sys.exit(1 if failures or not count else 0)


if __name__ == "__main__":
    main()
