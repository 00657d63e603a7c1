#!/bin/sh
# Try a built program as a user would: commands, a run with its worker, the window on a virtual screen. Needs xvfb.
#   sh packaging/try_package.sh [PROGRAM]      the folder of the last build; /usr/bin/phexplore where the .deb is installed
set -eu
cd "$(dirname "$0")/.."
program=${1:-out/package/folder/phexplore/phexplore}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home"
export HOME="$work/home" XDG_CACHE_HOME="$work/home"
"$program" forecast sdhc-2020-us --json >"$work/forecast.json"
"$program" synth sdhc --persons 20000 --seed 1 --out "$work/population" >/dev/null
"$program" run sdhc-2020-us --data "$work/population" --trials 2 --seed 1 --out "$work/run" >/dev/null
"$program" synth pl94 --blocks 60 --seed 1 --out "$work/blocks.csv.gz" >/dev/null
"$program" run pl94-2020-persons-us --data "$work/blocks.csv.gz" --trials 1 --seed 1 --out "$work/topdown" --microdata --keep-measurements >/dev/null
"$program" run pl94-2020-persons-us --measurements "$work/topdown" --trials 1 --out "$work/estimated" >/dev/null
"$program" run group-sizes-census-2010 --trials 1 --seed 1 --out "$work/sizes" >/dev/null
"$program" run counties-invariant-2010 --trials 1 --seed 1 --out "$work/counties" >/dev/null
"$program" spine build "$work/blocks.csv.gz" --preset pl94-2020 --out "$work/blocks.spine" >/dev/null
"$program" spine variance "$work/blocks.spine" pl94-2020-persons-us --queries total >/dev/null
# A report of every system's run, in every form: fonts, pages, slides, workbooks and pictures are libraries of their own.
for run in run topdown sizes counties; do
  for form in html pdf docx pptx csv png svg; do "$program" report "$work/$run" --format $form --out "$work/$run-report.$form" >/dev/null; done
done
"$program" export sdhc-2020-us --format phsafe-config --out "$work/config.json" >/dev/null
"$program" export pl94-2020-persons-us --format das-ini --out "$work/das.ini" >/dev/null
for form in xlsx pdf docx pptx; do "$program" export sdhc-2020-us --format $form --out "$work/parameters.$form" >/dev/null; done
# Published files, where the tests have them too: archives, Parquet, shapes of a database.
published=../shared/data/published
if [ -d $published ]; then
  nhgis=$published/nhgis/made/nhgis_ppdd_20210428_12-2_block_RI.zip
  for file in "$nhgis" $published/pl94/*.zip $published/nmf/*.zip $published/ppmf/made/*.zip $published/tiger/*.gpkg; do
    "$program" data describe "$file" >/dev/null
  done
  "$program" run pl94-2020-persons-us --data "$nhgis" --trials 1 --seed 1 --out "$work/published" >/dev/null
  "$program" report "$work/published" --format svg --choose shapes=$published/tiger/tl_2023_44_tract.zip --out "$work/map" >/dev/null
fi
"$program" bundle sdhc-2020-us --out "$work/proposal.bundle" >/dev/null
"$program" verify "$work/proposal.bundle" >/dev/null
"$program" run sdhc-2020-us --data "$work/population" --trials 2 --seed 1 --out "$work/run" --json >"$work/again.json"
if grep -l phexplore.compiled "$work"/*/log.txt; then echo "the built program compiled" >&2; exit 1; fi
if [ -n "$(find "$work/home" -name '*.bin')" ]; then echo "the built program compiled" >&2; exit 1; fi
# The window works for ten seconds: `timeout` ends it with 124; any other status is a window that did not stay.
status=0
XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work timeout 10 xvfb-run -a "$program" gui >"$work/window.log" 2>&1 || status=$?
[ $status = 124 ] || { cat "$work/window.log" >&2; echo "the window ended with status $status" >&2; exit 1; }
echo "the built program works: forecast, populations, runs of all four systems with their reports in seven forms, microdata, kept answers, spine, exports, published files, bundle, window; nothing was compiled"
