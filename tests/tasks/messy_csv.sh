#!/usr/bin/env bash
# A task as a new user would do it: three CSV files as people have them, to one table of people with their vectors.
# Usage: messy_csv.sh MANYVIEW FOLDER. Prints each command and, at the end, how many were needed.
set -euo pipefail
. "$(dirname "$0")/steps.sh"
manyview=$(realpath "$1")
mkdir -p "$2"
cd "$2"

# 60 people in three teams, who mostly meet their own. The files: calls of a database, with row numbers, dates and Windows line
# breaks; mails as pandas writes them, with a byte order mark; visits of a spreadsheet, with decimal commas and broken lines.
awk 'BEGIN {
  srand(7)
  printf "call_id,date,caller,callee,minutes\r\n" > "calls.csv"
  printf "\357\273\277,from,to\n" > "mails.csv"
  print "visit;day;guest;host;hours" > "visits.csv"
  print "nr,name,team" > "people.csv"
  for (i = 0; i < 60; i++) printf "%d,person %02d,%s\n", i, i, substr("red  greenblue ", 5 * (i % 3) + 1, 5) > "people.csv"
  for (k = 0; k < 1500; k++) {
    a = int(rand() * 60); b = int(rand() * 20) * 3 + (rand() < 0.9 ? a % 3 : int(rand() * 3))
    if (a == b) continue
    x = sprintf("person %02d", a); y = sprintf("person %02d", b); day = sprintf("2024-%02d-%02d", k % 12 + 1, k % 28 + 1)
    if (k % 3 == 0) printf "%d,%s,%s, \"%s\",%d\r\n", k, day, x, y, k % 9 + 1 > "calls.csv"
    if (k % 3 == 1) printf "%d,%s,%s\n", k, x, y > "mails.csv"
    if (k % 3 == 2) printf "%d;%s;%s;%s;%s\n", k, day, x, y, k % 50 == 0 ? "unknown" : k % 5 ",5" > "visits.csv"
  }
}'

# The first thing that everybody tries. It is refused, and the message lists the columns and the options.
try "$manyview" embed calls.csv mails.csv visits.csv -o people 2>refused.txt && { echo "garbage was embedded" >&2; exit 1; }
cat refused.txt
grep -q 'the columns are visit, day, guest, host, hours; choose with --source COL and --target COL' refused.txt

try "$manyview" embed --view calls=calls.csv:caller,callee,minutes --view mails=mails.csv --view visits=visits.csv:guest,host,hours \
  --decimal comma --on-error skip -o people --format csv --dim 16 2>log.txt
cat log.txt

# Names and teams beside the vectors.
try join -t, -1 2 -2 1 <(tail -n +2 people.csv | sort -t, -k2,2) <(tail -n +2 people/embedding.csv | sort -t, -k1,1) >joined.csv
echo "commands: $commands"
