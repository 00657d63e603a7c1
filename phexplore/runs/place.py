"""Where a run is computed, and with how many threads: said by a person at every start, never kept in a file.

A scheduler of Dask is trusted with running code here, because Dask unpickles what it sends. So its address comes from
whoever starts the run, each time. It is no part of a run's specification and changes no byte of its result.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from phexplore.errors import PhexploreError

TLS = "tls://"
TLS_WORDS = ("Certificate of the authority", "Certificate of this machine", "Key of this machine's certificate")
"""What an encrypted connection needs, for people; in the order of `TlsFiles`."""


class PlaceError(PhexploreError):
    """Where to compute is not said in a way that can be followed."""


USUAL_MEMORY = 2 << 30
"""Bytes a run may take where nobody says: data that need more are estimated state by state."""

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def read_memory(text: str) -> int:
    """Return the bytes that a text like ``4G`` or ``800M`` names.

    Raises:
        ValueError: it is no such text.
    """
    found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,3})?)\s*([KMGT]?)(?:I?B)?\s*", text, re.ASCII | re.IGNORECASE)
    amount = int(Fraction(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if not amount:
        raise ValueError(f"{text.strip()!r} is no amount of memory; write it like 4G or 800M.")
    return amount


def memory_words(size: int) -> str:
    """Return bytes as `read_memory` takes them, in the largest unit that leaves a whole number."""
    unit = max((unit for unit, bytes_ in _UNITS.items() if size % bytes_ == 0), key=_UNITS.__getitem__)
    return f"{size // _UNITS[unit]}{unit}"


def cores() -> int:
    """Return how many processors this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Certificates for an encrypted connection to a scheduler, PEM.

    Attributes:
        authority: certificate of the authority that signed the scheduler's and the workers'.
        certificate: of this machine.
        key: of that certificate.
    """

    authority: Path
    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run is computed.

    Attributes:
        workers: trials computed at the same time; None as the specification says. Changes no byte.
        scheduler: address of a Dask scheduler, "" for this machine.
        tls: certificates for a scheduler at a ``tls://`` address; None leaves them to Dask's own settings.
        memory: bytes that the run may take on this machine, None for `USUAL_MEMORY`. Changes no count.
    """

    workers: int | None = None
    scheduler: str = ""
    tls: TlsFiles | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        """Refuse what contradicts itself.

        Raises:
            PlaceError: no worker at all, or certificates for a connection that would not use them.
        """
        if self.workers is not None and self.workers < 1:
            raise PlaceError(f"A run has at least 1 worker, got {self.workers}.", "Ask for 1 or more.")
        if self.tls is not None and not self.scheduler.startswith("tls://"):
            raise PlaceError(
                f"Certificates are given, but the connection to {self.scheduler or 'this machine'} would not be encrypted.",
                "Write the scheduler's address as tls://host:8786, or leave the certificates out.",
            )

    def arguments(self) -> list[str]:
        """Return what the worker of a run is told beside its directory; `parse_worker_arguments` reads it."""
        told: dict[str, int | str | Path | None]
        told = {"workers": self.workers, "scheduler": self.scheduler or None, "memory": self.memory}
        if self.tls is not None:
            told |= {"tls-ca-file": self.tls.authority, "tls-cert": self.tls.certificate, "tls-key": self.tls.key}
        return [f"--{name}={value}" for name, value in told.items() if value is not None]


HERE = Place()
"""This machine, with as many workers as the specification says."""


def tls_files(authority: Path | None, certificate: Path | None, key: Path | None) -> TlsFiles | None:
    """Return the certificates of an encrypted connection, None when none is named.

    Args:
        authority: certificate of the authority, PEM.
        certificate: of this machine, PEM.
        key: of that certificate, PEM.

    Raises:
        PlaceError: some are named and some are not.
    """
    if authority is None and certificate is None and key is None:
        return None
    if authority is None or certificate is None or key is None:
        raise PlaceError(
            "An encrypted connection needs three files, and not all of them are named.",
            "Give --tls-ca-file, --tls-cert and --tls-key together.",
        )
    return TlsFiles(authority.absolute(), certificate.absolute(), key.absolute())


def read_place(address: str, files: tuple[str, ...]) -> Place:
    """Return where a run is computed.

    Args:
        address: typed, "" for this machine.
        files: typed paths of certificates, in the order of `TlsFiles`.

    Raises:
        ValueError: no address, or a certificate is missing; with none at all, Dask's own settings count.
        PlaceError: there are certificates and the connection would not be encrypted.
    """
    scheduler = address.strip()
    if scheduler and not is_address(scheduler):
        raise ValueError(f"{scheduler!r} is no address; write it like tcp://host:8786, or leave it empty.")
    typed = [name.strip() for name in files]
    if not any(typed):
        return Place(scheduler=scheduler)
    for words, name in zip(TLS_WORDS, typed, strict=True):
        if not name:
            raise ValueError(f"{words} is missing. Choose all three files, or none to use Dask's own settings.")
        if not Path(name).expanduser().is_file():
            raise ValueError(f"{words}: there is no file at {name}. Check the path.")
    authority, certificate, key = (Path(name).expanduser() for name in typed)
    return Place(scheduler=scheduler, tls=tls_files(authority, certificate, key))


def is_address(text: str) -> bool:
    """Return whether a text names a Dask scheduler: host and port, with or without the kind of connection."""
    kind, found, place = text.rpartition("://")
    host, colon, port = place.rpartition(":")
    return (not found or kind in {"tcp", "tls", "ucx", "inproc"}) and bool(host) and bool(colon) and port.isdecimal()


def parse_worker_arguments(arguments: Sequence[str]) -> tuple[Path, Place]:
    """Return the run directory and the place that the arguments of a worker name.

    Raises:
        SystemExit: they name none.
        PlaceError: they contradict each other.
    """
    from argparse import ArgumentParser  # noqa: PLC0415 - for workers only

    parser = ArgumentParser(prog="phexplore --worker")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--memory", type=int)
    parser.add_argument("--scheduler", default="")
    for name in ("ca-file", "cert", "key"):
        parser.add_argument(f"--tls-{name}", type=Path)
    found = parser.parse_args(arguments)
    tls = tls_files(found.tls_ca_file, found.tls_cert, found.tls_key)
    return found.directory, Place(found.workers, found.scheduler, tls, found.memory)
