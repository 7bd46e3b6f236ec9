#!/usr/bin/env bash
# The tests that need MPI: collectives and whole runs on 1 to 4 ranks, invalid inputs, killed ranks, Ctrl-C. All ranks run on
# this machine, possibly more than it has cores. The binary is kept in target/mpi/manyview. The test profile is used because
# its dependencies are already built.
set -euo pipefail
cd "$(dirname "$0")/../.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

cargo clippy --package manyview-mpi --package manyview-cli --features manyview-cli/mpi --all-targets --locked -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --package manyview-mpi --no-deps --document-private-items --locked --quiet
# In one command: two would resolve other features and build the library twice.
cargo build --locked --package manyview-cli --package manyview-mpi --features manyview-cli/mpi --bins --example collectives \
  --target-dir target
mkdir -p target/mpi
cp target/debug/manyview target/mpi/manyview

# Open MPI needs an option to run more ranks than cores; MPICH does not have it.
oversubscribe=
if mpirun --version 2>&1 | grep -q "Open MPI"; then oversubscribe=--oversubscribe; fi
for ranks in 1 2 3 4; do
  timeout 60 mpirun $oversubscribe -n "$ranks" target/debug/examples/collectives
done
python3 crates/mpi/test_ranks.py target/mpi/manyview 2>&1
