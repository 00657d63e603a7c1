#!/bin/sh
# Open the program on the demonstration project; without a display, run the same journey and leave its results in out/.
set -eu
cd "$(dirname "$0")/.."
sh packaging/bootstrap.sh
display=no
if [ -n "${WAYLAND_DISPLAY:-}" ] && [ -S "${XDG_RUNTIME_DIR:-/nonexistent}/$WAYLAND_DISPLAY" ]; then display=yes; fi
case "${DISPLAY:-}" in
  :*) number=${DISPLAY#:}; [ -S "/tmp/.X11-unix/X${number%%.*}" ] && display=yes ;;
  ?*) display=yes ;;
esac
if [ $display = yes ] || [ -n "${QT_QPA_PLATFORM:-}" ]; then exec .venv/bin/phexplore gui "$@"; fi
echo "No display found: the demonstration runs without a window; plots, tables and exported files go to out/." >&2
exec .venv/bin/phexplore demo --out out
