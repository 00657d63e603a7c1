"""Scenarios and their forecasts in Python: loaded, edited by parameter path, checked, saved, exported. A scenario never changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.interface.arguments import FrozenValueError, argument_of, typed, typed_class
from phexplore.interface.frames import Pictured, frame
from phexplore.interface.studies import Study, study, study_names
from phexplore.library import left_out, reread
from phexplore.model import paths
from phexplore.model.conventions import Conversion, Proof
from phexplore.model.diff import value_text
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import Issue
from phexplore.model.scenario import Scenario as Value
from phexplore.systems import registry
from phexplore.systems.running import refuse_errors
from phexplore.systems.sources import load_with_warnings
from phexplore.text.escapes import visible

if TYPE_CHECKING:
    from os import PathLike

    from pandas import DataFrame

    from phexplore.figures.figure import Figure


_LONGEST = 60
_HEADLINE_DELTA = "1e-10"


@typed_class
class Scenario:
    """One proposal: the parameters of a system with the conventions its numbers follow.

    A scenario never changes; `set` gives another one. Two are equal when all they hold is equal.

    Attributes:
        value: the parameters as the program holds them.
        warnings: what a reader of its file should know, as `Issue` values.

    Example:
        >>> import phexplore as px
        >>> scenario = px.load("sdhc-2020-us")
        >>> scenario.name
        'S-DHC 2020, United States (production)'
    """

    value: Value
    warnings: tuple[Issue, ...]

    def __init__(self, value: Value, warnings: tuple[Issue, ...] = ()) -> None:
        """Wrap parameters.

        Args:
            value: as the program holds them.
            warnings: what a reader of its file should know.
        """
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "warnings", warnings)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse a new value: statistics, files and fingerprints were computed from the old one."""
        raise FrozenValueError(
            f"A scenario never changes: {name} cannot be assigned.",
            "Use scenario.set(path, value): it returns a new scenario.",
        )

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse to lose a value."""
        self.__setattr__(name, None)

    @property
    def name(self) -> str:
        """What people call it."""
        return self.value.name

    @property
    def system(self) -> str:
        """Id of its system: ``phsafe``, ``topdown``, ``group-sizes`` or ``subspace``.

        Example:
            >>> import phexplore as px
            >>> px.load("pl94-2020-persons-us").system
            'topdown'
        """
        return registry.system_of(self.value).id

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter that alters a number, by its path, exact numbers as `fractions.Fraction`.

        Example:
            >>> import phexplore as px
            >>> px.load("sdhc-2020-us").parameters["threshold PH2"]
            10
        """
        return paths.parameters(self.value)

    @property
    def rho(self) -> Fraction | None:
        """The whole privacy loss, exact, for the neighbours of its conventions; ε under pure DP; None without a bound.

        Example:
            >>> import phexplore as px
            >>> px.load("pl94-2020-persons-us").rho
            Fraction(293764, 114921)
        """
        return registry.loss_of(self.value).bound

    @property
    def fingerprint(self) -> str:
        """What every parameter that decides results is hashed to.

        Example:
            >>> import phexplore as px
            >>> px.load("sdhc-2020-us").fingerprint == px.load("sdhc-2020-us").set("threshold PH2", 8).fingerprint
            False
        """
        return fingerprint(self.value)

    def set(self, path: str | Mapping[str, Any] = "", value: Any = None, /, **named: Any) -> Scenario:
        """Return the scenario with parameters changed, all at once.

        A share that is not named gives or takes so that its level stays 1. A float means the decimal it is written as.

        Args:
            path: of one parameter, e.g. ``"budget PH3/state_A-G"``; or a mapping of paths to values.
            value: of that parameter.
            named: parameters whose path is a word, e.g. ``total=2.5``; ``_`` stands for a space.

        Raises:
            UnknownNameError: no parameter has this path; the remedy names the nearest.
            EditRefusedError: a value is out of range or contradicts the others.

        Example:
            >>> import phexplore as px
            >>> px.load("pl94-2020-persons-us").set(total="2.5").rho
            Fraction(5, 2)
        """
        wanted = {path: value} if isinstance(path, str) else dict(path)
        wanted.pop("", None)
        wanted |= {name.replace("_", " "): value for name, value in named.items()}
        return Scenario(paths.with_parameters(self.value, wanted))

    def check(self) -> list[Issue]:
        """Return everything that needs attention, errors first; empty when it is ready to run and export.

        Example:
            >>> import phexplore as px
            >>> px.load("sdhc-2020-us").check()
            []
        """
        return registry.check(self.value)

    def forecast(self) -> Forecast:
        """Return all figures that need no run; see `forecast`.

        Example:
            >>> import phexplore as px
            >>> px.load("sdhc-2020-us").forecast().rho
            Fraction(1257281, 500000)
        """
        return Forecast(self)

    def to_frame(self) -> DataFrame:
        """Return the parameters as a frame.

        Returns:
            One row per parameter: ``parameter`` (path), ``value`` (text), ``number`` (float, NaN for words) and ``exact``
            (`fractions.Fraction`, None for words).

        Example:
            >>> import phexplore as px
            >>> px.load("sdhc-2020-us").to_frame().exact[0]
            Fraction(2619, 1000000)
        """
        rows = [
            (path, value_text(value), float(value), Fraction(value))
            if isinstance(value, int | Fraction) and not isinstance(value, bool)
            else (path, value_text(value), None, None)
            for path, value in self.parameters.items()
        ]
        return frame(("parameter", "value", "number", "exact"), rows, exact=("exact",))

    def save(self, path: str | PathLike[str]) -> Path:
        """Write a project that the window opens, and return its path.

        Args:
            path: of the project (``.phx``); an existing file is replaced unless it contains a decision.

        Raises:
            DecisionError: the existing project contains a decision.
            WriteError: it cannot be written.

        Example:
            >>> import phexplore as px
            >>> px.load(px.load("sdhc-2020-us").save("proposal.phx")) == px.load("sdhc-2020-us")
            True
        """
        from phexplore.document.decided_versions import write_new_project
        from phexplore.files.project_file import single
        from phexplore.model.workbook import Workbook

        now = datetime.now(UTC).isoformat(timespec="seconds")
        content = single(Workbook((self.value,), self.name), f"Start from {self.name}", now)
        write_new_project(Path(path), content)
        return Path(path)

    def export(self, form: str, path: str | PathLike[str]) -> list[Path]:
        """Write a file that production reads, or a table or report of the parameters; return what was written.

        A warning in the log ``phexplore`` lists the parts of the scenario that the file cannot contain.

        Args:
            form: as ``phexplore export --format`` takes it, e.g. ``phsafe-config`` or ``html``.
            path: file, or directory.

        Raises:
            UnknownNameError: no such format.
            PhexploreError: it has errors, or cannot be written.

        Example:
            >>> import phexplore as px
            >>> [path.name for path in px.load("sdhc-2020-us").export("phsafe-config", "config.json")]
            ['config.json']
        """
        import logging

        from phexplore.decide.scenario_export import export_files

        refuse_errors(self.value)
        made = export_files(self.value, form, Path(path))
        for note in made.said:
            logging.getLogger("phexplore").warning(visible(note))
        return list(made.files)

    @property
    def studies(self) -> dict[str, tuple[str, ...]]:
        """What can be studied of it by `study`, and what each study asks.

        Example:
            >>> import phexplore as px
            >>> px.load("counties-invariant-2010").studies["bases"]
            ('cells',)
        """
        return study_names(self.value)

    def study(self, name: str, *, out: str | PathLike[str] | None = None, **asked: Any) -> Study:
        """Return what an experiment or a studio of the window finds.

        Args:
            name: of one of `studies`.
            out: what it writes: a directory, of ``tune`` the file of its probes; None for nothing that stays.
            asked: what the study asks, as in the window; what is left out is as proposed there.

        Raises:
            UnknownNameError: there is no such study, or it does not ask that.
            PhexploreError: it cannot be made; the sentence says why.

        Example:
            >>> import phexplore as px
            >>> study = px.load("sdhc-2020-us").study("truncation", query="PH3/state_A-G", state="44")
            >>> study.found["best"]
            6
        """
        return study(self.value, name, out, asked)

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same."""
        return isinstance(other, Scenario) and self.value == other.value

    def __hash__(self) -> int:
        """Hash what it holds."""
        return hash(self.value)

    def __repr__(self) -> str:
        """Return name, system and loss."""
        loss = registry.loss_of(self.value)
        total = "no bound" if loss.bound is None else f"{loss.framework.symbol} {float(loss.bound):.6g}"
        return f"<Scenario {self.name[:_LONGEST]!r}, {registry.system_of(self.value).title}, {total}>"


@typed
def load(source: Scenario | str | PathLike[str]) -> Scenario:
    """Return a scenario by what names it.

    Args:
        source: a preset id, a project (``FILE.phx`` or ``FILE.phx#NAME``), a file production reads, or a bundle (``.zip``), which is
            verified first; its signatures stand in ``warnings``.

    Raises:
        UnknownNameError: neither a preset nor a file.
        InputProblemsError: the file cannot be understood; all problems with their places.
        PhexploreError: the bundle was altered.

    Example:
        >>> import phexplore as px
        >>> px.load("counties-invariant-2010").system
        'subspace'
    """
    if isinstance(source, Scenario):
        return source
    path = Path(source)
    if path.suffix.lower() == ".zip" and path.is_file():
        from phexplore.decide.verifying import bundle_parameters

        return Scenario(*bundle_parameters(path))
    return Scenario(*load_with_warnings(str(source)))


@typed
def presets() -> DataFrame:
    """Return the parameters that came with the program and those of the user's library.

    A file of the library that cannot be read is left out with a warning that names it.

    Returns:
        One row per preset: ``id``, ``title``, ``product``, ``source``, and ``library``: whether it is the user's.

    Example:
        >>> import phexplore as px
        >>> px.presets().id[0]
        'sdhc-2020-us'
    """
    import warnings

    reread()
    rows = [(each.id, each.title, each.product, each.source, each.is_own) for each in registry.presets().values()]
    for said in left_out("presets"):
        warnings.warn(f"Left out of the library: {said}", stacklevel=2)
    return frame(("id", "title", "product", "source", "library"), rows)


@typed_class
class Forecast(Pictured):
    """What is known of a scenario before any run: the same numbers as ``phexplore forecast``.

    Attributes:
        scenario: whose figures these are.
        value: the forecast as the program holds it.

    Example:
        >>> import phexplore as px
        >>> px.forecast("sdhc-2020-us").rho
        Fraction(1257281, 500000)
    """

    def __init__(self, scenario: Scenario) -> None:
        """Compute it.

        Raises:
            PhexploreError: the scenario has errors; the first is named.
        """
        refuse_errors(scenario.value)
        self.scenario, self.value = scenario, registry.forecast(scenario.value)

    @property
    def rho(self) -> Fraction | None:
        """The whole loss, exact; None without a bound."""
        return self.value.loss.bound

    @property
    def privacy(self) -> DataFrame:
        """The privacy loss.

        Returns:
            One row per named conversion, and for the proven ε (``discrete-gaussian-exact``): ``conversion``, ``delta``, ``epsilon``,
            ``low`` (end of the proven bracket, whose high end is ``epsilon``), ``bypass_high`` (largest over all paths of a spine
            whose units give budgets away), ``neighbours``, ``rho`` (float) and ``exact`` (`fractions.Fraction`).

        Example:
            >>> import phexplore as px
            >>> privacy = px.forecast("sdhc-2020-us").privacy
            >>> privacy[privacy.conversion == "zcdp-optimal-alpha"].epsilon.round(3).tolist()
            [16.98, 11.412]
        """
        rows = [
            (
                "pure-dp" if each.conversion is None else each.conversion.value,
                float(each.delta),
                each.value,
                each.low,
                each.bypass_high,
                each.neighbours.value,
                each.rho,
                each.rho,
            )
            for each in self.value.stated()
        ]
        return frame(
            ("conversion", "delta", "epsilon", "low", "bypass_high", "neighbours", "rho", "exact"),
            rows,
            exact=("exact",),
        )

    def to_frame(self) -> DataFrame:
        """Return the margin of every measured query.

        Returns:
            One row per query and level: ``level``, ``query``, ``budget`` (float), ``exact`` (`fractions.Fraction`), and the
            margin in people by every convention: ``moe_exact``, ``moe_normal``, ``moe_paper``; None where nothing is published.

        Example:
            >>> import phexplore as px
            >>> margins = px.forecast("sdhc-2020-us").to_frame().set_index(["query", "level"])
            >>> int(margins.moe_exact["PH1_num", "usa_*"])
            500
        """
        from phexplore.report.forecast_json import margins_json

        rows = []
        for entry in self.value.entries:
            margins: Mapping[str, Any] = margins_json(entry.margins)
            rows.append(
                (
                    entry.level,
                    entry.name,
                    entry.budget if isinstance(entry.budget, Fraction) else None,
                    entry.budget,
                    *(margins.get(name) for name in ("exact", "normal", "paper")),
                )
            )
        names = ("level", "query", "budget", "exact", "moe_exact", "moe_normal", "moe_paper")
        return frame(names, rows, exact=("exact",))

    def json(self, data: str | PathLike[str] | None = None) -> dict[str, Any]:
        """Return what ``phexplore forecast --json`` prints.

        Args:
            data: TopDown: blocks with area codes, for exact margins on the scenario's spine; nobody is counted.

        Example:
            >>> import phexplore as px
            >>> px.forecast("sdhc-2020-us").json()["framework"]
            'zcdp'
        """
        path = None if data is None else Path(data)
        return registry.system_of(self.scenario.value).forecast_json(self.scenario.value, path)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The charts of the overview, of the proven loss and of the trade-off, the same as in the window and in reports.

        Example:
            >>> import phexplore as px
            >>> [figure.id for figure in px.forecast("sdhc-2020-us").figures]
            ['margins', 'shares', 'epsilon', 'proven', 'frontier', 'price-bars', 'left-bars']
        """
        from phexplore.decide.trade_off import TradeRequest, trade_off
        from phexplore.systems.proven_figure import proven_figure

        value = self.scenario.value
        system = registry.system_of(value)
        found = [*self._overview(), proven_figure(self.value, value.conventions.delta)]
        if system.budgets is not None:
            traded = trade_off(TradeRequest(value))
            found += [traded.frontier, traded.prices, traded.left_bars]
        return tuple(found)

    def __repr__(self) -> str:
        """Return the scenario, its loss and the number of margins."""
        return f"<Forecast of {self.scenario!r:.{_LONGEST * 3}}, {len(self.value.entries)} margins>"

    def _overview(self) -> tuple[Figure, ...]:
        value = self.scenario.value
        return tuple(registry.system_of(value).figures(value, None))

    def _known(self, figure: str) -> Sequence[Figure]:
        return self.figures if figure else self._overview()


@typed
def forecast(scenario: Scenario | str | PathLike[str]) -> Forecast:
    """Return every margin of error and the privacy loss; needs no data.

    Args:
        scenario: or what names one.

    Raises:
        PhexploreError: the scenario has errors; the first is named.

    Example:
        >>> import phexplore as px
        >>> len(px.forecast("sdhc-2020-us").to_frame())
        46
    """
    return Forecast(load(scenario))


@typed
def epsilon(
    scenario: Scenario | str | PathLike[str] | Fraction,
    delta: float | str = _HEADLINE_DELTA,
    *,
    conversion: str = "zcdp-optimal-alpha",
) -> float | None:
    """Return ε of a scenario, or of a ρ, at a δ, rounded up.

    Args:
        scenario: or what names one; or an exact ρ.
        delta: δ of the guarantee, between 0 and 1.
        conversion: ``bun-steinke``, ``zcdp-optimal-alpha`` or ``gaussian-continuous`` (an approximation) of ρ; or
            ``discrete-gaussian-exact``, proven from the noise of a scenario.

    Returns:
        ε; None where there is no bound.

    Raises:
        UnknownNameError: no such conversion.

    Example:
        >>> import phexplore as px
        >>> round(px.epsilon("pl94-2020-persons-us"), 3)
        17.144
    """
    from phexplore.accounting.zcdp import epsilon as converted

    with argument_of("delta"):
        at = Fraction(str(delta))
        if not 0 < at < 1:
            raise ValueError(f"δ must be between 0 and 1 (got {delta})")
    if isinstance(scenario, Fraction) and scenario < 0:
        raise PhexploreError(f"ρ must be at least 0 (got {scenario}).", "Enter the ρ of a scenario.")
    if conversion == Proof.DISCRETE_GAUSSIAN.value and not isinstance(scenario, Fraction):
        return registry.forecast(load(scenario).value).proven(at)
    known = {each.value: each for each in Conversion}
    if conversion not in known:
        raise UnknownNameError("conversion", conversion, [*known, Proof.DISCRETE_GAUSSIAN.value])
    if isinstance(scenario, Fraction):
        return converted(scenario, at, known[conversion])
    loss = registry.loss_of(load(scenario).value)
    if loss.bound is None or loss.framework.symbol != "ρ":
        return loss.epsilon_at(at)
    return converted(loss.bound, at, known[conversion])
