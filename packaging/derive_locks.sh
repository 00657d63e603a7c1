#!/bin/sh
# Derive the lock files: every part with the hashes of all its files, for Python 3.11 and newer on every system.
#   sh packaging/derive_locks.sh [--upgrade]       needs uv (pipx install uv); versions that stand in a lock stay without --upgrade
set -eu
cd "$(dirname "$0")/.."
UV=${UV:-uv}
lock() {
  out=packaging/$1.lock
  shift
  "$UV" pip compile -q --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
    --no-header --no-annotate --no-emit-index-url --no-emit-find-links -o "$out" "$@" >/dev/null
}
# The checkout: the program with its options, tests, checks of style, and what installs it.
printf 'hatchling\neditables\n' | lock requirements pyproject.toml - --extra pdf --extra cluster --extra test --extra lint ${1:-}
# What packages hold; then what builds them, in environments of their own.
lock program pyproject.toml --extra pdf -c packaging/requirements.lock
printf 'build\ncyclonedx-bom\nhatchling\n' | lock package - -c packaging/requirements.lock ${1:-}
printf 'pyinstaller\n' | lock pyinstaller - -c packaging/requirements.lock ${1:-}
# Peers of the benchmarks, measured in the same run; they join the checkout.
printf 'duckdb\nopendp\nortools\npiqp\n' | lock bench - -c packaging/requirements.lock ${1:-}
