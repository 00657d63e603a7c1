#!/bin/sh
# Format, lint, types, import contract.
set -eu
cd "$(dirname "$0")/.."
.venv/bin/ruff format --check -q .
.venv/bin/ruff check -q .
.venv/bin/mypy
.venv/bin/lint-imports --no-cache
