"""Forged bundles: each is refused and the finding names the forged part, or the verifier renders the truth.

CI takes every seventh; ``-m slow`` takes all. Forgeries by class, with a reader of their own, are in ``tests/attack``.
"""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Iterator
from dataclasses import replace

import pytest
from signed_bundles import KEYS, NOW, PEOPLE, approval, bundle_of, request, resealed, signed_bundle

from phexplore.decide.archive import pack, unpack
from phexplore.decide.bundle import (
    MANIFEST,
    SUMS,
    BundleError,
    make_bundle,
    signature_names,
    signed,
    sums,
)
from phexplore.decide.certificate import certificate_html
from phexplore.decide.signing import public_bytes, sign
from phexplore.decide.verifying import ARCHIVE, opened, verify
from phexplore.model.approval import Status
from phexplore.systems.registry import preset

TRUSTED = {public_bytes(key) for key in KEYS[:2]}
LEAST = 250
REPORT = "report.html"


def ours():
    return bundle_of("pl94-2020-units-pr", 1, Status.RECOMMENDED)


# Forgeries that leave some sum, signature or byte of the archive wrong.


def flipped(content, rng):
    place = rng.randrange(8 * len(content))
    changed = bytearray(content)
    changed[place // 8] ^= 1 << place % 8
    entries = zipfile.ZipFile(io.BytesIO(content)).infolist()
    starts = {each.filename: each.header_offset + 30 + len(each.filename) for each in entries}
    inside = [each.filename for each in entries if 0 <= place // 8 - starts[each.filename] < each.file_size]
    return bytes(changed), inside[0] if inside else ARCHIVE


def altered_files(way, files, rng):
    """Return the files of a bundle, altered in a way of `ALTERED`, and the part that has to be named."""
    names, listed = sorted(set(files) - {SUMS}), sorted(json.loads(files[MANIFEST])["files"])
    name = rng.choice([each for each in names if each.endswith(".json") and each.startswith("signatures/")])
    at, changed = NOW.isoformat(timespec="seconds"), dict(files)
    match way:
        case "missing":
            del changed[name := rng.choice(names)]
        case "missing from the list":
            del changed[name := rng.choice(listed)]
        case "added":
            name = rng.choice(["parameters/extra.ini", "notes.txt", "runs/other/summary.json", "signatures/0000.json"])
            changed[name] = rng.randbytes(40)
        case "changed":
            changed[name := rng.choice(names)] += b" "
        case "swapped":
            name, other = rng.sample(sorted(set(names) - {MANIFEST}), 2)
            changed |= {name: files[other], other: files[name]}
        case (
            "wrong signer"
        ):  # somebody else signs under another's name, in the place of that signature or in an own one
            forged = sign(files[MANIFEST], KEYS[2], PEOPLE[0], at)
            del changed[name]
            changed[name := name if rng.random() < 0.3 else signature_names(forged)[0]] = forged.encoded()
        case "renamed signer":
            changed[name] = files[name].replace(b"Lovelace", b"Byron").replace(b"Hopper", b"Murray")
        case "signature of another bundle":
            other = sign(b"another manifest", KEYS[0], PEOPLE[0], at)
            changed[name := signature_names(other)[0]] = other.encoded()
        case "changed with its sum":  # everything fits but the signatures
            changed[rng.choice(listed)] += b" "
            content = resealed(own_files(changed), json.loads(files[MANIFEST]), only_signatures(files))
            changed, name = dict(unpack(content).files), "signatures/"
    return changed, name


ALTERED = (
    "missing", "missing from the list", "added", "changed", "swapped", "wrong signer", "renamed signer",
    "signature of another bundle", "changed with its sum",
)  # fmt: skip


def with_altered_files(content, rng):
    files = dict(unpack(content).files)
    way = rng.choice(ALTERED)
    changed, part = altered_files(way, files, rng)
    # A signature that is removed together with its sum looks like one that was never made.
    return pack(changed if way == "missing" else changed | {SUMS: sums(changed)}), part


def truncated(content, rng):
    return content[: rng.randrange(len(content))], ARCHIVE


WAYS = (flipped, with_altered_files, truncated, with_altered_files)


def confirm_named(number):
    rng = random.Random(number)
    content = bundle_of(rng.choice(["sdhc-2020-us", "pl94-2020-persons-us"])).packed()
    way = WAYS[number % len(WAYS)]
    altered, part = way(content, rng)
    assert altered != content
    result = verify(altered, TRUSTED, 1)
    named = {alteration.part for alteration in result.alterations}
    # A signature that is removed leaves its second form, which is named instead.
    assert any(name.startswith(part.removesuffix(".json")) for name in named), (way, part, result.alterations)
    if way is flipped:
        assert named == {part}, result.alterations
    assert not result.is_accepted


@pytest.mark.parametrize("number", range(0, 250, 7))
def test_that_altered_bundles_are_refused_and_the_altered_part_is_named(number):
    confirm_named(number)


@pytest.mark.slow
def test_that_each_of_250_altered_bundles_is_refused_and_the_altered_part_is_named():
    for number in range(250):
        confirm_named(number)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sdhc-2020-us", "pl94-2020-persons-us"])
def test_that_a_flip_of_any_byte_is_caught(name):
    content = bundle_of(name).packed()
    for place in range(0, len(content), 7):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        assert not verify(bytes(changed)).is_intact


# Forgeries whose sums are all right.


def own_files(files):
    return {
        name: data
        for name, data in files.items()
        if name not in {MANIFEST, SUMS} and not name.startswith("signatures/")
    }


def only_signatures(files):
    return {name: data for name, data in files.items() if name.startswith("signatures/")}


def pages() -> dict[str, bytes]:
    """Return certificates that read otherwise to a parser than in a browser, or lack an element; the first is the true one."""
    made = make_bundle(request(preset("sdhc-2020-us").scenario, decisions=()))
    true = certificate_html(verify(made.packed()).statement)
    text = true.decode()
    found = {"true": true}
    # T3: a browser closes the paragraph at `</p x='>`, Python's parser reads on to the quote.
    hidden = text.replace("2.514562", "</p x='>1.257281</p y='>", 1)
    found["two readers"] = hidden.encode()
    starts = [place for place in range(len(text)) if text.startswith(("<p", "<tr", "<td", "<dd", "<dt", "<li"), place)]
    for place in starts[:: max(1, len(starts) // 60)]:
        end = text.index(">", text.index("</", place)) + 1
        found[f"deleted {text[place : place + 20]!r} at {place}"] = (text[:place] + text[end:]).encode()
    return found


def rendered() -> Iterator[tuple[str, bytes, str]]:
    """Yield an S-DHC bundle with a page that somebody else rendered, and the name of the page."""
    made = make_bundle(request(preset("sdhc-2020-us").scenario, decisions=(), signers=()))
    files, manifest = own_files(made.files), json.loads(made.manifest)
    for what, page in pages().items():
        yield what, resealed(files | {"certificate.html": page}, manifest), "certificate.html"
    for name in ("certificate.pdf", REPORT, "parameters/certificate.html", "runs/page.html", "log/chart.svg"):
        yield (
            name,
            resealed(files | {name: b"%PDF-1.7 Total 1.257281"}, manifest),
            name,
        )


@pytest.mark.defect("T3")
@pytest.mark.parametrize("is_listed", [False, True])
def test_that_a_page_that_another_program_put_into_the_archive_is_named(us, is_listed):
    content = signed_bundle(us).packed()
    if is_listed:
        files = unpack(content).files
        listed = resealed(own_files(files) | {"certificate.html": b"<p>1.257281</p>"}, json.loads(files[MANIFEST]))
        content = listed[: listed.rindex(b"PK\x05\x06") + 20] + b"\1\0x"  # with a comment, as no bundle has
    else:
        buffer = io.BytesIO(content)
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.writestr("certificate.html", "<p>1.257281</p>")
        content = buffer.getvalue()
    assert {one.part for one in verify(content).alterations} == {ARCHIVE, "certificate.html"}


def confirm_refused(name, content, *, signs):
    result = verify(content, TRUSTED, 1)
    assert not result.is_intact, name
    assert not result.is_accepted, name
    assert result.status == "", name
    assert all(one.part and one.sentence for one in result.findings), name
    if signs:
        with pytest.raises(BundleError):
            opened(content)


def confirm_page_refused(name, content, part):
    confirm_refused(name, content, signs=True)
    assert [one.part for one in verify(content).alterations] == [part], name


@pytest.mark.defect("T3")
def test_that_a_bundle_with_a_rendered_page_is_refused_and_the_page_is_named():
    found = list(rendered())
    assert len(found) > 50
    for each in found[:4] + found[4:-5:8] + found[-5:]:
        confirm_page_refused(*each)


@pytest.mark.slow
@pytest.mark.defect("T3")
def test_that_every_bundle_with_a_rendered_page_is_refused_and_the_page_is_named():
    for each in rendered():
        confirm_page_refused(*each)


HOSTILE = "Vote</p x='>1.257281</p y='><style>.value{display:none}</style>&amp;<!--"


@pytest.mark.defect("T3")
def test_that_the_verifier_renders_what_people_wrote_as_text_for_a_browser():
    """Read by the parser that follows the algorithm of browsers (WHATWG), not by that of Python."""
    reader = pytest.importorskip("tinyhtml5")
    scenario = replace(preset("sdhc-2020-us").scenario, name=HOSTILE)
    decision = replace(approval(scenario), who=HOSTILE, role=HOSTILE, note=HOSTILE)
    made = make_bundle(request(scenario, decisions=(decision,), clearance=HOSTILE))
    result = verify(made.packed())
    assert result.is_intact
    page = reader.parse(certificate_html(result.statement).decode(), namespace_html_elements=False)
    plain = reader.parse(
        certificate_html(verify(bundle_of("sdhc-2020-us").packed()).statement).decode(), namespace_html_elements=False
    )
    text = "".join(page.itertext())
    assert text.count(HOSTILE) >= 6
    assert text.replace(HOSTILE, "").count("1.257281") == "".join(plain.itertext()).count("1.257281")
    assert len(page.findall(".//style")) == len(plain.findall(".//style")) == 1
    assert "2.514562" in text


@pytest.mark.defect("F1")
def test_that_an_unsigned_forgery_is_not_accepted_where_trust_is_asked_for():
    """The forger makes a consistent bundle of other parameters and leaves the signatures out, or signs with an own key."""
    scenario = preset("pl94-2020-units-us").scenario
    unsigned = make_bundle(request(scenario, signers=()))
    assert verify(unsigned.packed()).is_accepted
    own_key = signed(make_bundle(request(scenario, signers=())), KEYS[2], PEOPLE[0], NOW)
    for forged in (unsigned, own_key, replace(unsigned, signatures=ours().signatures)):
        result = verify(forged.packed(), TRUSTED, 1)
        assert not result.is_accepted
        assert not any(one.is_trusted for one in result.checked)


@pytest.mark.defect("F1")
def test_that_different_trusted_keys_are_counted():
    one = replace(ours(), signatures=ours().signatures[:1])
    assert verify(one.packed(), TRUSTED, 2).shortfall
    assert verify(ours().packed(), TRUSTED, 2).shortfall == ""
    assert verify(ours().packed(), {public_bytes(KEYS[0])}, 2).shortfall
