"""Functions run in a process of their own: with limits, without privileges, or to be killed."""

from __future__ import annotations

import os
import pickle
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NOBODY = 65534


def in_child(work: Callable[[], Any], *, unprivileged: bool = False) -> Any:
    """Return what `work` returns in a forked process that ends without cleaning up, as a killed program does.

    Args:
        work: must not need modules that are not imported yet when it is unprivileged.
        unprivileged: root gives up its rights, so that permissions count.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        try:
            if unprivileged and os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            answer = ("done", work())
        except BaseException:  # noqa: BLE001 - the parent fails with its trace
            answer = ("failed", traceback.format_exc())
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        kind, value = pickle.load(pipe)  # noqa: S301 - from our own child
    os.waitpid(child, 0)
    assert kind == "done", value
    return value


@contextmanager
def open_folder() -> Iterator[Path]:
    """Give a folder that everybody may enter, unlike pytest's."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder
        for path in (folder, *folder.rglob("*")):
            if path.is_dir():
                path.chmod(0o777)
