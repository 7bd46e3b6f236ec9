"""The README and the example work."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]


def test_the_readmes_blocks_run(tmp_path, monkeypatch):
    blocks = re.findall(r"^```python\n(.*?)^```", (HERE / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "readme.py"
    script.write_text("".join(blocks))
    found = runpy.run_path(str(script))
    assert found["z"].shape == (500, 32)
    assert found["pipeline"].score(found["made"].views, found["made"].labels) > 0.9


def test_the_example_draws(tmp_path):
    picture = tmp_path / "digits.png"
    done = subprocess.run(
        [sys.executable, HERE / "examples" / "digits.py", picture],
        capture_output=True,
        text=True,
        # More threads of BLAS than free cores would take most of the time.
        env={**os.environ, "MPLCONFIGDIR": str(tmp_path), "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shares = [float(share) for share in re.findall(r"([0-9.]+)%", done.stdout)]
    assert len(shares) == 7 and shares[0] > 97 and shares[0] > max(shares[1:])
    import matplotlib.image

    image = matplotlib.image.imread(picture)
    assert image.std() > 0.05, "an empty picture"


def test_the_example_serves_new_nodes(tmp_path):
    done = subprocess.run(
        [sys.executable, HERE / "examples" / "serving.py", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    share = re.search(r"60 new nodes, ([0-9.]+)% of their labels predicted", done.stdout)
    # Chance is a sixth.
    assert share and float(share[1]) > 80, done.stdout
    assert re.search(r"user540 in [0-9.]+ ms; its nearest nodes: user\d+, user\d+, user\d+", done.stdout), done.stdout
