"""Forged bundles by class, and a reader of bundles that knows nothing of the program.

The reader opens an archive in the two ways that other programs do (by its directory; from front to back), reads JSON with the first and
with the last of two equal keys, and returns what a person would then believe. A forgery succeeds when the program accepts it and states
something else than one of these readings.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import struct
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from signed_bundles import KEYS, NOW, PEOPLE, resealed

from phexplore.decide.signing import sign

MANIFEST, SUMS, SCENARIO, FORECAST = "manifest.json", "SHA256SUMS", "scenario.json", "forecast.json"
DECISIONS, PROJECT, LOG = "decisions.json", "log/project.phx", "log/steps.txt"
SIGNATURES, SYMLINK, FOLDER = "signatures/", 0o120777 << 16, 0o040755 << 16
OTHER = b"forged"


@dataclass(frozen=True)
class Entry:
    """An entry of an archive whose two headers can state different things."""

    name: bytes
    data: bytes
    local: tuple[tuple[str, int | bytes], ...] = ()
    central: tuple[tuple[str, int | bytes], ...] = ()
    before: bytes = b""
    is_listed: bool = True
    is_present: bool = True


FIELDS = ("version", "flags", "method", "time", "date", "crc", "packed", "size", "name", "extra")
_REGULAR = 0o100644 << 16


def archive(entries: list[Entry], *, comment: bytes = b"", front: bytes = b"", count: int | None = None) -> bytes:
    """Return a ZIP archive with exactly these headers."""
    out, directory, listed = io.BytesIO(), b"", 0
    out.write(front)
    place = 0
    for entry in entries:
        plain = {"version": 20, "flags": 0, "method": 0, "time": 0, "date": 33, "crc": zipfile.crc32(entry.data),  # type: ignore[attr-defined]
                 "packed": len(entry.data), "size": len(entry.data), "name": entry.name, "extra": b"",
                 "comment": b"", "attributes": _REGULAR, "made": (3 << 8) | 20}  # fmt: skip
        local, central = plain | dict(entry.local), plain | dict(entry.central)
        out.write(entry.before)
        if entry.is_present:
            place = out.tell()
            numbers = [local[key] for key in FIELDS[:8]]
            out.write(struct.pack("<4s5H3I2H", b"PK\3\4", *numbers, len(local["name"]), len(local["extra"])))
            out.write(local["name"] + local["extra"] + entry.data)
        if entry.is_listed:
            numbers = [central[key] for key in FIELDS[:8]]
            lengths = [len(central[key]) for key in ("name", "extra", "comment")]
            where = central.get("place", place)
            directory += struct.pack(
                "<4s6H3I5H2I", b"PK\1\2", central["made"], *numbers, *lengths, 0, 0, central["attributes"], where
            )
            directory += central["name"] + central["extra"] + central["comment"]
            listed += 1
    start, listed = out.tell(), listed if count is None else count
    return (
        out.getvalue()
        + directory
        + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, listed, listed, len(directory), start, len(comment))
        + comment
    )


def entries_of(content: bytes) -> list[Entry]:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return [Entry(info.filename.encode(), file.read(info)) for info in file.infolist()]


# What other programs read.


def by_directory(content: bytes) -> dict[str, bytes]:
    """Return the files as a program finds them that starts at the end; of two with one name the last."""
    with warnings.catch_warnings(), zipfile.ZipFile(io.BytesIO(content)) as file:
        warnings.simplefilter("ignore")
        return {info.filename: file.read(info) for info in file.infolist()}


def from_front(content: bytes) -> dict[str, bytes]:
    """Return the files as a program finds them that reads a stream; of two with one name the last."""
    found, place = {}, 0
    while (place := content.find(b"PK\3\4", place)) >= 0:
        size, name, extra = struct.unpack_from("<I2H", content, place + 22)
        start = place + 30
        found[content[start : start + name].decode("utf-8", "replace")] = content[start + name + extra :][:size]
        place = start + name + extra + size
    return found


def _first(pairs: list[tuple[str, object]]) -> dict[str, object]:
    return dict(reversed(pairs))


def readings(content: bytes) -> Iterator[dict[str, object]]:
    """Yield what a person believes who reads the archive with another program, one mapping per way of reading it."""
    for files in (by_directory(content), from_front(content)):
        for rule in (dict, _first):
            read = {name: json.loads(files[name], object_pairs_hook=rule)
                    for name in (MANIFEST, SCENARIO, FORECAST, DECISIONS, PROJECT)}  # fmt: skip
            privacy = read[FORECAST]["privacy"]
            yield {
                "scenario": read[SCENARIO]["name"],
                "fingerprint": read[MANIFEST]["fingerprint"],
                "total": Fraction(privacy.get("bounded_rho", privacy["rho"])),
                "status": read[MANIFEST]["status"],
                "clearance": read[MANIFEST]["clearance"],
                "made": read[MANIFEST]["made"],
                "decisions": [[one[key] for key in ("status", "who", "role", "at", "note")] for one in read[DECISIONS]],
                "log": files[LOG].count(b"\n"),
                "runs": sorted(
                    name.split("/")[1] for name in files if name.startswith("runs/") and name.endswith("run.json")
                ),
                "sums": {
                    name: hashlib.sha256(data).hexdigest()
                    for name, data in files.items()
                    if not name.startswith(SIGNATURES)
                },
            }


# Forgeries of the archive.


def _changed(entries: list[Entry], name: bytes, **change: object) -> list[Entry]:
    return [replace(one, **change) if one.name == name else one for one in entries]


def of_headers(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield archives one of whose headers states something else: in one place, in the other, or in both."""
    plain = entries_of(content)
    lookalike = struct.pack("<2HB4s", 0x7075, 5 + len(OTHER), 1, b"\0\0\0\0") + OTHER
    changes: list[tuple[tuple[str, int | bytes], ...]] = [
        (("version", 45),), (("flags", 1),), (("flags", 8),), (("flags", 1 << 11),), (("method", 8),), (("method", 99),),
        (("time", 1),), (("date", 0x5000),), (("crc", 0),), (("packed", 2**32 - 1), ("size", 2**32 - 1)), (("size", 2**31),), (("size", 0),),
        (("packed", 3),), (("name", b"Scenario.json"),), (("name", b"../scenario.json"),), (("name", b"/etc/scenario.json"),),
        (("name", "\u0455cenario.json".encode()),), (("name", b"scenario.json\0.txt"),), (("name", b"scenario.json "),), (("name", b""),),
        (("extra", struct.pack("<2H2Q", 1, 16, 3, 3)),), (("extra", lookalike),), (("extra", b"\1\2\3"),),
    ]  # fmt: skip
    for name in (SCENARIO, MANIFEST, DECISIONS):
        for change in changes:
            for where in ({"local": change}, {"central": change}, {"local": change, "central": change}):
                yield f"{'+'.join(where)} header of {name}: {change}", archive(_changed(plain, name.encode(), **where))
        for change in ((("attributes", SYMLINK),), (("attributes", FOLDER),), (("attributes", 0),), (("comment", OTHER),), (("made", 20),),
                       (("place", 0),), (("place", len(content) - 60),), (("place", 2**32 - 1),)):  # fmt: skip
            yield f"directory of {name}: {change}", archive(_changed(plain, name.encode(), central=change))


def of_entries(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield archives with entries twice, hidden, in another order, or added."""
    plain = entries_of(content)
    for name in (SCENARIO, MANIFEST, DECISIONS, FORECAST, SUMS):
        own = next(one for one in plain if one.name == name.encode())
        false = replace(own, data=own.data.replace(b"1", b"2"))
        hidden = archive([false], comment=b"")[: 30 + len(own.name) + len(own.data)]
        yield f"{name} twice, false first", archive([false, *plain])
        yield f"{name} twice, false last", archive([*plain, false])
        yield f"{name} twice, equal", archive([*plain, own])
        yield f"{name} hidden before", archive(_changed(plain, own.name, before=hidden))
        yield f"{name} unlisted", archive([*plain, replace(false, is_listed=False)])
        yield f"{name} in a comment", archive(plain, comment=hidden[:60_000])
        yield f"{name} in front", archive(plain, front=hidden)
        yield f"{name} listed twice", archive([*plain, replace(own, is_present=False)])
        yield f"{name} missing", archive([one for one in plain if one is not own])
        yield f"{name} empty", archive(_changed(plain, own.name, data=b""))
        for other in (own.name.upper(), own.name.title(), b"./" + own.name, own.name + b".", own.name + b"/", b"x/../" + own.name,
                      own.name.replace(b".", b"\\"), own.name + "\u200b".encode(), own.name.replace(b"s", b"\xc5\xbf")):  # fmt: skip
            yield f"{name} beside {other!r}", archive([*plain, replace(false, name=other)])
    yield "other order", archive(plain[::-1])
    yield "two archives", content + archive([Entry(b"scenario.json", OTHER)])
    yield "two archives, ours last", archive([Entry(b"scenario.json", OTHER)]) + content
    for count in (0, 1, len(plain) - 1, len(plain) + 1, 2**16 - 1):
        yield f"{count} entries stated", archive(plain, count=count)
    yield "an end in the end", archive(plain, comment=content[-22:])
    yield "many entries", archive([*plain, *(Entry(b"x%d" % number, b"") for number in range(5000))])


# Forgeries of values, with sums that are all right.


def _own(content: bytes) -> tuple[dict[str, bytes], dict[str, object]]:
    files = by_directory(content)
    manifest = json.loads(files[MANIFEST])
    return {name: files[name] for name in manifest["files"]}, {**manifest, "signers": []}


def _spelled(value: object) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def of_spellings(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield bundles one of whose JSON files is spelled so that two readers may read two things."""
    files, manifest = _own(content)
    inside = [name for name in files if name.endswith((".json", ".phx")) and not name.startswith("parameters/")]
    for name in inside:
        text = files[name].decode()
        value = json.loads(text)
        key = next(iter(value)) if isinstance(value, dict) else "status"
        forms = {
            "false key first": text.replace("{\n", f'{{\n "{key}": "forged",\n', 1),
            "false key last": text.rstrip("}]\n ") + f', "{key}": "forged"}}' + ("]" if isinstance(value, list) else "") + "\n",
            "mark of order": "\ufeff" + text, "two lines": text.replace("\n", "\r\n"), "no end": text.rstrip("\n"),
            "one line": json.dumps(value, ensure_ascii=False) + "\n", "escaped": text.replace("a", "\\u0061"), "tabs": text.replace("\n ", "\n\t"),
            "sorted": json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n" + " ", "a remark": "/* forged */\n" + text,
            "second value": text + "{}\n", "zero width": text.replace('": "', '": "\u200b'), "confusable": text.replace("a", "\u0430"),
            "UTF-16": text.encode("utf-16").decode("latin-1"), "empty": "", "null": "null\n", "list": "[]\n", "object": "{}\n",
        }  # fmt: skip
        for what, forged in forms.items():
            if forged != text:
                yield f"{name}, {what}", resealed(files | {name: forged.encode("utf-8", "surrogatepass")}, manifest)
    forecast, sigma = files[FORECAST], _floats(files[FORECAST])
    for place, (start, end) in enumerate(sigma[:: max(1, len(sigma) // 6)]):
        number = forecast[start:end]
        for other in (number + b"0", b'"' + number + b'"', b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-" + number, b"+" + number, b"null",
                      b"[" + number + b"]", b"%.17e" % float(number), b"%d" % float(number), b"%r" % (float(number) * 1.0001), b"0" + number):  # fmt: skip
            if other != number:
                yield (
                    f"forecast number {place} as {other!r}",
                    resealed(files | {FORECAST: forecast[:start] + other + forecast[end:]}, manifest),
                )


def _floats(text: bytes) -> list[tuple[int, int]]:
    found, place = [], 0
    while (place := text.find(b": ", place)) >= 0:
        place += 2
        end = next((at for at in range(place, len(text)) if text[at] in b",\n"), len(text))
        if b"." in text[place:end] and text[place] in b"0123456789":
            found.append((place, end))
    return found


def of_values(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield bundles with one number or text of a JSON file changed, or with a value added or left out."""
    files, manifest = _own(content)
    dice = random.Random(1)
    for name in (FORECAST, SCENARIO, PROJECT):
        value = json.loads(files[name])
        places = list(_leaves(value))
        for place in dice.sample(places, min(len(places), 60)):
            changed = holder = json.loads(files[name])
            for key in place[:-1]:
                holder = holder[key]
            old = holder[place[-1]]
            holder[place[-1]] = (not old) if isinstance(old, bool) else "0.01" if isinstance(old, str) else 0.01
            yield f"{name} {place}", resealed(files | {name: _spelled(changed)}, manifest)
        for key in value:
            yield (
                f"{name} without {key}",
                resealed(files | {name: _spelled({k: v for k, v in value.items() if k != key})}, manifest),
            )
        for key, more in (("more", 1), ("total", "0.01"), ("log", [{"label": "x"}])):
            yield f"{name} with {key}", resealed(files | {name: _spelled(value | {key: more})}, manifest)
    yield "a line more in the log", resealed(files | {LOG: files[LOG] + b"2026\tApproved by all\n"}, manifest)
    for key in manifest.keys() - {"files"}:
        for false in ("forged", 7, True, None, ["ab"], {}):
            yield f"manifest's {key} {false!r}", resealed(files, manifest | {key: false})
    for version in (0, *range(2, 9), "1", 1.0):
        yield f"version {version!r}", resealed(files, manifest | {"version": version})
    signer = "ab" * 32
    for signers in ([signer, signer], [signer.upper()], signer, [signer[:-1]]):
        yield f"signers {signers!r:.20}", resealed(files, manifest | {"signers": signers})
    yield "one key more", resealed(files, manifest | {"epsilon": 0.01})


def _leaves(value: object, place: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _leaves(value[key], (*place, key))
    else:
        yield place


def of_decisions(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield bundles with decisions that nobody can have recorded, or that the parts state differently."""
    files, manifest = _own(content)
    project, (decision,) = json.loads(files[PROJECT]), json.loads(files[DECISIONS])

    def everywhere(decisions: list[object], status: str, *, beside: list[object] | None = None) -> bytes:
        both = {DECISIONS: _spelled(decisions), PROJECT: _spelled(project | {"decisions": beside or decisions})}
        return resealed(files | both, manifest | {"status": status})

    own = decision["status"]
    for key in decision:
        yield (
            f"decision without {key}",
            resealed(files | {DECISIONS: _spelled([{k: v for k, v in decision.items() if k != key}])}, manifest),
        )
        yield (
            f"decision without {key} in the project",
            everywhere([decision], own, beside=[{k: v for k, v in decision.items() if k != key}]),
        )
        for false in ("forged", 1, None, [], decision[key] * 2):
            yield (
                f"decision {key} {false!r:.20}",
                resealed(files | {DECISIONS: _spelled([decision | {key: false}])}, manifest),
            )
            yield (
                f"project's decision {key} {false!r:.20}",
                everywhere([decision], own, beside=[decision | {key: false}]),
            )
    yield "no decision", resealed(files | {DECISIONS: b"[]\n"}, manifest | {"status": "draft"})
    yield "a decision without content", resealed(files | {DECISIONS: b"[\n {}\n]\n"}, manifest)
    yield "decision twice", everywhere([decision, decision], own)
    for statuses in (("superseded",), ("draft",), ("approved", "recommended"), ("approved", "approved"), ("superseded", "approved"),
                     ("recommended", "recommended"), ("approved", "superseded", "approved"), ("Approved",), ("\uff41pproved",)):  # fmt: skip
        yield f"statuses {statuses}", everywhere([decision | {"status": one} for one in statuses], statuses[-1])
    elsewhere = decision | {"fingerprint": "ab" * 32, "status": "approved", "runs": []}
    yield (
        "two approvals",
        everywhere(
            [decision | {"status": "approved"}], "approved", beside=[decision | {"status": "approved"}, elsewhere]
        ),
    )
    for at in ("", "today", "2026-07-01", "2026-07-01T12:00:00", "2026-07-01T12:00:00Z", "2026-W27-3", "2026-07-01T14:00:00+02:00",
               "2026-07-01T12:00:00.5+00:00", "2026-07-01T12:00:00+00:00 by all", "9999-12-31T23:59:59+00:00", "2026-07-03T00:00:00+00:00",
               "2126-07-01T12:00:00+00:00"):  # fmt: skip
        yield f"decided at {at!r}", everywhere([decision | {"at": at}], own)
    for made in (
        "1999-01-01T00:00:00+00:00",
        "9999-12-31T23:59:59+00:00",
        "0001-01-01T00:00:00+00:00",
        "2026-07-01T12:00:00Z",
        "2026-07-01",
        "",
    ):
        yield f"made at {made!r}", resealed(files, manifest | {"made": made})
    for status in ("draft", "recommended", "approved", "superseded", "Recommended", "recommended ", "", None):
        if status != own:
            yield f"status {status!r}", resealed(files, manifest | {"status": status})
    for program in ("approved by all", "0.1.0\x1b[2J", "", 1, None):
        yield f"program {program!r}", resealed(files, manifest | {"program": program})


def of_parts(content: bytes, other: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield bundles with parts exchanged, with those of another bundle or among themselves, and with pages."""
    files, manifest = _own(content)
    theirs, their_manifest = _own(other)
    kinds = (SCENARIO, FORECAST, DECISIONS, PROJECT, LOG, "parameters/", "runs/")
    for chosen in (each for count in (1, 2, 3, 5, 6) for each in combinations(kinds, count)):
        mixed = {name: data for name, data in files.items() if not name.startswith(chosen)}
        mixed |= {name: data for name, data in theirs.items() if name.startswith(chosen)}
        yield f"{chosen} of another bundle", resealed(mixed, manifest)
        yield f"{chosen} of another bundle, under its manifest", resealed(mixed, their_manifest)
    names = sorted(
        name
        for name in files
        if name.startswith(("parameters/", "runs/")) or name in {SCENARIO, FORECAST, DECISIONS, PROJECT, LOG}
    )
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            if files[first] != files[second]:
                yield (
                    f"{first} and {second} exchanged",
                    resealed(files | {first: files[second], second: files[first]}, manifest),
                )
    for name in names:
        yield f"{name} missing", resealed({each: data for each, data in files.items() if each != name}, manifest)
        yield f"{name} with a byte more", resealed(files | {name: files[name] + b" "}, manifest)
        yield f"{name} with a byte less", resealed(files | {name: files[name][:-2] + files[name][-1:]}, manifest)
        if name.startswith("runs/"):
            folder, inner = name.removeprefix("runs/").split("/")
            yield (
                f"{name} under another name",
                resealed({**{k: v for k, v in files.items() if k != name}, f"runs/x/{inner}": files[name]}, manifest),
            )
            yield (
                f"{name} also as {folder.upper()}",
                resealed(files | {f"runs/{folder.upper()}/{inner}": files[name]}, manifest),
            )
    for page in (
        "certificate.html",
        "certificate.pdf",
        "report.html",
        "parameters/a.svg",
        "log/page.xhtml",
        "runs/x.html",
        "index",
        "README.txt",
    ):
        yield f"page {page}", resealed(files | {page: b"<p>Total 0.1</p>"}, manifest)
    run = next(name for name in files if name.endswith("/run.json"))
    facts, folder = json.loads(files[run]), run.removesuffix("run.json")
    for key in facts:
        for false in ("forged", 7, None, [], True):
            yield f"run's {key} {false!r}", resealed(files | {run: _spelled(facts | {key: false})}, manifest)
    summary = json.loads(files[f"{folder}summary.json"])
    for key in summary:
        changed = _spelled({each: value for each, value in summary.items() if each != key})
        yield f"summary without {key}", resealed(files | {f"{folder}summary.json": changed}, manifest)


def of_signatures(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield bundles whose signatures are of something else, by somebody else, or dated impossibly."""
    files = by_directory(content)
    listed, manifest = json.loads(files[MANIFEST])["files"], files[MANIFEST]
    bare = {name: files[name] for name in listed}
    at = NOW.isoformat(timespec="seconds")
    keys = sorted(name for name in files if name.startswith(SIGNATURES))

    def sealed(signatures: dict[str, bytes]) -> bytes:
        return resealed(bare, json.loads(manifest), signatures)

    kept = {name: files[name] for name in keys}
    for name in keys:
        for other in keys:
            if other != name and files[other] != files[name]:
                yield f"{name} with the content of {other}", sealed(kept | {name: files[other]})
        yield f"{name} empty", sealed(kept | {name: b""})
        yield f"{name} alone", sealed({name: files[name]})
        yield f"{name} in capitals", sealed(kept | {SIGNATURES + name.removeprefix(SIGNATURES).upper(): files[name]})
        yield f"{name} with a line more", sealed(kept | {name: files[name] + b"\n"})
    for what, (message, key, signer, time) in {
        "another manifest": (manifest + b" ", KEYS[0], PEOPLE[0], at),
        "a stranger in her name": (manifest, KEYS[2], PEOPLE[0], at),
        **{f"dated {time}": (manifest, KEYS[0], PEOPLE[0], time)
           for time in ("", "today", "2026-07-01", "2026-07-01T12:00:00Z", "1999-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00")},
    }.items():  # fmt: skip
        made = sign(message, key, signer, time)
        stem = f"{SIGNATURES}{made.key_id[:16]}"
        others = {name: data for name, data in kept.items() if not name.startswith(stem)}
        yield what, sealed(others | {f"{stem}.json": made.encoded(), f"{stem}.sig": made.over_manifest})
        yield f"{what}, one part", sealed(kept | {f"{stem}.json": made.encoded()})
