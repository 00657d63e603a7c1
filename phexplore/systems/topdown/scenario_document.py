"""The report of a TopDown scenario: what it costs, what it gives, what changed, and how figures come about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction

from phexplore import __version__
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA
from phexplore.catalog.names import Naming, chosen_naming
from phexplore.figures.figure import Figure
from phexplore.figures.style import Chart
from phexplore.figures.to_matplotlib import chart_of
from phexplore.figures.wording import bound_text, people, power_text
from phexplore.model.conventions import Conversion
from phexplore.model.diff import changed_values, diff, parameters_only
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import errors_first
from phexplore.model.moments import zoned_text
from phexplore.model.numbers import exact_text, scientific_text
from phexplore.model.rounded import percent
from phexplore.model.scenario import Scenario, stated_as
from phexplore.model.topdown import TopDown
from phexplore.report.document import (
    Cell,
    Column,
    Document,
    Part,
    TableView,
    Tile,
    colophon,
    epsilon_tile,
    heading,
    table_of,
    words,
)
from phexplore.report.provenance import Section, conventions_section, epsilon_name, epsilon_text
from phexplore.systems.topdown.check import check_scenario
from phexplore.systems.topdown.figures import level_figure, semantics_figure
from phexplore.systems.topdown.forecast import TopDownForecast, forecast_topdown
from phexplore.systems.topdown.heat import QUANTITIES, heat_figure
from phexplore.systems.topdown.presets import published_epsilon, topdown_presets
from phexplore.systems.topdown.proven_loss import proven_parts
from phexplore.systems.topdown.rules import invariant_rule
from phexplore.systems.topdown.share_cells import Quantity, TopDownReference
from phexplore.systems.topdown.shared import forecast
from phexplore.systems.topdown.spine_words import spine_text
from phexplore.systems.topdown.tables import noise_table, semantics_tables, shares_table
from phexplore.systems.topdown.wording import level_title, query_title, schema_title

_LONGEST = 80
"""Letters of a value in the list of changes."""
_TILE_CHARACTERS = 12
_SOURCES = (
    ("Algorithm", "J. Abowd and others: The 2020 Census Disclosure Avoidance System TopDown Algorithm, 2022"),
    ("Noise of one answer", "σ² = 1/ρ of the query group at its level, discrete Gaussian (TopDown paper, section 6)"),
    ("Why 1/ρ", "a replaced record moves two answers by one each"),
    (
        "ρ of a query group",
        "total × share of the level × share of the query; areas of one level compose in parallel, all else adds",
    ),
    (
        "ρ to ε",
        "C. Canonne, G. Kamath, T. Steinke: The Discrete Gaussian for Differential Privacy, 2020, best Rényi order",
    ),
    (
        "Not predicted",
        "non-negativity, whole numbers, constraints: they make most errors smaller and bias small counts",
    ),
)


def scenario_charts(scenario: Scenario, compared: Scenario | None, _: datetime) -> tuple[Chart, ...]:
    """Return the pictures of a scenario as its report shows them; arguments as in `scenario_figures`."""
    return tuple(map(chart_of, scenario_figures(scenario, compared)))


def scenario_figures(scenario: Scenario, compared: Scenario | None) -> tuple[Figure, ...]:
    """Return the pictures of a scenario, beside what it is compared with, most asked for first.

    Args:
        scenario: of TopDown.
        compared: what its figures are set beside, None for nothing.
    """
    before = None if compared is None else _version(stated_as(compared, scenario))
    shown = _version(scenario, before)
    figures = [
        level_figure(scenario.topdown, None if compared is None else compared.topdown),
        heat_figure(shown, Quantity.MARGIN),
    ]
    if shown.figures.attributes or shown.figures.block_within:
        proven = proven_parts(scenario.topdown, shown.figures)
        figures.append(semantics_figure(shown.figures, None if before is None else before.figures, proven))
    return tuple(figures)


def named_figures(scenario: Scenario, compared: Scenario | None) -> tuple[Figure, ...]:
    """Return the pictures of a scenario with the heat table of every quantity; arguments as in `scenario_figures`."""
    shown = _version(scenario, None if compared is None else _version(stated_as(compared, scenario)))
    others = (quantity for quantity in QUANTITIES if quantity is not Quantity.MARGIN)
    heats = (replace(heat_figure(shown, each), id=f"heat-{each.name.lower().replace('_', '-')}") for each in others)
    return (*scenario_figures(scenario, compared), *heats)


def _version(scenario: Scenario, before: TopDownReference | None = None) -> TopDownReference:
    forecast = forecast_topdown(scenario.topdown, scenario.conventions)
    return TopDownReference(scenario.name, scenario, forecast, before)


def scenario_document(scenario: Scenario, compared: Scenario | None, now: datetime) -> Document:
    """Return the report: pictures, tables, then conventions and method.

    Args:
        scenario: of TopDown.
        compared: what figures are set beside, None for nothing.
        now: time printed in the document, with its zone.
    """
    method = scenario.topdown
    figures = forecast_topdown(method, scenario.conventions)
    parts = [
        Part("pictures", "What it costs and what it gives", charts=scenario_charts(scenario, compared, now)),
        _changes(scenario, compared),
        Part(
            "tables",
            "The figures",
            tables=(
                *_titled(
                    method,
                    (
                        shares_table(method),
                        noise_table(scenario, figures),
                        *semantics_tables(method, figures),
                    ),
                ),
                *_passes(scenario),
            ),
        ),
        _issues(scenario),
        Part("method", "How to read and check the figures", sections=_sections(scenario, figures, now)),
    ]
    return Document(
        title=scenario.name,
        subtitle="Parameters and forecast of TopDown",
        colophon=colophon(now, f"parameters {fingerprint(scenario)}"),
        tiles=_tiles(scenario, figures),
        parts=tuple(part for part in parts if part is not None),
        made=now.isoformat(timespec="seconds"),
        keywords=("TopDown", "differential privacy", "disclosure avoidance"),
    )


def _tiles(scenario: Scenario, figures: TopDownForecast) -> tuple[Tile, ...]:
    symbol, total = figures.framework.symbol, exact_text(figures.total)
    value = total if len(total) <= _TILE_CHARACTERS else bound_text(figures.total)
    tiles = [Tile(f"Whole {symbol}", value, "one record replaced" if value == total else f"exactly {total}")]
    asked = (Conversion.ZCDP_OPTIMAL_ALPHA, scenario.conventions.delta)
    if headline := next((each for each in figures.epsilons if (each.conversion, each.delta) == asked), None):
        proven = forecast(scenario).proven(headline.delta)
        published = published_epsilon(scenario) if headline.delta == HEADLINE_DELTA else ""
        beside = f"; the certificate of 2020 prints {published}, to the nearest hundredth" if published else ""
        tile = epsilon_tile(proven, headline.value, f"at δ = {power_text(headline.delta)}")
        tiles.append(replace(tile, detail=f"{tile.detail}{beside}"))
    convention = scenario.conventions.margin
    for level in (scenario.topdown.levels[0], scenario.topdown.levels[-1]):
        entries = (entry for entry in figures.entries if entry.key.level == level)
        found = [float(entry.margins.by(convention)) for entry in entries if entry.margins is not None]
        if found:
            what = (
                f"narrowest margin at {percent(scenario.conventions.confidence, places=None)}, before post-processing"
            )
            tiles.append(Tile(level_title(level), f"± {people(min(found))}", what))
    return tuple(tiles)


def _changes(scenario: Scenario, compared: Scenario | None) -> Part | None:
    if compared is None:
        return None
    changes = parameters_only(diff(compared, scenario))
    if not changes:
        return Part("changes", f"Compared with {compared.name}", ("The parameters are the same.",))
    sentences = tuple(
        f"{_title(scenario.topdown, change.path)}: {' → '.join(map(_shortened, changed_values(change)))}"
        for change in changes
        if change.path != "total"
    )
    now, then = (
        f"the whole {method.framework.symbol} is {_read_exactly(method.total)}"
        for method in (scenario.topdown, compared.topdown)
    )
    total = f"T{now[1:]}; in {compared.name} {then}."
    return Part("changes", f"What changed against {compared.name}", (total,), findings=sentences)


def _read_exactly(total: Fraction) -> str:
    text, exact = bound_text(total), exact_text(total)
    return f"{text} (exactly {exact})" if "/" in exact else exact


def _titled(method: TopDown, tables: Iterable[TableView]) -> list[TableView]:
    """Return tables that certificates print as production does, with the words and the decimals of the other chapters."""

    def told(cell: Cell) -> Cell:
        is_fraction = cell.number and "/" in cell.text
        return replace(cell, text=exact_text(Fraction(cell.text)) if is_fraction else _title(method, cell.text))

    return [
        replace(
            table,
            headers=tuple(replace(header, text=_title(method, header.text)) for header in table.headers),
            rows=tuple(tuple(map(told, row)) for row in table.rows),
        )
        for table in tables
    ]


def _title(method: TopDown, text: str) -> str:
    """Return a text with titles of levels and query groups for their codes."""
    known = rf"\b({'|'.join(map(re.escape, method.levels))})\b(/?)"
    return query_title(re.sub(known, lambda found: level_title(found[1]) + (": " if found[2] else ""), text))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _passes(scenario: Scenario) -> tuple[TableView, ...]:
    passes = [
        (level, stage, number, outer)
        for level, each in scenario.topdown.passes.items()
        for stage, outers in (("estimating", each.least_squares), ("rounding", each.rounder))
        for number, outer in enumerate(outers, start=1)
    ]
    columns: tuple[Column[tuple[str, str, int, Sequence[Sequence[str]]]], ...] = (
        heading("Level", lambda each: level_title(each[0])),
        words("Stage", lambda each: each[1]),
        words("Pass", lambda each: str(each[2])),
        words(
            "Queries, in this order",
            lambda each: "; then ".join(", ".join(map(query_title, inner)) for inner in each[3]),
        ),
    )
    return (table_of("passes", "Order of post-processing", columns, passes),) if passes else ()


def _issues(scenario: Scenario) -> Part | None:
    issues = errors_first(check_scenario(scenario))
    if not issues:
        return None
    findings = tuple(f"{issue.place}: {issue.sentence} {issue.remedy}" for issue in issues)
    return Part("issues", "Open issues", ("Each is worth a decision.",), findings=findings)


def _invariant(name: str) -> str:
    title = invariant_rule(name).title
    return (
        name if chosen_naming() is Naming.CODES else title if chosen_naming() is Naming.NAMES else f"{title} ({name})"
    )


def _sections(scenario: Scenario, figures: TopDownForecast, now: datetime) -> tuple[Section, ...]:
    method, origin = scenario.topdown, topdown_presets().get(scenario.baseline)
    entries = [
        ("Scenario", scenario.name),
        *((("Note", scenario.note),) if scenario.note else ()),
        ("Started from", f"{origin.title}. {origin.source}" if origin else "no preset"),
        ("Schema", schema_title(method.schema)),
        ("Levels, widest first", ", ".join(map(level_title, method.levels))),
        ("Spine", spine_text(method.spine)),
        *(
            (f"Invariants at {level_title(level)}", ", ".join(map(_invariant, names)))
            for level, names in method.invariants.items()
            if names
        ),
        ("Fingerprint of the parameters (SHA-256)", fingerprint(scenario)),
        ("Made", f"{zoned_text(now)}, phexplore {__version__}"),
    ]
    loss = [(f"{figures.framework.symbol}, total, one record replaced", exact_text(figures.total))]
    loss += [(epsilon_name(figure), epsilon_text(figure)) for figure in forecast(scenario).stated()]
    if published := published_epsilon(scenario):
        told = f"{published} at δ = {scientific_text(HEADLINE_DELTA)}, zCDP with optimal α, to the nearest hundredth: the signed certificate"
        loss.append(("ε as published in 2020", f"{told} of {origin.title if origin else scenario.name}"))
    errata = tuple((f"Misprint {number}", text) for number, text in enumerate(origin.errata, start=1)) if origin else ()
    return (
        Section("Scenario", tuple(entries)),
        Section("Privacy loss", tuple(loss)),
        conventions_section(scenario.conventions, method.framework),
        *((Section("Where the papers print differently", errata),) if errata else ()),
        Section("Method and sources", _SOURCES),
    )
