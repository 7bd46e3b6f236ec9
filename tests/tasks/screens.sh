#!/usr/bin/env bash
# A task as a new user would do it: six interaction screens over the same genes, and the question which of them contribute.
# Usage: screens.sh MANYVIEW FOLDER. Prints each command and, at the end, how many were needed.
set -euo pipefail
. "$(dirname "$0")/steps.sh"
manyview=$(realpath "$1")
mkdir -p "$2"
cd "$2"

# 240 genes with eight functions. Five screens find pairs of the same function, each with errors of its own; `yeast2hybrid` is
# random but has the most pairs, and a fifth of the genes is in no screen but it.
awk 'BEGIN {
  srand(11)
  split("affinity complexes coexpression genetic literature", screens, " ")
  print "gene\tfunction" > "functions.tsv"
  for (g = 0; g < 240; g++) printf "g%03d\tfunction %d\n", g, g % 8 > "functions.tsv"
  for (s = 1; s <= 5; s++) for (k = 0; k < 900; k++) {
    a = int(rand() * 192); b = rand() < 0.35 + 0.1 * s ? int(rand() * 24) * 8 + a % 8 : int(rand() * 192)
    if (a != b) printf "g%03d\tg%03d\n", a, b > (screens[s] ".tsv")
  }
  for (k = 0; k < 2500; k++) {
    a = int(rand() * 240); b = int(rand() * 240)
    if (a != b) printf "g%03d\tg%03d\n", a, b > "yeast2hybrid.tsv"
  }
}'
mkdir screens
mv affinity.tsv complexes.tsv coexpression.tsv genetic.tsv literature.tsv yeast2hybrid.tsv screens/

try "$manyview" views screens --alone --labels functions.tsv --dim 32 --quiet >worth.txt
cat worth.txt
try "$manyview" embed screens -o genes --dim 32 --quiet
try "$manyview" report genes --labels functions.tsv --quiet
echo "commands: $commands"
