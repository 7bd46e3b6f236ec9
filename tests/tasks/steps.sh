# Sourced by the tasks: counts the commands that a user types, and shows each, also where its output goes to a file.
commands=0
exec 3>&1
try() {
  commands=$((commands + 1))
  echo "$ $*" >&3
  "$@"
}
