#!/bin/sh
# Format, lint, types, import contract, messages.
set -eu
cd "$(dirname "$0")/.."
.venv/bin/ruff format --check -q .
.venv/bin/ruff check -q .
.venv/bin/mypy
.venv/bin/lint-imports --no-cache
.venv/bin/python packaging/check_messages.py
