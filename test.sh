#!/usr/bin/env bash
# Runs all tests, on a fresh Debian-like machine with Rust and Python: installs what is missing, then checks formatting,
# lints, documentation, the Rust tests, fuzzing, ranks over MPI, our files with NumPy, SciPy and scikit-learn, the pages in a
# browser, layers, packages, runs that are disturbed, the Python package, and the commands of README and docs with their output.
# Prints the time of each step.
set -euo pipefail
cd "$(dirname "$0")"

# Everything is compiled once here: keeping what the next change could reuse would only cost time.
export CARGO_INCREMENTAL=0

began=$SECONDS
step() {
  printf '(%s s)\n\n== %s\n' "$((SECONDS - began))" "$*"
  began=$SECONDS
}
have() { command -v "$1" >/dev/null 2>&1; }

# Installs Debian packages if allowed, otherwise says which ones are needed.
need_packages() {
  if have apt-get && [ "$(id -u)" = 0 ]; then
    apt-get install -y -q "$@" >/dev/null 2>&1 || { apt-get update -q >/dev/null && apt-get install -y -q "$@" >/dev/null; }
  elif have apt-get && have sudo && sudo -n true 2>/dev/null; then
    sudo apt-get update -q >/dev/null && sudo apt-get install -y -q "$@" >/dev/null
  else
    echo "please install: $*" >&2
    exit 1
  fi
}

step "tools"
have cargo || { echo "please install Rust: https://rustup.rs" >&2; exit 1; }
have cc || need_packages gcc libc6-dev
have python3 || need_packages python3
for component in rustfmt clippy; do
  cargo "${component/rust/}" --version >/dev/null 2>&1 || rustup component add "$component"
done
venv=target/test-venv
if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv" 2>/dev/null || { need_packages python3-venv; python3 -m venv "$venv"; }
fi
"$venv/bin/python" -c 'import numpy, scipy, sklearn' 2>/dev/null ||
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check numpy scipy scikit-learn
cargo --version
"$venv/bin/python" -c 'import numpy, scipy, sklearn; print("numpy", numpy.__version__, "scipy", scipy.__version__, "scikit-learn", sklearn.__version__)'

step "formatting"
cargo fmt --all --check

step "lints"
cargo clippy --workspace --exclude manyview-mpi --all-targets --locked -- -D warnings

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --exclude manyview-mpi --no-deps --document-private-items --locked --quiet

step "tests"
cargo test --workspace --exclude manyview-mpi --exclude manyview-python --locked --quiet

step "fuzzing, 30 seconds"
# As the tests were built: with overflow checks, and nothing more to compile.
cargo run --locked --quiet -p manyview-fuzz -- --seconds 30

step "several ranks over MPI"
# In a subshell: need_packages exits where it may not install, and the other tests continue.
have_mpi() { have mpicc && have mpirun && [ -n "$(find /usr/lib /usr/local/lib -name 'libclang*.so*' -print -quit 2>/dev/null)" ]; }
have_mpi || (need_packages openmpi-bin libopenmpi-dev libclang-dev clang) || true
if have_mpi; then
  mpirun --version | head -n 1
  crates/mpi/test.sh
else
  printf '\n*** skipped: no MPI (mpicc, mpirun) or no libclang; nothing was tested on several ranks ***\n\n'
fi

step "the release build"
cargo build --release --locked

step "disturbed runs: signals, full disks, closed streams, two runs at once, memory limits"
python3 tests/faults/campaign.py target/release/manyview

step "our files in NumPy, SciPy and scikit-learn, the pages in a browser, layers, docs and packages"
have_browser() { have chromium || have chromium-browser || have google-chrome; }
have_browser || (need_packages --no-install-recommends chromium) || true
have_browser || printf '\n*** skipped: no Chromium; the pages were not tested in a browser ***\n\n'
"$venv/bin/python" -m unittest discover -s tests -v 2>&1

step "the Python package, from a wheel in its own environment"
python_venv=target/python-venv
python3 -m venv --clear "$python_venv"
"$python_venv/bin/python" -m pip install --quiet --disable-pip-version-check "./python[test]"
(cd python && MANYVIEW_BIN="$PWD/../target/release/manyview" "../$python_venv/bin/python" -m pytest -q)

step "the shell blocks of README and docs"
python3 docs/check_readme.py target/release

printf '(%s s)\n\nall tests passed in %s s\n' "$((SECONDS - began))" "$SECONDS"
