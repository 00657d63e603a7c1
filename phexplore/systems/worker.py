"""The worker process of a run: ``python -m phexplore.systems.worker RUN_DIR [PLACE]``."""

from __future__ import annotations

import os
import sys

from phexplore.runs.place import parse_worker_arguments
from phexplore.runs.worker import main
from phexplore.systems.registry import make_simulation

if __name__ == "__main__":
    status = main(*parse_worker_arguments(sys.argv[1:]), make_simulation)
    # Everything is written and flushed: taking the interpreter and its libraries apart would only cost the user a second.
    os._exit(status)
