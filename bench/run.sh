#!/usr/bin/env bash
# All measurements, in one run on one machine: us, scikit-learn, SciPy and gensim on the same matrices and walks. See bench/README.md.
set -euo pipefail

usage() {
  cat <<'TEXT'
bench/run.sh [--quick] [--data DIR] [--name NAME] [--only SECTION,...]
bench/run.sh --only scale [--quick] [--name NAME]
bench/run.sh --only living [--quick] [--data DIR] [--name NAME]
bench/run.sh --only fuzz [--minutes N] [--name NAME]

  --quick      small sizes, one repeat: does it run? (under 3 minutes after the build)
  --data DIR   folder with flickr/friendship.tsv; also from MANYVIEW_DATA
  --only ...   some of nmf, equal_error, proximity, svd, growth, whole_runs, evaluate, skipgram, tucker, ranks
  --only scale networks of up to a million nodes; about an hour, and 12 GB of memory
  --only living  fold-in and update beside a refit, of data/digits and DIR/flickr
  --only fuzz  nothing is measured: the readers get mutated files, see fuzz/README.md
  --minutes N  how long to fuzz [default: 10]
  --name NAME  what to call this machine in the folder's name [default: machine]

Writes bench/runs/<date>-<name>/ with raw.csv, machine.txt and summary.md.
TEXT
}

command="bench/run.sh $*"
quick=() only=() data="${MANYVIEW_DATA:-}" name=machine minutes=10
while [ $# -gt 0 ]; do
  case "$1" in
    --quick) quick=(--quick) ;;
    --data) data="${2:?--data needs a folder}"; shift ;;
    --only) only=(--only "${2:?--only needs sections}"); shift ;;
    --minutes) minutes="${2:?--minutes needs a number}"; shift ;;
    --name) name="${2:?--name needs a name}"; shift ;;
    -h | --help) usage; exit ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
[ -z "$data" ] || data="$(cd "$data" && pwd)"
cd "$(dirname "$0")/.."

# What a run was made with.
describe() {
  echo "date        $(date -u '+%Y-%m-%d %H:%M') UTC"
  echo "command     $command"
  echo "commit      $(git rev-parse HEAD)$(git diff --quiet HEAD || echo ' with uncommitted changes')"
  echo "processor   $(sed -n 's/^model name.*: //p' /proc/cpuinfo 2>/dev/null | head -n 1), $(getconf _NPROCESSORS_ONLN) cores"
  echo "compiler    $(rustc --version)"
  echo
}

if [ "${only[*]}" = "--only fuzz" ]; then
  out="bench/runs/$(date -u +%Y-%m-%d)-$name-fuzz"
  [ ! -e "$out" ] || out="$out-$(date -u +%H%M%S)"
  cargo build --profile fuzz --locked -p manyview-fuzz
  mkdir -p "$out"
  describe >"$out/fuzz.txt"
  # The seed is the date, so that runs of different days have different inputs; it is part of the output.
  target/fuzz/fuzz --minutes "$minutes" --seed "$(date -u +%Y%m%d)" | tee -a "$out/fuzz.txt"
  echo "written to $out"
  exit
fi

if [ "${only[*]}" = "--only scale" ]; then
  out="bench/runs/$(date -u +%Y-%m-%d)-$name-scale"
  [ ${#quick[@]} = 0 ] || out="target/bench/quick-scale-$(date -u +%Y%m%dT%H%M%S)"
  [ ! -e "$out" ] || out="$out-$(date -u +%H%M%S)"
  cargo build --release --locked -p manyview-cli -p manyview-bench
  mkdir -p "$out"
  describe >"$out/machine.txt"
  # Passes over a matrix of 10^6 nodes; as small as a test in a quick run.
  sparse=(--threads 1 --repeats 5)
  [ ${#quick[@]} = 0 ] || sparse=(--threads 1 --repeats 1 --nodes 100000 --entries 20)
  target/release/measure sparse "${sparse[@]}" | tee "$out/sparse.jsonl"
  python3 bench/scale.py "$out" "${quick[@]}"
  echo "written to $out"
  exit
fi

if [ "${only[*]}" = "--only living" ]; then
  out="bench/runs/$(date -u +%Y-%m-%d)-$name-living"
  [ ${#quick[@]} = 0 ] || out="target/bench/quick-living-$(date -u +%Y%m%dT%H%M%S)"
  [ ! -e "$out" ] || out="$out-$(date -u +%H%M%S)"
  cargo build --release --locked -p manyview-cli
  mkdir -p "$out"
  describe >"$out/machine.txt"
  repeats=5
  [ ${#quick[@]} = 0 ] || repeats=1
  python3 bench/living.py data/digits --speed --nodes 200 --repeats "$repeats" | tee "$out/speed.md"
  if [ -n "$data" ]; then
    echo | tee -a "$out/speed.md"
    python3 bench/living.py "$data/flickr" --speed --repeats "$repeats" | tee -a "$out/speed.md"
  else
    echo "skipped: flickr, which needs --data" | tee -a "$out/speed.md"
  fi
  echo "written to $out"
  exit
fi

cargo build --release --locked -p manyview-cli -p manyview-bench
venv=target/bench-venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import numpy, scipy, sklearn, gensim' 2>/dev/null ||
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check numpy scipy scikit-learn gensim

out="bench/runs/$(date -u +%Y-%m-%d)-$name"
[ ${#quick[@]} = 0 ] || out="target/bench/quick-$(date -u +%Y%m%dT%H%M%S)"
if [ -e "$out" ]; then
  # Old runs are never edited.
  out="$out-$(date -u +%H%M%S)"
fi
mkdir -p "$(dirname "$out")"
"$venv/bin/python" bench/measure.py "$out" "${quick[@]}" "${only[@]}" ${data:+--data "$data"} --command "$command"
echo "written to $out"
