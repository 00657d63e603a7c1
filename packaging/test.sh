#!/bin/sh
# Install what is missing, then run the checks and the tests. Arguments go to pytest, e.g.  -m slow  or  tests/noise.
set -eu
cd "$(dirname "$0")/.."
sh packaging/bootstrap.sh
[ $# -gt 0 ] || sh packaging/lint.sh
[ $# -gt 0 ] || set -- -m "not slow"
QT_QPA_PLATFORM=${QT_QPA_PLATFORM:-offscreen} exec .venv/bin/python -m pytest "$@"
