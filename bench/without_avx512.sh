#!/bin/sh
# A release build of the command whose code for AVX-512 is left out, so that `beside.py` shows what a processor
# with AVX2 alone would run: OUT is beside.py's OLD or NEW. It builds a copy of HEAD in a worktree of its own.
#
#   bench/without_avx512.sh OUT
set -eu
out=$(realpath -m "$1")
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
copy=$(mktemp -d)
trap 'git -C "$root" worktree remove --force "$copy"' EXIT
git -C "$root" worktree add --quiet --detach --force "$copy" HEAD
cd "$copy"
grep -rlE 'x86_64\+avx512' crates | xargs sed -i -E 's/"x86_64\+avx512[a-z0-9+]*", ?//g'
sed -i 's/, "x86-v4"//g' Cargo.toml
FEWEST_HIGHS=${FEWEST_HIGHS:-$(find "$root/.venv" -type d -name highspy | head -n 1)} \
    cargo build --release -p fewest-cli --target-dir "$root/target/without_avx512"
cp "$root/target/without_avx512/release/fewest" "$out"
