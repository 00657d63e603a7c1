"""Where the bundled program starts: the window, a command, or a worker of itself."""

from __future__ import annotations

import multiprocessing
import sys

from phexplore.__main__ import main

if __name__ == "__main__":
    multiprocessing.freeze_support()
    sys.exit(main())
