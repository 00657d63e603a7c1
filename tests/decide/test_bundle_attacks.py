"""Forgeries whose check sums are all right: whoever alters a bundle can sum it up again, so its parts have to agree by themselves.

The whole is run by ``make test-slow``; every twelfth alteration in CI.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import pytest
from signed_bundles import KEYS, NOW, PEOPLE, approval, request, signed_bundle

from phexplore.decide.archive import pack
from phexplore.decide.bundle import (
    CERTIFICATE_HTML,
    DECISIONS,
    FORECAST,
    LOG,
    MANIFEST,
    PROJECT,
    SCENARIO,
    SUMS,
    BundleError,
    make_bundle,
    manifest_bytes,
    one_spelling,
    signature_name,
    signed,
    ssh_signature_name,
    sums,
)
from phexplore.decide.citing import RunEvidence
from phexplore.decide.signing import public_bytes
from phexplore.decide.verifying import opened, verify
from phexplore.model.approval import CitedRun, Status
from phexplore.model.fingerprint import fingerprint
from phexplore.systems.registry import preset

TRUSTED = {public_bytes(key) for key in KEYS[:2]}
STATED = ("scenario", "fingerprint", "status", "root", "signers", "clearance", "made", "program", "notes")
LEAST = 500
EVERY = 12


def evidence(scenario, number):
    """Return what is cited of a run that was never made, with files that belong together."""
    facts = {
        "name": f"run-{number}", "identity": hashlib.sha256(bytes([number])).hexdigest(), "fingerprint": fingerprint(scenario),
        "trials": 3, "seed": number, "mode": "private", "reproducible": True, "program": "0.1.0",
        "data": {"sha256": "ab" * 32, "bytes": 12, "synthetic": True},
    }  # fmt: skip
    keys = ("identity", "fingerprint", "mode", "seed", "reproducible", "trials")
    summary = one_spelling({key: facts[key] for key in keys} | {"synthetic_data": True, "checks": {"rows": True}})
    entry = {"sha256": hashlib.sha256(summary).hexdigest(), "bytes": len(summary)}
    manifest = one_spelling({"version": 1, "identity": facts["identity"], "files": {"summary.json": entry}})
    return RunEvidence(CitedRun(facts["name"], facts["identity"], 3), facts, summary, manifest)


def bundle_of(name, number, status=Status.APPROVED):
    scenario = preset(name).scenario
    run = evidence(scenario, number)
    decision = replace(approval(scenario), status=status, who=f"Member {number}", runs=(run.cited,))
    return signed_bundle(scenario, decisions=(decision,), runs=(run,), clearance=f"CB-{number}")


@pytest.fixture(scope="module")
def ours():
    return bundle_of("pl94-2020-units-pr", 1, Status.RECOMMENDED)


@pytest.fixture(scope="module")
def others():
    return bundle_of("pl94-2020-units-us", 2), bundle_of("sdhc-2020-pr", 3)


def resealed(files, manifest, bundle=None):
    """Return the archive with every sum right; the signatures of a bundle can be put beside."""
    files = {name: data for name, data in files.items() if name not in {MANIFEST, SUMS}}
    listed = {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in sorted(files.items())
    }
    files[MANIFEST] = manifest_bytes({**manifest, "files": listed})
    for signature in bundle.signatures if bundle else ():
        files |= {
            signature_name(signature): signature.encoded(),
            ssh_signature_name(signature): signature.over_manifest,
        }
    return pack({**files, SUMS: sums(files)})


def parts(files):
    """Return the names of the files by part."""
    found = {name: [name] for name in (SCENARIO, FORECAST, DECISIONS, PROJECT, LOG, CERTIFICATE_HTML)}
    for folder in ("parameters/", "runs/"):
        found[folder] = [name for name in files if name.startswith(folder)]
    return found


def swaps(ours, other) -> Iterator[tuple[str, bytes]]:
    """Yield the bundle with some parts of another one, under either's manifest."""
    mine, theirs = parts(ours.files), parts(other.files)
    stated = [json.loads(bundle.manifest) for bundle in (ours, other)]
    for count in (1, 2, 3, 6, 7):
        for chosen in combinations(mine, count):
            files = {
                n: d for n, d in ours.files.items() if n != MANIFEST and not any(n in mine[part] for part in chosen)
            }
            files |= {name: other.files[name] for part in chosen for name in theirs[part]}
            for manifest in stated:
                yield f"swapped {', '.join(chosen)}", resealed(files, {**manifest, "signers": []})


def changed_leaf(value, rng):
    """Return a JSON value with one number or text in it changed."""
    places = []

    def walk(inner, place):
        if isinstance(inner, dict | list):
            for key in inner if isinstance(inner, dict) else range(len(inner)):
                walk(inner[key], (*place, key))
        else:
            places.append(place)

    walk(value, ())
    place = rng.choice([one for one in places if "note" not in one])
    copy = json.loads(json.dumps(value))
    holder = copy
    for key in place[:-1]:
        holder = holder[key]
    old = holder[place[-1]]
    holder[place[-1]] = (not old) if isinstance(old, bool) else "0.01" if isinstance(old, str) else 0.01
    return copy, ".".join(map(str, place))


def inventions(ours, rng) -> Iterator[tuple[str, bytes]]:
    """Yield the bundle with one thing invented; versions of libraries in the bill of materials are nobody's to recompute."""
    files, manifest = dict(ours.files), json.loads(ours.manifest)
    text = files[CERTIFICATE_HTML].decode()
    for status in ("approved", "superseded", "draft", ""):
        yield f"status {status}", resealed(files, manifest | {"status": status})
    for signers in ([], manifest["signers"][:1], [*manifest["signers"], "ab" * 32]):
        yield "signers", resealed(files, manifest | {"signers": signers})
    for key, value in (
        ("clearance", "CB-9"), ("made", "2027-01-01T00:00:00+00:00"), ("made", "today"), ("scenario", "Another"),
        ("fingerprint", "ab" * 32), ("root", "parameters/x.ini"), ("program", "the Bureau"), ("more", "epsilon = 0.01"),
    ):  # fmt: skip
        yield key, resealed(files, manifest | {key: value})
    decisions = json.loads(files[DECISIONS])
    for change in (
        {"who": "The Director"},
        {"status": "approved"},
        {"note": "by all"},
        {"runs": []},
        {"fingerprint": "ab" * 32},
    ):
        invented = one_spelling([decisions[0] | change])
        yield f"decision {change}", resealed(files | {DECISIONS: invented}, manifest)
        raised = manifest | {"status": change.get("status", manifest["status"])}
        project = json.loads(files[PROJECT])
        project["decisions"] = json.loads(invented)
        yield (
            f"decision everywhere {change}",
            resealed(files | {DECISIONS: invented, PROJECT: one_spelling(project)}, raised),
        )
    yield "no decision", resealed(files | {DECISIONS: b"[]\n"}, manifest | {"status": "draft"})
    for number in range(150):
        for name in (FORECAST, SCENARIO):
            value, place = changed_leaf(json.loads(files[name]), rng)
            yield f"{name} {place}", resealed(files | {name: one_spelling(value)}, manifest)
        words = [
            word
            for word in text.partition('<table id="materials"')[0].split()
            if any(sign.isdigit() for sign in word) and "<" in word and "td" in word
        ]
        word = rng.choice(words)
        digit = next(sign for sign in word if sign.isdigit())
        forged = text.replace(word, word.replace(digit, str((int(digit) + 1) % 10), 1), 1)
        if forged != text:
            yield f"certificate {word} {number}", resealed(files | {CERTIFICATE_HTML: forged.encode()}, manifest)
    for old, new in (
        ("</main>", "<p>epsilon = 0.01</p></main>"), ("</main>", "<p>Approved by the Director.</p></main>"),
        ("</style>", "tbody { display: none }</style>"), ("</main>", "<script>1</script></main>"),
        ("</main>", "<!-- x --></main>"), ("Member 1", "The Director"), ("CB-1", "CB-9"), ("<h1>", "<h1 style='color:red'>"),
        ("</tbody>", "<tr><td>epsilon</td><td>0.01</td></tr></tbody>"), ("Recommended", "Approved"), ("void for", "fit for"),
        ('<dl class="facts">', '<dl class="facts"><div><dt>ε</dt><dd>0.01</dd></div>'), ("0.1.0", "0.01"),
    ):  # fmt: skip
        assert old in text, old
        yield f"certificate {new}", resealed(files | {CERTIFICATE_HTML: text.replace(old, new, 1).encode()}, manifest)
    for name, data in ((LOG, files[LOG] + b"-\tApproved\n"), ("notes.txt", b"x"), ("runs/x/run.json", b"{}\n")):
        yield name, resealed(files | {name: data}, manifest)
    run = next(name for name in files if name.endswith("run.json"))
    facts = json.loads(files[run])
    for change in (
        {"seed": 9},
        {"trials": 900},
        {"mode": "no-noise"},
        {"fingerprint": "ab" * 32},
        {"identity": "ab" * 32},
    ):
        yield f"run {change}", resealed(files | {run: one_spelling(facts | change)}, manifest)
    synthetic = facts | {"data": facts["data"] | {"synthetic": False}}
    yield "run's data", resealed(files | {run: one_spelling(synthetic)}, manifest)
    yield "no run", resealed({name: data for name, data in files.items() if not name.startswith("runs/")}, manifest)


def alterations(ours, others) -> Iterator[tuple[str, bytes]]:
    for other in others:
        yield from swaps(ours, other)
    yield from inventions(ours, random.Random(1))


def confirm_refused(name, content, *, signs):
    result = verify(content, TRUSTED, 1)
    assert not result.is_intact, name
    assert not result.is_accepted, name
    assert result.status == "", name
    if signs:
        with pytest.raises(BundleError):
            opened(content)


@pytest.mark.defect("F2")
def test_that_resealed_alterations_are_refused_with_and_without_trust(ours, others):
    assert verify(ours.packed(), TRUSTED, 2).is_accepted
    for number, (name, content) in enumerate(alterations(ours, others)):
        if number % EVERY == 0:
            confirm_refused(name, content, signs=number % (4 * EVERY) == 0)


@pytest.mark.slow
@pytest.mark.defect("F2")
def test_that_all_resealed_alterations_are_refused(ours, others):
    count = 0
    for name, content in alterations(ours, others):
        confirm_refused(name, content, signs=True)
        count += 1
    assert count >= LEAST


@pytest.mark.defect("F1")
def test_that_an_unsigned_forgery_is_not_accepted_where_trust_is_asked_for(ours):
    """The forger makes a consistent bundle of other parameters and leaves the signatures out, or signs with an own key."""
    scenario = preset("pl94-2020-units-us").scenario
    unsigned = make_bundle(request(scenario, signers=()))
    assert verify(unsigned.packed()).is_accepted
    own_key = signed(make_bundle(request(scenario, signers=())), KEYS[2], PEOPLE[0], NOW)
    for forged in (unsigned, own_key, replace(unsigned, signatures=ours.signatures)):
        result = verify(forged.packed(), TRUSTED, 1)
        assert not result.is_accepted
        assert not any(one.is_trusted for one in result.checked)


@pytest.mark.defect("F1")
def test_that_different_trusted_keys_are_counted(ours):
    one = replace(ours, signatures=ours.signatures[:1])
    assert "1 of the 2" in verify(one.packed(), TRUSTED, 2).shortfall
    assert verify(ours.packed(), TRUSTED, 2).shortfall == ""
    assert verify(ours.packed(), {public_bytes(KEYS[0])}, 2).shortfall
