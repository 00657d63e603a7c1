#!/bin/sh
# Install what is missing, then run the checks and the tests. Arguments go to pytest, e.g.  -m slow  or  tests/noise.
set -eu
cd "$(dirname "$0")/.."
sh packaging/bootstrap.sh
export QT_QPA_PLATFORM="${QT_QPA_PLATFORM:-offscreen}"
[ $# -eq 0 ] || exec .venv/bin/python -m pytest "$@"
sh packaging/lint.sh
# Two halves of equal length beside each other: two cores are at work.
half="tests/attack tests/cli tests/gui tests/interface tests/test_documented_commands.py"
beside= window=$(mktemp)
trap 'kill $beside 2>/dev/null || true; rm -f "$window"' EXIT
.venv/bin/python -m pytest -m "not slow" --durations=25 $half >"$window" 2>&1 &
beside=$!
status=0
.venv/bin/python -m pytest -m "not slow" --durations=25 $(printf -- '--ignore=%s ' $half) || status=$?
wait $beside || status=$?
cat "$window"
exit $status
