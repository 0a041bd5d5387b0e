#!/bin/bash
# A stranger's first hour, for docs/getting-started.md: each command with its time, in a new home.
#
#     scripts/first_hour.sh [PROJECT]     by default a copy of this repository
#
# Everything is made in a temporary folder and removed at the end.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d -t ragforge-first-hour-XXXXXX)
trap 'rm -rf "$folder"' EXIT
project=${1:-$folder/clone}
if [ $# = 0 ]; then git clone -q "$root" "$project"; fi
mkdir "$folder/home"
unset $(compgen -e | grep -E '^(RAGFORGE_|PYTHONPATH|VIRTUAL_ENV)') 2>/dev/null || true
export HOME="$folder/home" TIMEFORMAT='    %R s, %U + %S CPU s'
show() { echo "$ $*"; time "$@" > "$folder/output" 2>&1 || echo "    exit code $?"; tail -n "${lines:-2}" "$folder/output" | sed 's/^/    /'; }

show python3 -m venv "$folder/venv"
show "$folder/venv/bin/pip" install -q "$root"
PATH="$folder/venv/bin:$PATH"
du -sh "$folder/venv" | sed 's/^/    /'
cd "$project"
show ragforge --version
lines=4 show ragforge doctor
show ragforge help
show ragforge demo --yes
lines=6 show ragforge ask "Where does the program start?"
show ragforge remember "The first hour is measured by scripts/first_hour.sh."
lines=4 show ragforge search "how do we measure the first hour" --in memory -k 1
show ragforge import
lines=8 show ragforge today
