#!/usr/bin/env bash
# Prints the terminal session that the README shows, as it happens: `make demo` runs it. $1 is the cargo profile of the command that it
# runs, `release` without it.
set -euo pipefail
cd "$(dirname "$0")/.."
fewest="${CARGO_TARGET_DIR:-target}/${1:-release}/fewest"
if [ ! -x "$fewest" ]; then
  echo "build the command first: cargo build --profile ${1:-release} -p fewest-cli" >&2
  exit 1
fi
case "$fewest" in /*) ;; *) fewest="$PWD/$fewest" ;; esac
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cp data/wdbc.csv "$folder/"
cd "$folder"

say() { # prints the command as a user types it, then runs it
  echo "\$ fewest $*"
  "$fewest" "$@"
  echo
}

say check wdbc.csv
say study wdbc.csv --repeats 1 --report study.html --model model.json --quiet
say select wdbc.csv --method exact --max-features 5 --proof wdbc.proof --quiet
say verify wdbc.proof wdbc.csv
say select wdbc.csv --method rfe --max-features 5 --certify --quiet
say path wdbc.csv --method exact --max-features 1..6 --quiet
say predict model.json wdbc.csv --out predicted.csv
echo "\$ head -3 predicted.csv"
head -3 predicted.csv
