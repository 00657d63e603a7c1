"""What a check of a bundle finds, states and renders; forgeries are in `test_forged_bundles`."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from signed_bundles import KEY_IDS, KEYS, NOW, PEOPLE, approval, request, resealed, signed_bundle

from phexplore.catalog.names import Naming, called
from phexplore.decide.bundle import DECISIONS, FORECAST, MANIFEST, BundleError, make_bundle, one_spelling, signed
from phexplore.decide.bundle_jobs import verify_file
from phexplore.decide.certificate import certificate, certificate_html, write_certificate
from phexplore.decide.signing import public_bytes
from phexplore.decide.verifying import ARCHIVE, opened, verify
from phexplore.model.approval import Status
from phexplore.model.issues import InputProblemsError
from phexplore.report import pdf
from phexplore.systems.registry import preset, system_of
from phexplore.systems.topdown.forecast import forecast_topdown

TRUSTED = {public_bytes(key) for key in KEYS[:2]}
PRESETS = ("sdhc-2020-us", "pl94-2020-persons-us")


@pytest.mark.parametrize("name", PRESETS)
def test_that_an_untouched_bundle_is_intact_signed_and_states_what_was_decided(name):
    scenario = preset(name).scenario
    result = verify(signed_bundle(scenario).packed(), TRUSTED)
    assert result.findings == ()
    assert {s.signer.name for s in result.signatures} == {"Ada Lovelace", "Grace Hopper"}
    assert result.status == "approved"
    assert result.is_accepted
    assert all(one.is_trusted for one in result.checked)
    assert result.scenario == scenario


def test_that_floats_agree_within_1e_9_and_exact_texts_to_the_letter(us):
    made = make_bundle(request(us, signers=()))
    files = {name: data for name, data in made.files.items() if name != MANIFEST}
    forecast, manifest = json.loads(files[FORECAST]), json.loads(made.manifest)

    def found(change):
        altered = json.loads(files[FORECAST])
        change(altered)
        return [one.part for one in verify(resealed(files | {FORECAST: one_spelling(altered)}, manifest)).alterations]

    sigma, rho = forecast["cells"][0]["sigma"], forecast["privacy"]["rho"]
    assert found(lambda value: value["cells"][0].update(sigma=sigma * (1 + 1e-12))) == []
    assert found(lambda value: value["cells"][0].update(sigma=sigma * (1 + 1e-8))) == [FORECAST]
    assert found(lambda value: value["cells"][0].update(sigma=str(sigma))) == [FORECAST]
    assert found(lambda value: value["privacy"].update(rho=f"{rho}0")) == [FORECAST]
    assert found(lambda value: value["privacy"].pop("epsilon")) == [FORECAST]
    # T3: another spelling of the same number is another text.
    spelled = files[FORECAST].replace(f'"rho": "{rho}"'.encode(), b'"rho": "0.1257281e1"')
    assert spelled != files[FORECAST]
    assert [one.part for one in verify(resealed(files | {FORECAST: spelled}, manifest)).alterations] == [FORECAST]


@pytest.mark.parametrize("version", [0, 2, 7])
def test_that_a_bundle_of_another_format_version_is_refused_with_one_sentence(us, version):
    made = make_bundle(request(us))
    content = resealed(made.files, json.loads(made.manifest) | {"version": version})
    (only,) = verify(content).findings
    assert only.part == MANIFEST
    assert str(version) in only.sentence


def test_that_a_bundle_made_anew_by_others_is_caught_by_the_trusted_keys(us):
    forged = signed(make_bundle(request(us, signers=KEY_IDS[2:])), KEYS[2], PEOPLE[0], NOW)
    assert verify(forged.packed()).is_intact
    result = verify(forged.packed(), TRUSTED, 1)
    assert not result.is_accepted
    assert result.shortfall


def test_that_a_signature_still_awaited_is_named(us):
    waiting = replace(signed_bundle(us), signatures=())
    one = signed(waiting, KEYS[0], PEOPLE[0], NOW)
    result = verify(one.packed())
    assert result.is_intact
    assert result.awaited == KEY_IDS[1:2]
    both = signed(opened(one.packed()), KEYS[1], PEOPLE[1], NOW)
    assert verify(both.packed(), TRUSTED).awaited == ()


def test_that_an_altered_bundle_is_not_signed(us):
    with pytest.raises(BundleError, match="1 bytes follow the end"):
        opened(signed_bundle(us).packed() + b"x")


@pytest.mark.parametrize("text", [b"", b"PK", b"hello", b"PK\x05\x06" + bytes(18), bytes(1000)])
def test_that_a_file_that_is_no_bundle_is_one_finding(text):
    assert [alteration.part for alteration in verify(text).alterations] == [ARCHIVE]


def test_that_a_bundle_is_the_same_and_intact_whatever_naming_is_chosen(us):
    made = make_bundle(request(us, signers=())).packed()
    page = certificate_html(verify(made).statement)
    for naming in (Naming.NAMES, Naming.BOTH):
        with called(naming):
            assert make_bundle(request(us, signers=())).packed() == made
            assert verify(made).alterations == ()
            assert certificate_html(verify(made).statement) == page


@pytest.mark.defect("minor")
def test_that_dates_in_the_future_are_findings_of_an_intact_bundle(us):
    result = verify(signed_bundle(us).packed(), TRUSTED, 2, now=NOW - timedelta(hours=20))
    assert result.is_accepted  # clocks and time zones differ
    result = verify(signed_bundle(us).packed(), TRUSTED, 2, now=NOW - timedelta(days=400))
    assert result.is_intact
    assert not result.is_accepted
    assert [one.part for one in result.findings] == [DECISIONS, MANIFEST, "signatures/", "signatures/"]
    assert all("1 Jul 2026" in one.sentence and "27 May 2025" in one.sentence for one in result.findings)
    late = replace(approval(us), at="2126-07-01T12:00:00+00:00")
    result = verify(make_bundle(request(us, decisions=(late,), signers=())).packed(), now=NOW)
    assert [one.part for one in result.findings] == [DECISIONS]
    again = verify(make_bundle(request(us, decisions=(late, approval(us)), signers=())).packed(), now=NOW)
    assert again.is_accepted


# The certificate, rendered by whoever verifies.


def rendered(scenario, **changes):
    """Return tables by id and facts of the certificate, as texts."""
    result = verify(make_bundle(request(scenario, **changes)).packed())
    document = certificate(result.statement, result.signatures)
    tables = {
        table.id: [[cell.text for cell in row] for row in table.rows]
        for part in document.parts
        for table in part.tables
    }
    facts = [entry for part in document.parts for section in part.sections for entry in section.entries]
    return document, tables, facts


@pytest.mark.parametrize("name", PRESETS)
def test_that_a_certificate_states_no_loss_smaller_than_it_is(name):
    scenario = preset(name).scenario
    _, tables, facts = rendered(scenario)
    printed = [float(text.split()[0]) for title, text in facts if title.startswith("ε, ") and text[0].isdigit()]
    converted = [each.value for each in system_of(scenario).forecast(scenario).stated() if each.low is None]
    assert len(printed) == len(converted) > 2
    assert all(value <= shown < value + 1e-6 for shown, value in zip(printed, converted, strict=True))
    losses = {row[0]: float(row[2]) for key in ("attributes", "within") for row in tables.get(key, ())}
    figures = forecast_topdown(scenario.topdown, scenario.conventions) if losses else None
    exact = {} if figures is None else {
        **{each.name: each.epsilon for each in figures.attributes},
        **{f"block within {each.name}": each.epsilon for each in figures.block_within},
    }  # fmt: skip
    assert losses.keys() == exact.keys()
    assert all(exact[part] <= shown < exact[part] + 0.01 for part, shown in losses.items())


def test_that_certificates_state_what_is_proven_of_parts():
    _, tables, _ = rendered(preset("pl94-2020-persons-us").scenario, signers=())
    assert {row[0]: row[3] for row in (*tables["attributes"], *tables["within"])}["block within County"] == "≤ 11.2241"
    assert {row[0]: row[3] for row in tables["attributes"]}["cenrace"] == "≤ 9.6657"


def test_that_a_certificate_has_a_line_to_sign_for_everybody_who_decided_and_empty_ones(us):
    _, tables, _ = rendered(us)
    assert [row[:2] for row in tables["signature-lines"]] == [["Ada Lovelace", "Chair"], ["", ""], ["", ""]]
    assert all(row[2:] == ["", ""] for row in tables["signature-lines"])


def test_that_a_certificate_lists_the_verified_signatures_and_counts_those_that_are_missing(us):
    one = signed(make_bundle(request(us)), KEYS[0], PEOPLE[0], NOW)
    result = verify(one.packed())
    page = certificate_html(result.statement, result.signatures).decode()
    assert page.count(KEY_IDS[0]) == 2
    assert page.count(KEY_IDS[1]) == 1
    assert "1 of 2 have not" in page
    assert "signed by 1 of 2 expected keys" in page
    both = verify(signed(one, KEYS[1], PEOPLE[1], NOW).packed())
    assert "All 2 keys" in certificate_html(both.statement, both.signatures).decode()


def test_that_an_edited_copy_visibly_loses_its_approval(us):
    other = preset("sdhc-2020-pr").scenario
    draft, _, _ = rendered(us, decisions=(approval(other),))
    approved, _, _ = rendered(us)
    assert "void for production" in draft.warning
    assert (approved.warning, approved.tiles[0].value) == ("", Status.APPROVED.title)


def test_that_the_certificate_has_the_contents_of_productions():
    result = verify(make_bundle(request(preset("pl94-2020-persons-us").scenario)).packed())
    html = certificate_html(result.statement).decode()
    for text in (
        "293764/114921", "17.14", "104/4099", "447/4099", "Loss per attribute", "block within State", "13.06", "10.09",
        "geolevel_budget_prop", "Bill of materials", "numpy", "Review board clearance", "Ada Lovelace", "entity_threshold",
    ):  # fmt: skip
        assert text in html, text


def test_that_a_certificate_of_verified_values_alone_is_written_in_the_form_of_its_name(us, tmp_path):
    good, bad, page = tmp_path / "a.zip", tmp_path / "b.zip", tmp_path / "c.html"
    content = signed_bundle(us).packed()
    good.write_bytes(content)
    bad.write_bytes(content.replace(b"Ada Lovelace", b"Eva Lovelace", 1))
    assert not verify_file(bad, certificate=page)[0].is_intact
    assert not page.exists()
    result, report = verify_file(good, certificate=page)
    assert report.certificate == page
    assert page.read_bytes() == certificate_html(result.statement, result.signatures)
    with pytest.raises(InputProblemsError):
        verify_file(good, certificate=Path("c.docx"))


@pytest.mark.slow
def test_that_the_certificate_is_a_pdf_with_the_data_inside(us, tmp_path):
    statement = verify(signed_bundle(us).packed()).statement
    contents = []
    for name in ("a.pdf", "b.pdf"):
        try:
            write_certificate(statement, (), tmp_path / name)
        except pdf.PdfUnavailableError as error:
            pytest.skip(error.sentence)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
    assert contents[0].startswith(b"%PDF-")
    assert contents[0].count(b"/EmbeddedFile") + contents[0].count(b"ObjStm") > 0


def test_that_without_the_libraries_of_the_pdf_a_sentence_says_so(us, tmp_path, monkeypatch):
    def absent():
        raise pdf.PdfUnavailableError("A PDF cannot be made here: Pango is missing.", "Install it.")

    monkeypatch.setattr(pdf, "_weasyprint", absent)
    (tmp_path / "a.zip").write_bytes(signed_bundle(us).packed())
    with pytest.raises(pdf.PdfUnavailableError):
        verify_file(tmp_path / "a.zip", certificate=tmp_path / "c.pdf")
