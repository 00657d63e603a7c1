#!/bin/sh
# Time the program against its peers in the same run; a table on the screen, JSON in out/bench/.
set -eu
cd "$(dirname "$0")/.."
sh packaging/bootstrap.sh
.venv/bin/python -c 'import duckdb, opendp, ortools, piqp' 2>/dev/null || .venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r packaging/bench.lock
mkdir -p out/bench
for benchmark in ${*:-benchmarks/bench_*.py}; do
  .venv/bin/python "$benchmark" --json "out/bench/$(basename "$benchmark" .py).json"
done
