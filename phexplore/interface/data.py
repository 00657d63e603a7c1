"""Data in Python: synthetic populations, files the program reads, spines over blocks, and kept noisy answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.interface.arguments import several, typed, typed_class, whole
from phexplore.interface.frames import data_path, draw, frame, table_frame
from phexplore.interface.scenarios import Scenario, load
from phexplore.interface.studies import Study
from phexplore.model.scenario import Scenario as Value
from phexplore.opening import refuse_irregular_target
from phexplore.systems.registry import system_of

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from pandas import DataFrame

    from phexplore.data.blocks.population import BlockPopulation
    from phexplore.figures.figure import Figure
    from phexplore.published.forms import Published
    from phexplore.spine.building import Spine as BuiltSpine
    from phexplore.systems.experiments import Picture
    from phexplore.systems.topdown.spine_views import SpineTab


@typed
def synth(
    kind: str,
    size: int,
    out: str | PathLike[str],
    *,
    seed: int,
    states: Sequence[str] = (),
    puerto_rico: bool = False,
    tribal: float = 0.0,
) -> Path:
    """Make a synthetic population and return where it is; equal seeds make equal files.

    Args:
        kind: ``sdhc`` (persons, units and geography) or ``pl94`` (blocks).
        size: persons of ``sdhc``, blocks of ``pl94``.
        out: directory of ``sdhc``, file (``.csv`` or ``.csv.gz``) of ``pl94``.
        seed: any whole number from 0.
        states: by code or abbreviation; without them all 51 for ``sdhc``, Rhode Island for ``pl94``.
        puerto_rico: ``sdhc`` of Puerto Rico instead.
        tribal: ``pl94``: share of the block groups in tribal areas.

    Raises:
        UnknownNameError: no such kind or state.
        PhexploreError: it cannot be made or written.

    Example:
        >>> import phexplore as px
        >>> px.synth("pl94", 300, "blocks.csv", seed=1).name
        'blocks.csv'
    """
    from phexplore.catalog.states import parse_states

    if kind not in {"sdhc", "pl94"}:
        raise UnknownNameError("kind of population", kind, ["sdhc", "pl94"])
    path, chosen = Path(out), parse_states(",".join(map(str, several(states))))
    size, seed = whole(size), whole(seed)
    if kind == "sdhc":
        from phexplore.data.synthetic.generator import generate_sdhc

        generate_sdhc(size, path, seed=seed, states=chosen, puerto_rico=puerto_rico, progress=None)
        return path
    from phexplore.data.blocks.generator import synthesize_blocks, synthesize_states, write_block_file

    if chosen or tribal:
        made = synthesize_states(size, seed, chosen or ("44",), tribal=tribal)
    else:
        made = synthesize_blocks(size, seed, "44")
    refuse_irregular_target(path)
    write_block_file(made, path)
    return path


@typed_class
class Data:
    """A population or published files that were read.

    Attributes:
        path: where it came from.
        kind: ``blocks``, ``sdhc`` for persons, units and geography, or the kind of published files as ``data describe`` names it.
    """

    def __init__(self, path: Path, *more: Path) -> None:
        """Read it, or open it where it is large.

        Raises:
            InputProblemsError: every problem with file, line and column.
        """
        from phexplore.data.source import find_source
        from phexplore.model.provenance import together
        from phexplore.published.door import read_files
        from phexplore.published.origins import provenance_of

        self.path = path
        self._described, self._published, self._blocks = read_files(path, *more)
        self.kind = "sdhc" if self._described is None else self._described["kind"]
        if self._described is not None:
            origin = together(map(provenance_of, (path, *more)))
            self._described = {**self._described, "provenance": origin.json()}
        if self._described is None:
            self._source = find_source(path)

    def describe(self) -> dict[str, Any]:
        """Return what ``phexplore data describe --json`` prints.

        Example:
            >>> import phexplore as px
            >>> px.read(px.synth("pl94", 300, "blocks.csv", seed=1)).describe()["records"]
            13070
        """
        from phexplore.data.description import describe_data

        return {"kind": "population", **describe_data(self.path).json()} if self._described is None else self._described

    def to_frame(self, part: str = "") -> DataFrame:
        """Return it as a frame.

        Args:
            part: of ``sdhc``: ``persons`` (without it), ``units`` or ``geo``; of published tables: the form of their values, e.g.
                ``cells16``.

        Returns:
            Of blocks: one row per block, ``geoid``, its areas, ``total``, and one column per cell of the schema, by number, where
            the schema has at most 64 cells; ``attrs["schema"]`` names it, and `run` takes such a frame. Of ``sdhc``: the columns of the file. Of published tables: one row per area, ``level``,
            ``code``, ``name``, the values, and beside them ``…_true``, ``…_deviation`` where the file has them.

        Raises:
            UnknownNameError: there is no such part.

        Example:
            >>> import phexplore as px
            >>> frame = px.read(px.synth("pl94", 300, "blocks.csv", seed=1)).to_frame()
            >>> len(frame), int(frame.total.sum())
            (300, 13070)
        """
        import pandas as pd

        if self._published is not None and self._published.kind != "blocks":
            return _published_frame(self._published, self._blocks, part)
        if self._blocks is not None:
            return _blocks_frame(self._blocks)
        files = {str(name): paths for name, paths in self._source.files.items()}
        if part not in {"", *files}:
            raise UnknownNameError("part", part, list(files))
        paths = files[part or "persons"]
        read = pd.read_parquet if paths[0].suffix == ".parquet" else partial(pd.read_csv, dtype=str)
        return pd.concat([read(file) for file in paths], ignore_index=True)

    def errors(self, run: str | PathLike[str] | None = None) -> Study:
        """Return how far published figures are from the true ones beside them, by level, size and group.

        Args:
            run: directory of a run on the same areas, whose errors stand beside; None for none.

        Raises:
            InputProblemsError: they have no true columns, or the run is on other areas.
        """
        from phexplore.systems.topdown.published_errors import published_errors
        from phexplore.systems.topdown.published_pictures import error_pictures

        return _study(published_errors(self.path, None if run is None else Path(run)), error_pictures)

    def confidence(self, *runs: str | PathLike[str]) -> Study:
        """Return how far the program's figures agree with the Bureau's reruns or GLS estimates in these files.

        Args:
            runs: directories of runs whose errors are compared.

        Raises:
            InputProblemsError: the files are neither.
        """
        from phexplore.systems.topdown.confidence import confidence_json
        from phexplore.systems.topdown.published_pictures import confidence_pictures

        return _study(confidence_json([self.path], [Path(each) for each in runs]), confidence_pictures)

    def __repr__(self) -> str:
        """Return kind and path."""
        return f"<Data {self.kind} {self.path.name!r}>"


_MOST_CELLS = 64


def _study(found: dict[str, Any], pictures: Callable[..., list[Picture]]) -> Study:
    return Study(found, tuple(picture.content for picture in pictures(found)))


def _published_frame(found: Published, blocks: BlockPopulation | None, form: str) -> DataFrame:
    import pandas as pd

    from phexplore.published.door import ADAPTERS, values_of

    if ADAPTERS[found.kind].values is None and blocks is not None:
        return _blocks_frame(blocks)
    table = values_of(found, form)
    columns: dict[str, Any] = {"level": table.levels, "code": table.codes, "name": table.names}
    for suffix, values in (("", table.published), ("_true", table.true), ("_deviation", table.deviation)):
        if values is not None:
            columns |= {f"{name}{suffix}": values[:, place] for place, name in enumerate(table.columns)}
    return pd.DataFrame(columns)


def _blocks_frame(blocks: BlockPopulation) -> DataFrame:
    import numpy as np
    import pandas as pd

    rows = np.repeat(np.arange(blocks.blocks), np.diff(blocks.starts))
    columns: dict[str, Any] = {"geoid": blocks.geoids, **blocks.places}
    columns["total"] = np.bincount(rows, weights=blocks.counts, minlength=blocks.blocks).astype(np.int64)
    if blocks.schema.cells <= _MOST_CELLS:
        dense = np.zeros((blocks.blocks, blocks.schema.cells), dtype=np.int64)
        dense[rows, blocks.cells] = blocks.counts
        columns |= {str(cell): dense[:, cell] for cell in range(blocks.schema.cells)}
    made = pd.DataFrame(columns)
    made.attrs["schema"] = blocks.schema.id
    return made


@typed
def read(path: str | PathLike[str], *more: str | PathLike[str]) -> Data:
    """Return a population of any form the program reads, or published files.

    Args:
        path: file, archive, or directory; ``demo`` for the shipped population.
        more: further published files that belong to it, e.g. units to persons.

    Raises:
        InputProblemsError: every problem with file, line and column.
        PhexploreError: it is no data: parameters and bundles are read by `load`, runs by `open_run`.

    Example:
        >>> import phexplore as px
        >>> px.read(px.synth("pl94", 300, "blocks.csv", seed=1))
        <Data blocks 'blocks.csv'>
    """
    try:
        return Data(Path(path), *map(Path, more))
    except PhexploreError:
        if reader := _reader_of(path):
            raise PhexploreError(f"{path} is no data: px.{reader} reads it.", f"Use px.{reader}.") from None
        raise


def _reader_of(path: str | PathLike[str]) -> str:
    """Return the public name that reads a file of parameters or a run, "" for anything else."""
    from phexplore.interface.runs import open_run

    for reader in (load, open_run):
        with suppress(PhexploreError):
            reader(path)
            return reader.__name__
    return ""


@typed_class
class Spine:
    """A geographic spine over blocks.

    Attributes:
        value: as the program holds it.

    Example:
        >>> import phexplore as px
        >>> px.Spine.build(px.synth("pl94", 300, "blocks.csv", seed=1), "standard")
        <Spine State › County › Tract › Block_Group › Block, 300 blocks>
    """

    def __init__(self, value: BuiltSpine) -> None:
        """Wrap a spine; `build` and `open` make them."""
        self.value = value

    @classmethod
    def build(
        cls, blocks: str | PathLike[str] | DataFrame, preset: str = "pl94-2020", *, entities: Sequence[str] = ()
    ) -> Spine:
        """Build a spine.

        Args:
            blocks: with area codes: a geographic crosswalk, a block file or microdata; or a frame with their columns.
            preset: ``standard``, ``aian``, ``pl94-2020``, ``pl94-2020-units`` or ``dhc-2020``.
            entities: classes of areas to keep together instead of the preset's, e.g. ``["place", "cousub"]``.

        Raises:
            PhexploreError: the blocks do not have such areas.

        Example:
            >>> import phexplore as px
            >>> spine = px.Spine.build(px.synth("pl94", 300, "blocks.csv", seed=1), "standard")
            >>> spine.to_frame().units.tolist()
            [1, 1, 7, 12, 300]
        """
        from phexplore.spine.building import build_spine
        from phexplore.spine.geography_reading import read_geography
        from phexplore.spine.settings import spine_preset

        settings = spine_preset(preset).settings
        if entities:
            settings = settings.with_targets(several(entities))
        with TemporaryDirectory() as folder:
            path = data_path(blocks, Path(folder) / "blocks")
            return cls(build_spine(read_geography(path or Path()), settings))

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Spine:
        """Read a spine as ``phexplore spine build`` writes it.

        Args:
            path: of the file.

        Raises:
            InputProblemsError: it is none.
        """
        from phexplore.spine.spine_file import read_spine

        return cls(read_spine(Path(path)))

    def save(self, path: str | PathLike[str]) -> Path:
        """Write it, and return the path.

        Args:
            path: of the file; replaced if it exists.

        Example:
            >>> import phexplore as px
            >>> spine = px.Spine.build(px.synth("pl94", 300, "blocks.csv", seed=1))
            >>> px.Spine.open(spine.save("blocks.spine")).to_frame().equals(spine.to_frame())
            True
        """
        from phexplore.spine.spine_file import write_spine

        refuse_irregular_target(Path(path))
        write_spine(self.value, Path(path))
        return Path(path)

    def to_frame(self) -> DataFrame:
        """Return its levels.

        Returns:
            One row per level, widest first: ``level`` and ``units``.
        """
        tree = self.value.tree
        return frame(("level", "units"), [(level.name, level.units) for level in tree.levels])

    def describe(self, scenario: str | PathLike[str] = "") -> dict[str, Any]:
        """Return levels with fan-outs, distances of areas and moved budgets, as ``spine describe --json``.

        Args:
            scenario: whose budgets are bypassed; "" for the preset that the settings were published with.

        Raises:
            PhexploreError: the scenario has no geographic spine.

        Example:
            >>> import phexplore as px
            >>> spine = px.Spine.build(px.synth("pl94", 300, "blocks.csv", seed=1), "standard")
            >>> [level["units"] for level in spine.describe()["levels"]]
            [1, 1, 7, 12, 300]
        """
        from phexplore.spine.description import describe_spine
        from phexplore.systems.topdown.spine_answers import published_with

        name = str(scenario) or published_with(self.value)
        method: Any = _with_geography(name).method
        return describe_spine(self.value, scenario=(name, method)).json()

    def margins(
        self, scenario: Scenario | str | PathLike[str], *, queries: Sequence[str] = (), fit: str = "at-once"
    ) -> DataFrame:
        """Return predicted margins of every answer at every level, before any run.

        Args:
            scenario: of TopDown, or what names one.
            queries: names; without them the total and everything measured.
            fit: ``at-once`` (best linear estimate) or ``top-down`` (level by level).

        Returns:
            One row per level, query and answer: ``level``, ``units``, ``query``, ``answer``, and the figures over the units of the
            level as ``spine variance --json`` has them, e.g. ``margin_mean``.

        Raises:
            PhexploreError: the scenario does not fit the spine.

        Example:
            >>> import phexplore as px
            >>> spine = px.Spine.build(px.synth("pl94", 300, "blocks.csv", seed=1), "standard")
            >>> margins = spine.margins("pl94-2020-persons-us", queries=["total"])
            >>> margins.moe_mean.round(1).tolist()
            [0.0, 0.0, 2.4, 2.4, 79.0]
        """
        from phexplore.systems.topdown.spine_forecast import Fit, compare_with_standard

        value, known = _with_geography(scenario), {each.value: each for each in Fit}
        method: Any = value.method
        if fit not in known:
            raise UnknownNameError("fit", fit, list(known))
        found = compare_with_standard(
            self.value,
            method,
            value.conventions,
            queries=several(queries) or None,
            classes=(),
            fit=known[fit],
            with_pooled=True,
        ).json()
        rows: list[tuple[Any, ...]] = []
        names: tuple[str, ...] = ()
        for level in found["levels"]:
            for query in level["queries"]:
                for answer in query["answers"]:
                    figures = _flat({name: figure for name, figure in answer.items() if name != "answer"})
                    names = tuple(figures)
                    rows.append(
                        (level["level"], level["units"], query["query"], ", ".join(answer["answer"]), *figures.values())
                    )
        return frame(("level", "units", "query", "answer", *names), rows)

    @property
    def pictures(self) -> dict[str, str]:
        """Titles of its pictures by the name that `plot` and `table` take.

        Example:
            >>> import phexplore as px
            >>> spine = px.Spine.build(px.synth("pl94", 300, "blocks.csv", seed=1))
            >>> spine.pictures["fan-out"]
            'Fan-out'
        """
        from phexplore.systems.topdown.spine_views import SpineTab

        return {_name(tab): tab.value for tab in SpineTab}

    def plot(
        self,
        picture: str = "tree",
        ax: Axes | None = None,
        *,
        scenario: Scenario | str | PathLike[str] = "pl94-2020-persons-us",
        **choices: Any,
    ) -> Axes:
        """Draw a picture of the spine under a scenario's budgets and return its axes.

        Args:
            picture: its name, see `pictures`.
            ax: axes to draw into; None for new ones.
            scenario: of TopDown, or what names one.
            choices: what it asks for, as on the page of spines: ``name`` (class of areas), ``level``, ``query``, ``fit``, ``other``
                (preset to compare with), ``area``, ``run``, ``colour``, ``shapes``.

        Raises:
            UnknownNameError: there is no such picture or choice.
            PhexploreError: there is nothing to draw; the sentence says why.

        Example:
            >>> import phexplore as px
            >>> spine = px.Spine.build(px.synth("pl94", 300, "blocks.csv", seed=1), "standard")
            >>> spine.plot("tree").get_title(loc="left")
            'Synthetic data: This spine has 1 county, 7 tracts, 12 block groups, 300 blocks'
        """
        return draw((self._figure(picture, scenario, choices),), "", ax)

    def table(
        self, picture: str, *, scenario: Scenario | str | PathLike[str] = "pl94-2020-persons-us", **choices: Any
    ) -> DataFrame:
        """Return the numbers behind a picture of `plot`.

        Args:
            picture: its name, see `pictures`.
            scenario: of TopDown, or what names one.
            choices: as `plot` takes them.

        Example:
            >>> import phexplore as px
            >>> spine = px.Spine.build(px.synth("pl94", 300, "blocks.csv", seed=1), "standard")
            >>> len(spine.table("tree"))
            5
        """
        return table_frame(self._figure(picture, scenario, choices).table)

    def _figure(self, picture: str, scenario: Scenario | str | PathLike[str], choices: dict[str, Any]) -> Figure:
        from phexplore.systems.topdown.spine_answers import spine_picture
        from phexplore.systems.topdown.spine_views import SpineTab

        value, known = _with_geography(scenario), {_name(tab): tab for tab in SpineTab}
        if picture not in known:
            raise UnknownNameError("picture", picture, list(known))
        with TemporaryDirectory() as folder:
            return spine_picture(self.value, self.save(Path(folder) / "blocks.spine"), value, known[picture], choices)

    def __repr__(self) -> str:
        """Return levels and blocks."""
        return f"<Spine {' › '.join(self.value.level_names)}, {self.value.tree.blocks:,} blocks>"


def _with_geography(scenario: Scenario | str | PathLike[str]) -> Value:
    """Return a scenario that has a spine."""
    value = load(scenario).value
    if not system_of(value).has_geography:
        raise PhexploreError(f"{value.name!r} has no geographic spine.", "Choose one, e.g. pl94-2020-persons-us.")
    return value


def _name(tab: SpineTab) -> str:
    return tab.name.lower().replace("_", "-")


def _flat(values: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= _flat(value, f"{before}{name}_") if isinstance(value, dict) else {f"{before}{name}": value}
    return found


@typed
def measurements(run: str | PathLike[str], level: str, *, trial: int = 0) -> DataFrame:
    """Return the noisy answers a TopDown run kept (``keep_measurements=True``).

    Args:
        run: directory of the run.
        level: of the tree.
        trial: its number, from 0.

    Returns:
        One row per unit and answer: ``geocode``, ``query``, ``answer`` (number within the query) and ``value``; units that were
        not asked are left out.

    Raises:
        PhexploreError: the run kept none.

    Example:
        >>> import phexplore as px
        >>> blocks = px.synth("pl94", 300, "blocks.csv", seed=1)
        >>> run = px.run("pl94-2020-persons-us", blocks, out="runs/kept", seed=1, keep_measurements=True, progress=False)
        >>> answers = px.measurements(run.directory, "Tract")
        >>> answers[answers["query"] == "total"].geocode.nunique()
        7
    """
    import pandas as pd

    from phexplore.systems.topdown.measurements import measurement_file

    path = measurement_file(Path(run), trial, level)
    if not path.is_file():
        raise PhexploreError(
            f"{path.parent.parent.parent.name} kept no noisy answers of {level!r}.", "Run with keep_measurements."
        )
    table = pd.read_parquet(path).melt("geocode", var_name="query", value_name="value").dropna(subset=["value"])
    long = table.explode("value", ignore_index=True)
    long.insert(2, "answer", long.groupby(["geocode", "query"]).cumcount())
    return long.astype({"value": "int64"})
