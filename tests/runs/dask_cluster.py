"""A Dask cluster of this machine as a process of its own: ``python dask_cluster.py WORKERS MEMORY [CERTIFICATES]``.

It prints its address, then, for every line on its standard input, the process ids of its workers. It ends with its input.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Self


class ClusterProcess:
    """The cluster as a test sees it."""

    def __init__(self, workers: int, certificates: Path | None = None, memory: int = 0) -> None:
        self._process = subprocess.Popen(
            [
                sys.executable,
                str(Path(__file__)),
                str(workers),
                str(memory),
                *([] if certificates is None else [str(certificates)]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.address = self._process.stdout.readline().strip()

    @property
    def process_id(self) -> int:
        """Of the scheduler and the nannies."""
        return self._process.pid

    def workers(self) -> list[int]:
        """Return the process ids of the workers there are."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return [int(word) for word in self._process.stdout.readline().split()]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with self._process:
            self._process.stdin.close()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()


def main() -> None:
    from distributed import LocalCluster, Security

    options = {}
    if len(sys.argv) > 3:
        ca, cert, key = (f"{sys.argv[3]}/{name}.pem" for name in ("ca", "cert", "key"))
        sides = ("client", "scheduler", "worker")
        files = {f"tls_{side}_{part}": path for side in sides for part, path in (("cert", cert), ("key", key))}
        options = {"security": Security(require_encryption=True, tls_ca_file=ca, **files), "protocol": "tls://"}
    with LocalCluster(
        n_workers=int(sys.argv[1]),
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        memory_limit=int(sys.argv[2]),
        **options,
    ) as cluster:
        sys.stdout.write(f"{cluster.scheduler_address}\n")
        sys.stdout.flush()
        for _ in sys.stdin:
            workers = [str(nanny.pid) for nanny in cluster.workers.values() if nanny.pid]
            sys.stdout.write(f"{' '.join(workers)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
