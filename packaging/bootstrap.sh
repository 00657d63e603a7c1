#!/bin/sh
# Install what is missing, once: system libraries, a locked virtual environment in .venv, the solver's machine code.
# A second call does nothing.
set -eu
cd "$(dirname "$0")/.."
VENV=.venv
LOCK=packaging/requirements.lock
PY=${PYTHON:-python3}
say() { echo "phexplore: $*" >&2; }

# System libraries are probed by the name of the library, not of the package: package names differ between systems.
need=""
library() { ldconfig -p 2>/dev/null | grep -q "$1" || need="$need $2"; }
if [ "$(uname -s)" = Linux ]; then
  PATH=$PATH:/sbin:/usr/sbin
  library libEGL.so.1 libegl1
  library libGL.so.1 libgl1
  library libglib-2.0.so.0 libglib2.0-0
  library libxkbcommon.so.0 libxkbcommon0
  library libfontconfig.so.1 libfontconfig1
  library libdbus-1.so.3 libdbus-1-3
  library libxcb-cursor.so.0 libxcb-cursor0
  library libxcb-icccm.so.4 libxcb-icccm4
  library libxcb-keysyms.so.1 libxcb-keysyms1
  library libxcb-shape.so.0 libxcb-shape0
  library libxkbcommon-x11.so.0 libxkbcommon-x11-0
  library libX11-xcb.so.1 libx11-xcb1
  library libpango-1.0.so.0 libpango-1.0-0
  library libpangoft2-1.0.so.0 libpangoft2-1.0-0
  library libharfbuzz-subset.so.0 libharfbuzz-subset0
  [ -d /usr/share/fonts/truetype ] || need="$need fonts-dejavu-core"
  [ -e /etc/ssl/certs/ca-certificates.crt ] || need="$need ca-certificates"
  "$PY" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 ||
    need="$need python3 python3-venv"
fi
if [ -n "$need" ] && [ -z "${PHEXPLORE_NO_APT:-}" ]; then
  line="apt-get install --no-install-recommends$need"
  if ! command -v apt-get >/dev/null; then
    say "these are missing; install them with your system's package manager (Debian names):$need"
  elif [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; then
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    say "installing:$need"
    $sudo apt-get -qq update </dev/null >/dev/null
    DEBIAN_FRONTEND=noninteractive $sudo apt-get -qq -y --no-install-recommends install $need </dev/null >/dev/null 2>&1 || {
      say "the system packages could not be installed; run:  $line"
      exit 1
    }
  else
    say "system libraries are missing; run this line, then start again:"
    echo "  sudo $line" >&2
  fi
fi
command -v "$PY" >/dev/null || { say "Python 3.11 or newer is missing"; exit 1; }
"$PY" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { say "Python 3.11 or newer is needed, found $("$PY" -V)"; exit 1; }

stamp=$( { cat "$LOCK" pyproject.toml; "$PY" -V; } | sha256sum | cut -c1-16)
if [ "$(cat $VENV/.stamp 2>/dev/null || true)" != "$stamp" ]; then
  say "preparing $VENV (about 300 MB to download the first time)"
  [ -x $VENV/bin/python ] || "$PY" -m venv $VENV
  $VENV/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r "$LOCK"
  $VENV/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
  echo "$stamp" >$VENV/.stamp
fi
# Bytecode too, whatever PYTHONDONTWRITEBYTECODE says: without it every command reads a hundred modules anew.
$VENV/bin/python -m compileall -q phexplore
# After every change of a kernel, so that nobody waits for a compiler later.
$VENV/bin/python packaging/prepare_kernels.py || say "the solver could not be prepared; it is when it is first used"
