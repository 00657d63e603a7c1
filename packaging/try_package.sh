#!/bin/sh
# Try a built program as a user would: commands, a run with its worker, the window on a virtual screen. Needs xvfb.
#   sh packaging/try_package.sh [PROGRAM]
set -eu
cd "$(dirname "$0")/.."
program=${1:-out/package/folder/phexplore/phexplore}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" forecast sdhc-2020-us --json >"$work/forecast.json"
"$program" synth sdhc --persons 20000 --seed 1 --out "$work/population" >/dev/null
"$program" run sdhc-2020-us --data "$work/population" --trials 2 --seed 1 --out "$work/run" >/dev/null
for form in html csv png; do "$program" report "$work/run" --format $form --out "$work/report.$form" >/dev/null; done
"$program" export sdhc-2020-us --format phsafe-config --out "$work/config.json" >/dev/null
# The window works for ten seconds: `timeout` ends it with 124; any other status is a window that did not stay.
status=0
XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work timeout 10 xvfb-run -a "$program" gui >"$work/window.log" 2>&1 || status=$?
[ $status = 124 ] || { cat "$work/window.log" >&2; echo "the window ended with status $status" >&2; exit 1; }
echo "the built program works: forecast, population, run, reports, export, window"
