from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from PySide6.QtCore import Qt
from signed_bundles import KEYS, request, signed_bundle

from phexplore.cli.app import DONE, EXPECTED_FAILURE
from phexplore.cli.app import run as command
from phexplore.decide.archive import unpack
from phexplore.decide.bundle import MANIFEST, Bundle, make_bundle, one_spelling
from phexplore.decide.bundle_jobs import BundleReport, KeyJob, Signed, VerifyJob, report_headline, report_lines
from phexplore.decide.certificate import certificate_html
from phexplore.decide.signing import key_id_of, load_public_key, public_bytes
from phexplore.decide.sshsig import NAMESPACE
from phexplore.decide.verifying import verify
from phexplore.document.project import Project
from phexplore.errors import PhexploreError
from phexplore.gui.decision.bundle_page import BundlePage
from phexplore.gui.decision.bundle_process import BundleProcess
from phexplore.gui.decision.dialogs import KeyDialog, TrustedKeysDialog
from phexplore.gui.decision.run_citations import RunOffer
from phexplore.gui.theme.appearance import appearance
from phexplore.model.workbook import Workbook

INTACT = BundleReport(Path("d.zip"), "ab" * 32, (), (("Scenario", "Vote"), ("Status", "approved")))
ADA = Signed("Ada", "Chair", "2026-07-01T12:00:00+00:00", "ef" * 32)


@pytest.fixture
def page(qtbot, session, controller, tmp_path):
    found = BundlePage(session, controller, lambda: tmp_path)
    qtbot.addWidget(found)
    found.show()
    yield found
    found.stop()


def test_that_an_empty_list_of_keys_says_how_to_fill_it_and_removes_nothing(qtbot, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("phexplore.gui.decision.dialogs.trusted_keys", tuple)
    dialog = TrustedKeysDialog(None, tmp_path)
    qtbot.addWidget(dialog)
    assert dialog.list.item(0).text().startswith("No key yet.")
    dialog.list.setFocus()
    qtbot.keyClick(dialog.list, Qt.Key.Key_Down)
    assert not dialog.remove.isEnabled()


def test_that_the_headline_tells_altered_unsigned_awaited_and_signed_apart() -> None:
    assert report_headline(INTACT) == ("Intact, unsigned", "attention")
    assert report_headline(replace(INTACT, signatures=(ADA,))) == ("Intact, signed by an unknown key", "muted")
    known = replace(ADA, owner="Ada Lovelace")
    assert report_headline(replace(INTACT, signatures=(known,))) == ("Intact and signed by 1 key you trust", "good")
    assert report_headline(replace(INTACT, signatures=(known,), shortfall="1 of 2"))[1] == "refused"
    assert report_headline(replace(INTACT, awaited=(("aa" * 32, ""),)))[1] == "attention"
    altered = replace(INTACT, alterations=(("scenario.json", "The file was altered."),))
    assert report_headline(altered) == ("Not intact: 1 finding", "refused")
    assert report_lines(altered)[0] == ("error", "scenario.json: The file was altered.")


def test_that_a_total_is_read_as_a_decimal_that_is_never_less() -> None:
    stated = replace(INTACT, stated=(("Scenario", "1/3"), ("Total ρ", "293764/114921"), ("Total ε", "4.5")))
    words = [words for _, words in report_lines(stated, has_codes=False)]
    assert words[1:4] == ["Scenario: 1/3", "Total ρ: 2.556226", "Total ε: 4.5"]
    assert ("info", "Total ρ: 2.556226, exactly 293764/114921") in report_lines(stated)


def test_that_a_committee_reads_of_a_cited_run_what_is_no_code() -> None:
    stated = replace(INTACT, stated=(("Run", "a, 9 trials, 20261128T113054Z-24b707ff, 20 trials, data synthetic"),))
    assert ("info", "Run: 20 trials, data synthetic") in report_lines(stated, has_codes=False)
    assert ("info", f"Run: {stated.stated[0][1]}") in report_lines(stated)


def test_that_a_run_is_cited_once_a_decision_rests_on_it_also_where_it_was_seen_before(page, tmp_path) -> None:
    offers = [RunOffer(tmp_path / name, name, "") for name in ("first", "second")]
    page.runs.show_offers(offers)
    page.runs.show_offers(offers, [tmp_path / "second"])
    assert page.runs.chosen == (tmp_path / "second",)
    page.runs.untick()
    page.runs.show_offers(offers, [tmp_path / "second"])
    assert page.runs.chosen == (), "whoever takes the tick away keeps it so"


def test_that_a_signer_who_was_added_has_the_focus_and_stands_before_the_buttons(page, tmp_path) -> None:
    page.cosigners.add.setFocus()
    for name in ("ada.key", "ben.key"):
        page.cosigners.add_key(tmp_path / name)
    ada, ben = page.cosigners.rows
    assert page.window().focusWidget() is ben.name
    chain = [ada.stops[0]]
    while chain[-1] is not page.cosigners.add:
        chain.append(chain[-1].nextInFocusChain())
    expected = [*ada.stops, *ben.stops, page.cosigners.add]
    assert [each for each in chain if each in expected] == expected
    ben.removed.emit(ben)
    assert page.window().focusWidget() is page.cosigners.add


def test_that_a_key_is_made_beside_the_window_and_signs_then(qtbot, page, tmp_path) -> None:
    with qtbot.waitSignal(page.process.answered):
        page.create_key(KeyJob(tmp_path / "ada.key", b"secret"), page.signers)
    (row,) = page.signers.rows
    row.name.setText("Ada")
    (key,) = page.signers.keys
    assert (key.path, key.signer.name, key.passphrase) == (tmp_path / "ada.key", "Ada", b"secret")
    page.signers.forget_passphrases()
    assert page.signers.keys[0].passphrase is None


def test_that_the_fields_of_a_new_key_are_as_high_as_others(qtbot, page, tmp_path) -> None:
    page.resize(1120, 950)
    with qtbot.waitSignal(page.process.answered):
        page.create_key(KeyJob(tmp_path / "ada.key", b"secret"), page.signers)
    qtbot.waitUntil(lambda: not page.process.is_busy and page.writing.cancel.isHidden())
    (row,) = page.signers.rows
    qtbot.waitUntil(lambda: row.isVisible() and row.name.width() > 100)
    qtbot.wait(20)
    assert {field.height() for field in (row.name, row.role, row.passphrase)} == {page.clearance.height()}


def test_that_a_file_that_is_no_bundle_is_named_as_altered(qtbot, page, tmp_path) -> None:
    (tmp_path / "no.zip").write_bytes(b"nothing of the kind")
    with qtbot.waitSignal(page.process.answered):
        page.check(tmp_path / "no.zip")
    assert page.checking.title.isVisible()
    assert page.checking.title.text().startswith("Not intact")


def test_that_a_missing_bundle_is_refused_with_its_name(qtbot, page, tmp_path) -> None:
    with qtbot.waitSignal(page.process.failed):
        page.check(tmp_path / "missing.zip")
    assert "missing.zip" in page.checking.reason.text()


def test_that_the_focus_is_on_stop_while_a_bundle_is_worked_on_and_back_on_the_button_then(
    qtbot, page, tmp_path
) -> None:
    page.choose.setFocus()
    with qtbot.waitSignal(page.process.failed):
        page.check(tmp_path / "missing.zip")
        assert page.window().focusWidget() is page.checking.cancel
    assert page.window().focusWidget() is page.choose
    page.signers.add_key(tmp_path / "missing.key")
    page.write.setFocus()
    with qtbot.waitSignal(page.process.failed):
        page.write_to(tmp_path / "decision.zip")
        assert page.window().focusWidget() is page.writing.cancel
    qtbot.waitUntil(lambda: not page.process.is_busy)
    assert page.window().focusWidget() is page.write
    assert page.writing.cancel.isHidden()


def test_that_passphrases_that_differ_are_refused(qtbot, tmp_path) -> None:
    dialog = KeyDialog(None, tmp_path)
    qtbot.addWidget(dialog)
    asked = []
    dialog.ordered.connect(asked.append)
    dialog.show()
    dialog.passphrase.setText("one")
    dialog.order()
    assert dialog.reason.text() == "The two passphrases differ."
    place = dialog.again.pos()
    qtbot.keyClicks(dialog.again, "one")
    assert not dialog.reason.text(), "they differ no longer"
    qtbot.wait(20)
    assert dialog.again.pos() == place
    dialog.order()
    assert asked == [KeyJob(tmp_path / "signing.key", b"one")]


def test_that_the_key_of_the_next_member_gets_a_file_of_its_own(qtbot, tmp_path) -> None:
    (tmp_path / "signing.key.pub").write_text("of the first")
    dialog = KeyDialog(None, tmp_path)
    qtbot.addWidget(dialog)
    assert dialog.file.text() == str(tmp_path / "signing-2.key")


@pytest.mark.defect("minor 15")
def test_that_a_key_without_a_passphrase_is_asked_for_and_a_bare_name_is_a_file_in_the_folder(qtbot, tmp_path) -> None:
    dialog = KeyDialog(None, tmp_path)
    qtbot.addWidget(dialog)
    asked = []
    dialog.ordered.connect(asked.append)
    dialog.show()
    assert dialog.focusWidget() is dialog.passphrase
    dialog.file.setText("ada.key")
    dialog.order()
    assert "no passphrase" in dialog.reason.text()
    dialog.unprotected.setChecked(True)
    dialog.order()
    assert asked == [KeyJob(tmp_path / "ada.key", b"")]


def test_that_a_worker_that_dies_is_reported(qtbot, tmp_path) -> None:
    process = BundleProcess(command=[sys.executable, "-c", "import sys; sys.exit(3)"])
    with qtbot.waitSignal(process.failed) as caught:
        process.start(VerifyJob(tmp_path / "x.zip"))
    assert "exit code 3" in str(caught.args[0])


def test_that_a_worker_can_be_stopped(qtbot, tmp_path) -> None:
    process = BundleProcess(command=[sys.executable, "-c", "import sys; sys.stdin.read(); import time; time.sleep(60)"])
    process.start(VerifyJob(tmp_path / "x.zip"))
    qtbot.waitUntil(lambda: process.is_busy)
    with qtbot.waitSignal(process.failed) as caught:
        process.cancel()
    assert "Stopped" in str(caught.args[0])
    assert isinstance(caught.args[0], PhexploreError)


def test_that_the_same_key_is_not_added_twice(page, tmp_path) -> None:
    page.signers.add_key(tmp_path / "ada.key")
    page.signers.add_key(tmp_path / "ada.key")
    page.signers.add_expected(tmp_path / "grace.pub")
    assert (len(page.signers.rows), page.signers.later_keys) == (1, (tmp_path / "grace.pub",))
    page.signers.rows[0].removed.emit(page.signers.rows[0])
    assert page.signers.rows == []


@pytest.mark.defect("M6")
def test_that_another_project_finds_no_signers_and_no_clearance(page, session, us, tmp_path) -> None:
    page.clearance.setText("CB-2026-1")
    page.signers.add_key(tmp_path / "ada.key", "secret")
    page.signers.add_expected(tmp_path / "grace.pub")
    page.cosigners.add_key(tmp_path / "ada.key")
    session.install(Project.new(Workbook((us,), us.name)))
    assert page.clearance.text() == ""
    assert (page.signers.keys, page.signers.later_keys, page.cosigners.keys) == ((), (), ())


@pytest.fixture
def own_store(tmp_path, monkeypatch):
    """A store of keys that is not the user's."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def _checked(qtbot, page, path, content, required=0):
    path.write_bytes(content)
    page.required.setValue(required)
    with qtbot.waitSignal(page.process.answered):
        page.check(path)
    return page.checking


@pytest.mark.defect("F1")
@pytest.mark.defect("F11")
def test_that_the_page_counts_keys_of_the_store_and_shows_unknown_ones_neutrally(
    qtbot, page, own_store, us, tmp_path
) -> None:
    made = signed_bundle(us, signers=())
    report = _checked(qtbot, page, tmp_path / "a.zip", made.packed())
    assert report.title.text() == "Intact, signed by 2 unknown keys"
    assert any(f"unknown key {made.signatures[0].key_id}" in sentence for _, sentence in report.lines)
    dialog = page.manage_keys()
    qtbot.addWidget(dialog)
    public = tmp_path / "ada.pub"
    public.write_bytes(KEYS[0].public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH))
    assert not dialog.add.isEnabled()
    dialog.show_key(public)
    assert made.signatures[0].key_id in dialog.chosen.text()
    assert dialog.chosen.text() == dialog.choose.accessibleDescription()  # heard where the focus comes back
    assert dialog.chosen.focusPolicy() & Qt.FocusPolicy.TabFocus  # and read and copied by keyboard
    dialog.add.click()
    assert dialog.reason.text() == "Say whose key it is."  # not by which option of the command line
    dialog.owner.setText("Ada Lovelace")
    with qtbot.waitSignal(page.process.answered):
        dialog.add.click()
    assert dialog.list.count() == 1
    assert dialog.focusWidget() is dialog.list
    assert "Signed with the key of Ada Lovelace" in " ".join(sentence for _, sentence in report.lines)
    assert _checked(qtbot, page, tmp_path / "a.zip", made.packed(), 1).title.text().startswith("Intact, signed by an")
    assert _checked(qtbot, page, tmp_path / "a.zip", made.packed(), 2).title.text().startswith("Intact, but not signed")
    forged = replace(made, signatures=())
    assert (
        _checked(qtbot, page, tmp_path / "f.zip", forged.packed(), 1).title.text().startswith("Intact, but not signed")
    )
    dialog.list.setCurrentRow(0)
    with qtbot.waitSignal(page.process.answered):
        dialog.remove_selected()
    assert dialog.list.item(0).text().startswith("No key yet.")
    assert dialog.list.accessibleDescription() == dialog.list.item(0).text()
    assert dialog.focusWidget() is dialog.list


@pytest.mark.defect("F2")
def test_that_a_bundle_whose_parts_disagree_is_refused_on_the_page_and_cannot_be_signed(
    qtbot, page, own_store, us, tmp_path
) -> None:
    made = make_bundle(request(us, decisions=(), signers=()))
    files = dict(made.files)
    manifest = json.loads(files[MANIFEST]) | {"status": "approved"}
    forged = Bundle({**files, MANIFEST: one_spelling(manifest)}).packed()
    report = _checked(qtbot, page, tmp_path / "f.zip", forged)
    assert report.title.text() == "Not intact: 1 finding"
    page.cosigners.add_key(tmp_path / "ada.key")
    with qtbot.waitSignal(page.process.answered):
        page.show_before_signing(tmp_path / "f.zip")
    assert not page.cosign.isEnabled()
    (tmp_path / "g.zip").write_bytes(made.packed())
    with qtbot.waitSignal(page.process.answered):
        page.show_before_signing(tmp_path / "g.zip")
    assert page.cosign.isEnabled()
    assert ("info", "Status: draft") in page.signing.lines


def test_that_an_intact_bundle_that_was_checked_can_be_signed_without_choosing_it_again(
    qtbot, page, own_store, us, tmp_path
) -> None:
    with qtbot.waitSignal(page.process.answered):
        page.create_key(KeyJob(tmp_path / "ada.key", b""), page.cosigners)
    _checked(qtbot, page, tmp_path / "bad.zip", b"no bundle")
    assert not page.take.isVisibleTo(page)
    assert not page.certify.isVisibleTo(page)
    made = make_bundle(request(us, decisions=(), signers=()))
    _checked(qtbot, page, tmp_path / "good.zip", made.packed())
    assert page.take.isVisibleTo(page)
    assert page.certify.isVisibleTo(page)
    assert not page.cosign.isEnabled()
    with qtbot.waitSignal(page.process.answered):
        page.check(tmp_path / "good.zip", tmp_path / "certificate.html")
    shown = verify(made.packed()).statement
    assert (tmp_path / "certificate.html").read_bytes() == certificate_html(shown)
    assert any(str(tmp_path / "certificate.html") in sentence for _, sentence in page.checking.lines)
    page.take.click()
    assert page.cosign.isEnabled()
    assert page.signing.lines == page.checking.lines
    (tmp_path / "good.zip").write_bytes(b"another")
    with qtbot.waitSignal(page.process.failed):
        page.sign(tmp_path / "good.zip", tmp_path / "signed.zip")
    qtbot.waitUntil(lambda: not page.process.is_busy)
    assert not page.cosign.isEnabled(), "it is another file than the one that was shown"
    assert not page.signing.list.isVisibleTo(page)


def test_that_a_mistyped_passphrase_is_typed_again_beside_what_is_signed(qtbot, page, own_store, us, tmp_path) -> None:
    """The page went to its top, with the focus on "Remove" of another key, and the bundle had to be chosen again."""
    with qtbot.waitSignal(page.process.answered):
        page.create_key(KeyJob(tmp_path / "ada.key", b"secret"), page.cosigners)
    page.signers.add_key(tmp_path / "ben.key")
    (tmp_path / "vote.zip").write_bytes(make_bundle(request(us, decisions=(), signers=())).packed())
    with qtbot.waitSignal(page.process.answered):
        page.show_before_signing(tmp_path / "vote.zip")
    found, (row,) = page.signing.lines, page.cosigners.rows
    row.passphrase.setText("wrong")
    page.cosign.setFocus()
    with qtbot.waitSignal(page.process.failed):
        page.sign(tmp_path / "vote.zip", tmp_path / "signed.zip")
    qtbot.waitUntil(lambda: not page.process.is_busy)
    assert "passphrase does not open" in page.signing.reason.text()
    assert page.signing.list.isVisibleTo(page)
    assert page.signing.lines == found
    assert page.window().focusWidget() is page.cosign
    row.passphrase.setText("secret")
    with qtbot.waitSignal(page.written):
        page.sign(tmp_path / "vote.zip", tmp_path / "signed.zip")
    qtbot.waitUntil(lambda: not page.process.is_busy)
    assert not page.cosign.isEnabled()
    assert page.window().focusWidget() is page.signing.list


def test_that_a_bundle_written_over_one_that_was_checked_is_told_and_its_passphrases_forgotten(
    qtbot, page, own_store, tmp_path
) -> None:
    with qtbot.waitSignal(page.process.answered):
        page.create_key(KeyJob(tmp_path / "ada.key", b"secret"), page.signers)
    with qtbot.waitSignal(page.process.failed):
        page.show_before_signing(tmp_path / "vote.zip")  # not there yet
    _checked(qtbot, page, tmp_path / "vote.zip", b"no bundle")
    with qtbot.waitSignal(page.written):
        page.write_to(tmp_path / "vote.zip")
    assert page.signers.rows[0].passphrase.text() == ""
    assert not page.cosign.isEnabled()


def test_that_what_was_found_about_one_project_does_not_stand_in_the_next(
    qtbot, page, session, us, own_store, tmp_path
) -> None:
    with qtbot.waitSignal(page.written):
        page.write_to(tmp_path / "vote.zip")
    _checked(qtbot, page, tmp_path / "bad.zip", b"no bundle")
    assert page.writing.title.isVisibleTo(page)
    session.install(Project.new(Workbook((us,), us.name)))
    for work in (page.writing, page.checking, page.signing):
        assert not work.title.isVisibleTo(page)
    assert not page.again.isEnabled()


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed (openssh-client)")
def test_that_a_command_signs_from_the_page(qtbot, page, own_store, tmp_path) -> None:
    key = tmp_path / "ada"
    key.write_bytes(KEYS[0].private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    key.chmod(0o600)
    page.signers.add_command()
    (row,) = page.signers.rows
    row.name.setText("Ada")
    row.command.setText(f"ssh-keygen -Y sign -f {key} -n phexplore-bundle")
    with qtbot.waitSignal(page.process.answered):
        page.write_to(tmp_path / "a.zip")
    (found,) = verify((tmp_path / "a.zip").read_bytes()).signatures
    assert (found.public_key, found.signer.name) == (public_bytes(KEYS[0]), "Ada")
    row.command.setText("false")
    with qtbot.waitSignal(page.process.failed):
        page.write_to(tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


@pytest.mark.defect("T3")
def test_that_a_bundle_of_the_window_is_countersigned_by_the_command_and_checked_by_both(
    qtbot, page, own_store, tmp_path
) -> None:
    for name in ("ada", "grace"):
        with qtbot.waitSignal(page.process.answered):
            page.create_key(KeyJob(tmp_path / f"{name}.key", b""), page.cosigners)
    page.signers.add_key(tmp_path / "ada.key")
    page.signers.rows[0].name.setText("Ada")
    page.signers.add_expected(tmp_path / "grace.key.pub")
    first, second, certificate = tmp_path / "a.zip", tmp_path / "b.zip", tmp_path / "c.html"
    with qtbot.waitSignal(page.written):
        page.write_to(first)
    assert command(["verify", str(first)]) == EXPECTED_FAILURE  # Grace has not signed
    signing = ["bundle", str(first), "--sign", str(tmp_path / "grace.key"), "--signer", "Grace", "--out", str(second)]
    assert command(signing) == DONE
    trust = [word for name in ("ada", "grace") for word in ("--trust", str(tmp_path / f"{name}.key.pub"))]
    assert command(["verify", str(second), *trust, "--require", "2", "--certificate", str(certificate)]) == DONE
    with qtbot.waitSignal(page.process.answered):
        page.check(second, tmp_path / "window.html")
    assert page.checking.title.text() == "Intact, signed by 2 unknown keys"
    assert certificate.read_bytes() == (tmp_path / "window.html").read_bytes()
    if keygen := shutil.which("ssh-keygen"):
        files = unpack(second.read_bytes()).files
        (tmp_path / "allowed").write_text(f"grace {(tmp_path / 'grace.key.pub').read_text()}")
        (tmp_path / "grace.sig").write_bytes(
            files[
                next(
                    name
                    for name in files
                    if name.endswith(f"{key_id_of(load_public_key(tmp_path / 'grace.key.pub'))[:16]}.sig")
                )
            ]
        )
        check = [keygen, "-Y", "verify", "-f", "allowed", "-I", "grace", "-n", NAMESPACE, "-s", "grace.sig"]
        subprocess.run(check, input=files[MANIFEST], cwd=tmp_path, check=True, capture_output=True)


def test_that_a_dialog_has_the_height_of_its_sentences_in_large_text(qtbot, tmp_path):
    appearance().set_scale(200)
    dialog = KeyDialog(None, tmp_path)
    qtbot.addWidget(dialog)
    dialog.show()
    needed = dialog.layout().totalHeightForWidth(dialog.width())
    screen = dialog.screen().availableGeometry().height()
    assert dialog.height() >= min(needed, screen - 48)
    dialog.refuse("why " * 2000)
    assert dialog.height() <= max(screen - 48, dialog.minimumSizeHint().height())  # its title stands on the screen, too
    appearance().set_scale(100)


def test_that_a_dialog_grows_with_a_reason_and_squeezes_no_field(qtbot, tmp_path) -> None:
    dialog = KeyDialog(None, tmp_path)
    qtbot.addWidget(dialog)
    dialog.show()
    before = dialog.height()
    dialog.passphrase.setText("one")
    dialog.order()
    qtbot.waitUntil(lambda: dialog.height() > before)
    assert dialog.file.height() >= dialog.file.sizeHint().height()
