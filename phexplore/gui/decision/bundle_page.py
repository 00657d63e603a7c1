"""The bundle of a decision: write and sign it, add a signature to one, check one. All of it happens beside the window."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidget, QProgressBar, QWidget

from phexplore.decide.approving import standing
from phexplore.decide.bundle_jobs import (
    Began,
    BundleJob,
    BundleReport,
    KeyJob,
    KeyMade,
    SignJob,
    VerifyJob,
    WriteJob,
    report_headline,
    report_lines,
)
from phexplore.decide.trusted_keys import trusted_keys
from phexplore.decide.verifying import read_bundle
from phexplore.errors import PhexploreError
from phexplore.files.project_file import write_project
from phexplore.gui.binding.session import Session
from phexplore.gui.decision.bundle_process import BundleProcess
from phexplore.gui.decision.dialogs import KeyDialog, TrustedKeysDialog
from phexplore.gui.decision.run_citations import RunCitations, run_offers
from phexplore.gui.decision.signers import SignersEditor
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import icon
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.buttons import TextButton, TickBox
from phexplore.gui.widgets.cell_text import WrappedText
from phexplore.gui.widgets.file_dialogs import ask_to_open, ask_to_save
from phexplore.gui.widgets.labels import News, Paragraph, Reason, field_label
from phexplore.gui.widgets.layout import column, form, row, stacked
from phexplore.gui.widgets.number_field import LineField, NumberField
from phexplore.gui.widgets.page import Page, Section
from phexplore.gui.widgets.pointers import PAGE
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.text.escapes import visible

BUNDLE_SUFFIX = ".zip"
_SECTIONS = {
    "Write the bundle": (
        "One archive with everything somebody needs to run, check and defend the decision: parameters as production reads them, "
        "forecast, decisions, cited runs, edit log, SHA-256 sums and signatures. Whoever checks it renders the certificate."
    ),
    "Check a bundle": (
        "Recomputes every part from the parameters, compares, and checks every signature. The certificate is rendered from the "
        "recomputed values."
    ),
    "Add a signature": ("Listed signers can each sign on their own computer. You sign what the check shows."),
}
_MOST_LINES = 12
"""Of what was found, before it scrolls."""
_ROLES = {"error": "refused", "tick": "good", "warning": "attention"}
_BUNDLES = f"Bundles (*{BUNDLE_SUFFIX});;All files (*)"
_CERTIFICATES = "Certificates (*.pdf *.html)"


class BundleWork(QWidget):
    """A button's worth of work: progress, a way to stop it, and what came of it."""

    def __init__(self, process: BundleProcess, name: str) -> None:
        """Make the place.

        Args:
            process: does the work.
            name: of what is done, for people who do not see it.
        """
        super().__init__()
        self._process = process
        self._focus_before: QWidget | None = None
        self.bar = QProgressBar()
        self.bar.setAccessibleName(f"{name}: progress")
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(GRID)
        self.step = Paragraph(look="muted")
        self.cancel = TextButton("Stop", name=f"{name}: stop", run=process.cancel)
        self.reason = Reason()
        self.title = News(relative=1.3, bold=True)
        self.path = Paragraph(look="muted")
        self.lines: list[tuple[str, str]] = []
        self._report: BundleReport | None = None
        self.unsigned: BundleReport | None = None
        """What nobody signed yet: shown again after work that found nothing, so that a mistyped passphrase is typed once more."""
        self.list = QListWidget()
        self.list.setAccessibleName(f"{name}: what was found")
        self.list.setWordWrap(True)
        self.list.setItemDelegate(WrappedText(self.list))
        self.list.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._work: tuple[QWidget, ...] = (self.bar, self.step, self.cancel)
        self._found: tuple[QWidget, ...] = (self.title, self.path, self.list)
        column(row((self.bar, 1), self.cancel), self.step, self.reason, *self._found, of=self, gap=HALF)
        for widget in (*self._work, *self._found):
            widget.hide()
        for signal, act in (
            (process.progressed, self._on_began),
            (process.answered, self._on_done),
            (process.failed, self._on_failed),
            (process.busy_changed, self._on_busy),
        ):
            signal.connect(partial(self._if_mine, act))
        appearance().changed.connect(self._restyle)

    def clear(self) -> None:
        """Forget what was found."""
        self.reason.say("")
        self.title.say("")
        for widget in self._found:
            widget.hide()

    def start(self, job: BundleJob) -> None:
        """Begin; what was found before goes."""
        self.clear()
        self.bar.setRange(0, 0)
        self.step.setText("Starting")
        self._focus_before = self.window().focusWidget()
        for widget in self._work:
            widget.show()
        self.cancel.setFocus()  # the button that was pressed is disabled now, and keys must not reach whatever is next
        self._process.start(job, self)

    def _if_mine(self, act: Callable[[Any], object], value: object) -> None:
        """Take what the process tells while it works, or worked last, for this button."""
        if self._process.asker is self:
            act(value)

    def _on_began(self, step: Began) -> None:
        self.bar.setRange(0, step.steps if step.steps > 1 else 0)
        self.bar.setValue(step.number - 1)
        self.step.setText(f"{step.number} of {step.steps}: {step.sentence}")

    def _on_done(self, report: object) -> None:
        if isinstance(report, BundleReport):
            self.show_report(report)
        else:
            self._show_unsigned()

    def _on_failed(self, error: PhexploreError) -> None:
        self.reason.say(visible(error.full))
        self._show_unsigned()

    def _show_unsigned(self) -> None:
        """Show again what is to be signed, as long as it is that."""
        if self.unsigned is not None and _is_unchanged(self.unsigned):
            self.show_report(self.unsigned)
        else:
            self.unsigned = None

    def show_report(self, report: BundleReport) -> None:
        """Show what was found."""
        words, look = report_headline(report)
        self.title.set_look(look)
        self.title.say(words)
        self.path.setText(str(report.path))
        self._report = report
        for widget in self._found:
            widget.show()
        self._restyle()

    def _on_busy(self, busy: object) -> None:
        if not busy:
            if self._focus_before is not None and self.window().focusWidget() is self.cancel:
                # Where the button has done its work, what came of it: the next key must not reach the top of the page.
                (self._focus_before if self._focus_before.isEnabled() else self.list).setFocus()
            for widget in self._work:
                widget.hide()

    def _restyle(self, _colours: object = None) -> None:
        lines = [] if self._report is None else report_lines(self._report, has_codes=appearance().is_expert)
        if lines != self.lines:
            self.lines = lines
            self.list.clear()
            self.list.addItems([localised(sentence) for _, sentence in lines])
        for number, (symbol, _) in enumerate(self.lines):
            role = _ROLES.get(symbol, "muted")
            self.list.item(number).setIcon(icon(symbol, appearance().colours, role=role))
        shown = min(max(len(self.lines), 1), _MOST_LINES)
        self.list.setFixedHeight(shown * max(self.list.sizeHintForRow(0), 3 * GRID) + GRID)


class BundlePage(Page):
    """Writing, signing and checking bundles.

    Signals:
        written: the `Path` of a bundle that stood up to its check.
    """

    written = Signal(object)

    def __init__(self, session: Session, controller: RunController, folder: Callable[[], Path]) -> None:
        """Make the page.

        Args:
            session: the project.
            controller: its runs.
            folder: gives where files are likely to be.
        """
        super().__init__("Bundle")
        self.setProperty(PAGE, "docs/trust_of_bundles.md")
        self._session, self._controller, self._folder = session, controller, folder
        self.process = BundleProcess(self)
        self._after_key: SignersEditor | None = None
        self._checked: Path | None = None
        self._inspected = False
        self._intact: BundleReport | None = None
        self._key_passphrase = ""
        self.process.busy_changed.connect(lambda busy: self._enable(is_busy=bool(busy)))
        self.process.answered.connect(self._on_done)
        self._make_fields()
        fields = form(
            ("&Runs", self.runs, self.runs.list),
            ("Si&gners", self.signers, self.signers.add),
            ("&Clearance", self.clearance),
            ("", self.notes),
        )
        number = row(field_label("Signatures &required by keys you trust", self.required), self.required, 1)
        write = stacked(self.about, fields, row(1, self.write), self.writing)
        check = stacked(
            number, row(1, self.trusting, self.again, self.choose), self.checking, row(1, self.certify, self.take)
        )
        sign = stacked(self.cosigners, row(1, self.inspect, self.cosign), self.signing)
        for (title, sentence), part in zip(_SECTIONS.items(), (write, check, sign), strict=True):
            self._insert(Section(title, sentence, part))
        self._seen = WhenSeen(self, self.refresh, session.settled, session.saved, controller.changed)
        session.opened.connect(self._forget)
        self.refresh()

    def _forget(self) -> None:
        """Empty the page when another project was opened: what stands in it was about the one before."""
        self.clearance.clear()
        self._checked = self.signing.unsigned = None
        self._offer_to_sign(None)
        for part in (self.signers, self.cosigners, self.writing, self.checking, self.signing):
            part.clear()
        self._enable(is_busy=self.process.is_busy)

    def stop(self) -> None:
        """End what is being done, because the window closes."""
        self.process.stop()

    def refresh(self) -> None:
        """Show what would go into the bundle now."""
        found = standing(self._session.project)
        name = self._session.scenario.name
        self.about.setText(f"{name}: {found.status.value}. {found.sentence}")
        offers = run_offers(self._controller.rows, self._session.scenario)
        needed = {run.name for one in found.decisions if one.fingerprint == found.fingerprint for run in one.runs}
        self.runs.show_offers(offers, [offer.directory for offer in offers if offer.directory.name in needed])

    def write_to(self, path: Path) -> None:
        """Write the bundle to a file."""
        self._inspected = False  # whatever was to be shown before signing could not be
        project = self._session.project
        self.writing.start(
            WriteJob(
                write_project(project.content()),
                self._session.scenario.name,
                path,
                self.runs.chosen,
                self.signers.keys,
                self.signers.later_keys,
                self.clearance.text().strip(),
                keeps_notes=self.notes.isChecked(),
            )
        )

    def check(self, path: Path, certificate: Path | None = None) -> None:
        """Check a bundle; render its certificate from the recomputed values, if a file for it is given."""
        self._checked = path
        self._offer_to_sign(None)
        try:
            self.checking.start(VerifyJob(path, trusted_keys(), self.required.read(), certificate))
        except (ValueError, PhexploreError) as error:
            self.checking.reason.say(visible(str(error)))
            self._enable()

    def show_before_signing(self, bundle: Path) -> None:
        """Check a bundle that somebody wants to sign and show what it states; only an intact one can be signed then."""
        self.signing.unsigned = None
        self._inspected = True
        self.signing.start(VerifyJob(bundle))

    def sign_checked(self) -> None:
        """Take the bundle that was checked as the one to sign: what was found there is what is signed."""
        if self._intact is not None and not self.process.is_busy:
            self.signing.unsigned = self._intact
            self.signing.show_report(self._intact)
            self._enable()
            self.cosigners.add.setFocus()

    def _offer_to_sign(self, report: BundleReport | None) -> None:
        self._intact = report if report is not None and report.is_intact else None
        for button in (self.take, self.certify):
            button.setVisible(self._intact is not None)

    def sign(self, bundle: Path, out: Path) -> None:
        """Add signatures to a bundle."""
        sha256 = self.signing.unsigned.sha256 if self.signing.unsigned is not None else ""
        self._inspected = False
        self.signing.start(SignJob(bundle, out, self.cosigners.keys, sha256))

    def create_key(self, order: KeyJob, editor: SignersEditor) -> None:
        """Make a key pair and sign with it."""
        self._after_key, self._key_passphrase = editor, order.passphrase.decode()
        (self.writing if editor is self.signers else self.signing).start(order)

    def manage_keys(self) -> TrustedKeysDialog:
        """Open the store of keys that the user trusts."""
        dialog = TrustedKeysDialog(self, self._folder())
        dialog.stored.connect(self._check_again)
        dialog.open()
        return dialog

    def _check_again(self) -> None:
        if self._checked is not None and not self.process.is_busy:
            self.check(self._checked)

    def _make_fields(self) -> None:
        self.about = Paragraph()
        self.runs = RunCitations("Runs cited in the bundle")
        self.signers = SignersEditor(is_signed_later=True)
        self.cosigners = SignersEditor(is_signed_later=False)
        for editor in (self.signers, self.cosigners):
            editor.key_wanted.connect(lambda editor=editor: self._ask_for_key(editor))
        self.cosigners.changed.connect(self._enable)
        self.clearance = LineField("Number of the review board", example="optional")
        self.notes = TickBox("Keep &free text: comments and notes of scenarios and decisions")
        self.notes.setChecked(True)
        self.write = TextButton("Write the bundle…", look="primary", symbol="save", run=self._ask_where_to_write)
        self.writing = BundleWork(self.process, "Write the bundle")
        self.required = NumberField("Signatures required by keys you trust", 0, 99, 0)
        self.required.setToolTip("The check fails unless so many different keys you trust have signed")
        name = "Choose a bundle to check"
        self.choose = TextButton(
            "Choose a bundle…", look="primary", name=name, run=lambda: _ask_for(self, self.check, self._folder())
        )
        self.again = TextButton("Check again", run=self._check_again)
        self.again.setEnabled(False)
        self.trusting = TextButton("Keys you trust…", name="Manage the keys you trust", run=self.manage_keys)
        self.checking = BundleWork(self.process, "Check a bundle")
        self.take = TextButton(
            "Sign it", name="Sign it: add a signature to the bundle that was checked", run=self.sign_checked
        )
        self.certify = TextButton(
            "Save the certificate…",
            name="Save the certificate of the bundle that was checked",
            run=self._ask_where_to_certify,
        )
        self.take.hide()
        self.certify.hide()
        name = "Choose the bundle to sign"
        self.inspect = TextButton(
            f"{name}…", name=name, run=lambda: _ask_for(self, self.show_before_signing, self._folder())
        )
        name = "Sign the bundle that was checked"
        self.cosign = TextButton("Sign this bundle…", look="primary", name=name, run=self._ask_where_to_sign)
        self.cosign.setEnabled(False)
        self.signing = BundleWork(self.process, "Add a signature")

    def _ask_for_key(self, editor: SignersEditor) -> None:
        dialog = KeyDialog(self, self._folder())
        dialog.ordered.connect(lambda job: self.create_key(job, editor))
        dialog.open()

    def _ask_where_to_write(self) -> None:
        name = self._session.scenario.name
        plain = "".join(letter if letter.isalnum() or letter in "-_ ." else "-" for letter in name).strip()
        file = self._folder() / f"{plain or 'decision'}{BUNDLE_SUFFIX}"
        ask_to_save(self, "Write the bundle", self.write_to, kinds=_BUNDLES, proposed=file)

    def _ask_where_to_certify(self) -> None:
        if (bundle := self._checked) is not None:
            proposed = bundle.with_name(f"{bundle.stem}-certificate.pdf")
            take = partial(self.check, bundle)
            ask_to_save(self, "Save the certificate", take, kinds=_CERTIFICATES, proposed=proposed)

    def _ask_where_to_sign(self) -> None:
        if self.signing.unsigned is not None:
            path = self.signing.unsigned.path
            file = path.with_name(f"{path.stem}-signed{path.suffix}")
            ask_to_save(self, "Write the signed bundle", partial(self.sign, path), kinds=_BUNDLES, proposed=file)

    def _enable(self, *, is_busy: bool = False) -> None:
        keys = (self.trusting, self.signers.new_key, self.cosigners.new_key)
        for button in (self.write, self.choose, self.inspect, *keys):
            button.setEnabled(not is_busy)
        self.again.setEnabled(not is_busy and self._checked is not None)
        self.certify.setEnabled(not is_busy)
        self.cosign.setEnabled(not is_busy and self.signing.unsigned is not None and bool(self.cosigners.rows))

    def _on_done(self, result: object) -> None:
        if isinstance(result, KeyMade):
            if self._after_key is not None:
                self._after_key.add_key(result.path, self._key_passphrase)
            self._after_key, self._key_passphrase = None, ""
        elif not isinstance(result, BundleReport):
            return
        elif self.process.asker is self.checking:
            self._offer_to_sign(result)
        elif self._inspected:
            self.signing.unsigned = result if result.is_intact else None
            self._inspected = False
            self._enable()
        elif result.is_intact:
            for editor in (self.signers, self.cosigners):
                editor.forget_passphrases()
            if self.process.asker is self.signing:
                self.signing.unsigned = None
                self._enable()
            self.written.emit(result.path)


def _ask_for(page: BundlePage, take: Callable[[Path], object], folder: Path) -> None:
    ask_to_open(page, "Choose a bundle", take, kinds=_BUNDLES, folder=folder)


def _is_unchanged(report: BundleReport) -> bool:
    """Return whether a bundle is the one that was checked."""
    try:
        return hashlib.sha256(read_bundle(report.path)).hexdigest() == report.sha256
    except PhexploreError:
        return False
