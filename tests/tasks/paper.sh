#!/usr/bin/env bash
# A task as a new user would do it: the tables and figures of the paper for one network, with the paper's settings but fewer columns,
# methods and repeats, so that it takes seconds and not hours.
# Usage: paper.sh MANYVIEW NETWORK FOLDER. Prints each command and, at the end, how many were needed.
set -euo pipefail
. "$(dirname "$0")/steps.sh"
manyview=$(realpath "$1")
network=$(realpath "$2")
mkdir -p "$3"
cd "$3"

try "$manyview" compare "$network" --labels "$network/labels.tsv" --preset paper --dim 48 --repeats 2 --c 1 \
  --methods mnmf,netmf,netmf-sum --ablations --no-pictures --quiet -o tables
try "$manyview" figures "$network" --labels "$network/labels.tsv" --preset paper --dim 48 --stages 4 --repeats 2 --only stages,weights \
  --quiet -o figures
echo "commands: $commands"
