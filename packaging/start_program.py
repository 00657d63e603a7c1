"""Where the bundled program starts: the window, a command, or a worker of itself."""

from __future__ import annotations

from phexplore.__main__ import start

if __name__ == "__main__":
    start()
