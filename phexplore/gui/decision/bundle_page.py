"""The bundle of a decision: write and sign it, add a signature to one, check one. All of it happens beside the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from phexplore.decide.bundle_jobs import Began, BundleJob, BundleReport, KeyJob, KeyMade, SealJob, SignJob, VerifyJob
from phexplore.decide.trusted_keys import trusted_keys
from phexplore.errors import PhexploreError, visible
from phexplore.files.project_file import write_project
from phexplore.gui.binding.scenario_view import ScenarioView, Update
from phexplore.gui.binding.session import Session
from phexplore.gui.decision.approval_state import run_offers, standing
from phexplore.gui.decision.bundle_process import BundleProcess
from phexplore.gui.decision.bundle_report import BundleReportView
from phexplore.gui.decision.key_dialog import KeyDialog
from phexplore.gui.decision.run_citations import RunCitations
from phexplore.gui.decision.signers import SignersEditor
from phexplore.gui.decision.trusted_keys_dialog import TrustedKeysDialog
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import Paragraph, Text, field_label
from phexplore.gui.widgets.number_field import NumberField
from phexplore.gui.widgets.page import Page, Section
from phexplore.gui.widgets.when_seen import WhenSeen

BUNDLE_SUFFIX = ".zip"
_BUNDLES = f"Bundles (*{BUNDLE_SUFFIX});;All files (*)"


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
        self.is_mine = False
        self.bar = QProgressBar()
        self.bar.setAccessibleName(f"{name}: progress")
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(GRID)
        self.step = Paragraph(look="muted")
        self.cancel = TextButton("Stop", name=f"{name}: stop")
        self.cancel.clicked.connect(process.cancel)
        self.reason = Text(look="refused", wrap=True)
        self.report = BundleReportView(f"{name}: what was found")
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self.bar, 1)
        row.addWidget(self.cancel)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(HALF)
        column.addLayout(row)
        for widget in (self.step, self.reason, self.report):
            column.addWidget(widget)
        self._show_work(is_working=False)
        self.reason.hide()
        process.progressed.connect(self._on_began)
        process.answered.connect(self._on_done)
        process.failed.connect(self._on_failed)

    def start(self, order: BundleJob) -> None:
        """Begin; what was found before goes."""
        self.is_mine = True
        self.reason.hide()
        self.report.hide()
        self.bar.setRange(0, 0)
        self.step.setText("Starting")
        self._show_work(is_working=True)
        self._process.start(order)

    def refuse(self, text: str) -> None:
        """Say why nothing is done."""
        self.reason.setText(text)
        self.reason.setVisible(bool(text))

    def _show_work(self, *, is_working: bool) -> None:
        for widget in (self.bar, self.step, self.cancel):
            widget.setVisible(is_working)

    def _on_began(self, step: Began) -> None:
        if self.is_mine:
            self.bar.setRange(0, step.steps if step.steps > 1 else 0)
            self.bar.setValue(step.number - 1)
            self.step.setText(f"{step.number} of {step.steps}: {step.sentence}")

    def _on_done(self, result: object) -> None:
        if self.is_mine:
            self.is_mine = False
            self._show_work(is_working=False)
            if isinstance(result, BundleReport):
                self.report.show_report(result)

    def _on_failed(self, error: PhexploreError) -> None:
        if self.is_mine:
            self.is_mine = False
            self._show_work(is_working=False)
            self.refuse(visible(error.full))


class BundlePage(Page):
    """Writing, signing and checking bundles.

    Signals:
        written: the `Path` of a bundle that stood up to its check.
    """

    written = Signal(object)

    def __init__(self, session: Session, desk: RunController, folder: Callable[[], Path]) -> None:
        """Make the page.

        Args:
            session: the project.
            desk: its runs.
            folder: gives where files are likely to be.
        """
        super().__init__("Bundle")
        self._session, self._desk, self._folder = session, desk, folder
        self.process = BundleProcess(self)
        self.process.busy_changed.connect(self._on_busy)
        self.process.answered.connect(self._on_done)
        self._after_key: SignersEditor | None = None
        self._checked: Path | None = None
        self._inspected: Path | None = None
        self._to_sign: BundleReport | None = None
        self._key_passphrase = ""
        self._make_fields()
        for section in (
            Section(
                "Write the bundle",
                "One archive with everything somebody needs to run, check and defend the decision: parameters as production reads "
                "them, forecast, cited runs, edit log, certificate, check sums and signatures.",
                self._write_part(),
            ),
            Section(
                "Check a bundle",
                "Recomputes every part from the parameters, compares, and checks every signature.",
                self._check_part(),
            ),
            Section(
                "Add a signature",
                "Several people can sign one after the other, each on their own machine. Check the bundle first: what is found, "
                "recomputed, is what you sign.",
                self._sign_part(),
            ),
        ):
            self._insert(section)
        self._seen = WhenSeen(self, self.refresh)
        session.updated.connect(self._forget)
        session.settled.connect(self._seen.request)
        session.saved.connect(self._seen.request)
        desk.changed.connect(self._seen.request)
        self.refresh()

    def _forget(self, update: Update[ScenarioView]) -> None:
        """Empty the forms when another project was opened: what stands in them was about the one before."""
        if update.before is None:
            self.clearance.clear()
            for editor in (self.signers, self.cosigners):
                editor.clear()

    def stop(self) -> None:
        """End what is being done, because the window closes."""
        self.process.stop()

    def refresh(self) -> None:
        """Show what would go into the bundle now."""
        found = standing(self._session.project)
        name = self._session.scenario.name
        self.about.setText(f"{name}: {found.status.value}. {found.sentence}")
        offers = run_offers(self._desk.rows, self._session.scenario)
        needed = {run.name for one in found.decisions if one.fingerprint == found.fingerprint for run in one.runs}
        self.runs.show_offers(offers, [offer.directory for offer in offers if offer.directory.name in needed])

    def write_to(self, path: Path) -> None:
        """Write the bundle to a file."""
        project = self._session.project
        self.writing.start(
            SealJob(
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

    def check(self, path: Path) -> None:
        """Check a bundle."""
        self._checked = path
        try:
            self.checking.start(VerifyJob(path, trusted_keys(), self.required.value()))
        except PhexploreError as error:
            self.checking.refuse(visible(str(error)))
            self._enable()

    def show_before_signing(self, bundle: Path) -> None:
        """Check a bundle that somebody wants to sign and show what it states; only an intact one can be signed then."""
        self._to_sign = None
        self._inspected = bundle
        self.signing.start(VerifyJob(bundle))

    def sign(self, bundle: Path, out: Path) -> None:
        """Add signatures to a bundle."""
        sha256 = self._to_sign.sha256 if self._to_sign is not None else ""
        self._to_sign = None
        self.signing.start(SignJob(bundle, out, self.cosigners.keys, sha256))

    def create_key(self, order: KeyJob, editor: SignersEditor) -> None:
        """Make a key pair and sign with it."""
        self._after_key, self._key_passphrase = editor, order.passphrase.decode()
        (self.writing if editor is self.signers else self.signing).start(order)

    def manage_keys(self) -> TrustedKeysDialog:
        """Open the store of keys that the user trusts."""
        dialog = TrustedKeysDialog(self, self._folder())
        dialog.stored.connect(lambda: self.check(self._checked) if self._checked and not self.process.is_busy else None)
        dialog.open()
        return dialog

    def _make_fields(self) -> None:
        self.about = Paragraph()
        self.runs = RunCitations("Runs cited in the bundle")
        self.signers = SignersEditor(is_signed_later=True)
        self.cosigners = SignersEditor(is_signed_later=False)
        for editor in (self.signers, self.cosigners):
            editor.key_wanted.connect(lambda editor=editor: self._ask_for_key(editor))
        self.cosigners.changed.connect(self._enable)
        self.clearance = QLineEdit()
        self.clearance.setAccessibleName("Number of the review board")
        self.clearance.setPlaceholderText("optional")
        self.notes = QCheckBox("Keep &free text: notes of scenarios and decisions")
        self.notes.setChecked(True)
        self.write = TextButton("Write the bundle…", look="primary", symbol="save")
        self.write.clicked.connect(lambda: self._ask_to_save("Write the bundle", self._proposed(), self.write_to))
        self.writing = BundleWork(self.process, "Write the bundle")
        self.required = NumberField("Signatures required by keys you trust", 0, 99, 0)
        self.required.setToolTip("The check fails unless so many different keys you trust have signed")
        self.choose = TextButton("Choose a bundle…", look="primary", name="Choose a bundle to check")
        self.choose.clicked.connect(lambda: self._ask_to_open("Check a bundle", _BUNDLES, self.check))
        self.again = TextButton("Check again")
        self.again.setEnabled(False)
        self.again.clicked.connect(lambda: self.check(self._checked) if self._checked else None)
        self.trusting = TextButton("Keys you trust…", name="Manage the keys you trust")
        self.trusting.clicked.connect(self.manage_keys)
        self.checking = BundleWork(self.process, "Check a bundle")
        self.inspect = TextButton("Choose the bundle to sign…", name="Choose the bundle to sign")
        self.inspect.clicked.connect(lambda: self._ask_to_open("Sign a bundle", _BUNDLES, self.show_before_signing))
        self.cosign = TextButton("Sign this bundle…", look="primary", name="Sign the bundle that was checked")
        self.cosign.clicked.connect(lambda: self._ask_where_to_sign(self._to_sign.path) if self._to_sign else None)
        self.cosign.setEnabled(False)
        self.signing = BundleWork(self.process, "Add a signature")

    def _write_part(self) -> QWidget:
        part = QWidget()
        form = QFormLayout()
        form.setHorizontalSpacing(2 * GRID)
        form.setVerticalSpacing(GRID)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow(field_label("&Runs", self.runs.list), self.runs)
        form.addRow(field_label("Si&gners", self.signers.add), self.signers)
        form.addRow(field_label("&Clearance", self.clearance), self.clearance)
        form.addRow("", self.notes)
        column = _column(part, self.about)
        column.addLayout(form)
        column.addLayout(_buttons(self.write))
        column.addWidget(self.writing)
        return part

    def _check_part(self) -> QWidget:
        part = QWidget()
        demand = QWidget()
        row = QHBoxLayout(demand)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(field_label("Signatures &required by keys you trust", self.required))
        row.addWidget(self.required)
        row.addStretch(1)
        column = _column(part, demand)
        column.addLayout(_buttons(self.trusting, self.again, self.choose))
        column.addWidget(self.checking)
        return part

    def _sign_part(self) -> QWidget:
        part = QWidget()
        column = _column(part, self.cosigners)
        column.addLayout(_buttons(self.inspect, self.cosign))
        column.addWidget(self.signing)
        return part

    def _proposed(self) -> Path:
        plain = "".join(
            letter if letter.isalnum() or letter in "-_ ." else "-" for letter in self._session.scenario.name
        )
        return self._folder() / f"{plain.strip() or 'decision'}{BUNDLE_SUFFIX}"

    def _ask_for_key(self, editor: SignersEditor) -> None:
        dialog = KeyDialog(self, self._folder())
        dialog.ordered.connect(lambda order: self.create_key(order, editor))
        dialog.open()

    def _ask_where_to_sign(self, bundle: Path) -> None:
        proposed = bundle.with_name(f"{bundle.stem}-signed{bundle.suffix}")
        self._ask_to_save("Write the signed bundle", proposed, lambda out: self.sign(bundle, out))

    def _ask_to_save(self, title: str, proposed: Path, take: Callable[[Path], object]) -> None:
        dialog = QFileDialog(self, title, str(proposed.parent), _BUNDLES)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(BUNDLE_SUFFIX[1:])
        dialog.selectFile(proposed.name)
        dialog.fileSelected.connect(lambda name: take(Path(name)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _ask_to_open(self, title: str, names: str, take: Callable[[Path], object]) -> None:
        dialog = QFileDialog(self, title, str(self._folder()), names)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda name: take(Path(name)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _on_busy(self, busy: object) -> None:
        self._enable(is_busy=bool(busy))

    def _enable(self, *, is_busy: bool = False) -> None:
        for button in (self.write, self.choose, self.trusting, self.signers.new_key, self.cosigners.new_key):
            button.setEnabled(not is_busy)
        self.again.setEnabled(not is_busy and self._checked is not None)
        self.inspect.setEnabled(not is_busy)
        self.cosign.setEnabled(not is_busy and self._to_sign is not None and bool(self.cosigners.rows))

    def _on_done(self, result: object) -> None:
        if isinstance(result, KeyMade):
            if self._after_key is not None:
                self._after_key.add_key(result.path, self._key_passphrase)
            self._after_key, self._key_passphrase = None, ""
        elif isinstance(result, BundleReport) and result.path == self._inspected:
            self._to_sign = result if result.is_intact else None
            self._inspected = None
            self._enable()
        elif isinstance(result, BundleReport) and result.is_intact and result.path != self._checked:
            for editor in (self.signers, self.cosigners):
                editor.forget_passphrases()
            self.written.emit(result.path)


def _column(part: QWidget, first: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(part)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(GRID)
    column.addWidget(first)
    return column


def _buttons(*buttons: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(GRID)
    row.addStretch(1)
    for button in buttons:
        row.addWidget(button)
    return row
