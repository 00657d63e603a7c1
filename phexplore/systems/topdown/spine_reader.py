"""Reads blocks, builds spines over them and predicts: the end of the explorer of spines that may take its time. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from phexplore.catalog.names import synthetic_areas
from phexplore.model.issues import InputProblemsError
from phexplore.model.topdown import TopDown
from phexplore.published.shapes import Outline
from phexplore.spine.building import Spine
from phexplore.spine.description import ClassDistances, class_entities, is_targeted
from phexplore.spine.geography_reading import read_geography
from phexplore.spine.settings import settings_for, with_levels
from phexplore.spine.spine_file import read_spine
from phexplore.systems.topdown.area_names import area_name, find_area, known_names, names_in, names_of_shapes
from phexplore.systems.topdown.shapes import read_outlines
from phexplore.systems.topdown.spine_contents import (
    Work,
    area_margins,
    bypass_content,
    distance_content,
    fan_out_content,
    level_margins,
    map_content,
    sizes,
    tree_content,
)
from phexplore.systems.topdown.spine_findings import first_class, summary
from phexplore.systems.topdown.spine_observed import ObservedErrors
from phexplore.systems.topdown.spine_study import SpineStudy, possible
from phexplore.systems.topdown.spine_views import (
    AreaClass,
    BlocksFigures,
    BlocksRefused,
    Impossible,
    MarginsContent,
    SpineAnswer,
    SpineContent,
    SpineMap,
    SpineProgress,
    SpineRequest,
    SpineStyle,
    SpineTab,
)

Tell = Callable[[SpineProgress], None]


class SpineReader:
    """Answers requests about one file of blocks at a time."""

    def __init__(self) -> None:
        self._study: SpineStudy | None = None
        self._file: tuple[Path, int, int] | None = None
        self._figures: BlocksFigures | None = None
        self._outlines: tuple[str, tuple[Outline, ...]] = ("", ())
        self._observed = ObservedErrors()
        self._names: Mapping[str, str] = {}

    def answer(self, request: SpineRequest, tell: Tell) -> SpineAnswer | BlocksRefused:
        """Return what is asked; say meanwhile how far it is.

        Args:
            request: what to read, build and predict.
            tell: called with a phase and how much of it is done.

        Raises:
            PhexploreError: the spine cannot be built or the shapes cannot be read.
        """
        try:
            study = self._opened(request.path, tell)
        except InputProblemsError as error:
            self._study = self._file = None
            return BlocksRefused(request.path, error.issues)
        with synthetic_areas(is_synthetic=study.geography.provenance.is_synthetic):
            return self._answer(study, request, tell)

    def _answer(self, study: SpineStudy, request: SpineRequest, tell: Tell) -> SpineAnswer:
        settings = settings_for(request.method)
        request = replace(request, other=with_levels(request.other, request.method))
        is_new = not study.has_spine(settings)
        if is_new:
            tell(SpineProgress("Building the spine", 2, 3))
        spine = study.spine(settings)
        classes = [study.distances(settings, request.other, name) for name in study.classes(settings)]
        targeted = [is_targeted(spine, each.name, class_entities(spine, each.name)) for each in classes]
        look = self._found(_settled(request.look, classes, spine, request.method), classes)
        if is_new:
            tell(SpineProgress("Predicting", 3, 3))
        finding, reason = summary(classes, targeted)
        _, problem = possible(lambda: study.allocation(settings, request.method))
        if request.look.area and not look.area:
            sample = classes[0].this.codes[0]
            problem = f"No area of these blocks is called {request.look.area!r}. Type words of a name, or a code such as {sample}."
        work = Work(study, settings, request, look)
        content, why = possible(lambda: self._content(work, classes, targeted))
        return SpineAnswer(
            request,
            look,
            self._blocks(request.path, study, classes, targeted),
            sizes(spine),
            _queries(request.method),
            finding,
            reason,
            spine.remarks,
            problem,
            content if content is not None else Impossible(why),
            area_name(look.name, look.area, self._own_names()) if look.area else "",
        )

    def _opened(self, path: Path, tell: Tell) -> SpineStudy:
        """Return the study of a file, read again when it changed on disk."""
        try:
            status = path.stat()
            file = (path, status.st_mtime_ns, status.st_size)
        except OSError:
            file = (path, 0, 0)
        if self._study is None or self._file != file:
            tell(SpineProgress(f"Reading {path.name}", 1, 3))
            self._study, self._file = None, None
            # A spine that was built before carries its blocks; which spine is shown is the scenario's to say.
            self._study = SpineStudy(read_spine(path).geography if path.suffix == ".spine" else read_geography(path))
            self._file, self._names = file, names_in(path)
        return self._study

    def _blocks(
        self, path: Path, study: SpineStudy, classes: Sequence[ClassDistances], targeted: Sequence[bool]
    ) -> BlocksFigures:
        found = tuple(
            AreaClass(each.name, each.title, len(each.this.codes), aimed)
            for each, aimed in zip(classes, targeted, strict=True)
        )
        geography = study.geography
        names = known_names({each.name: each.this.codes.tolist() for each in classes}, self._own_names())
        return BlocksFigures(path, geography.blocks, found, geography.warnings, geography.provenance, names)

    def _content(self, work: Work, classes: Sequence[ClassDistances], targeted: Sequence[bool]) -> SpineContent:
        if work.look.tab is SpineTab.MAP:
            return self._map(work)
        if work.look.tab is SpineTab.DISTANCE:
            place = [each.name for each in classes].index(work.look.name)
            distances = distance_content(classes[place], aimed=targeted[place])
            return replace(distances, titles=self._titles(work.look, distances.codes.tolist()), found=work.look.area)
        if work.look.tab is SpineTab.MARGINS:
            return self._margins(work)
        if work.look.tab is SpineTab.LEVELS:
            return level_margins(work, self._observed)
        makers: dict[SpineTab, Callable[[Work], SpineContent]]
        makers = {SpineTab.TREE: self._tree, SpineTab.FAN_OUT: fan_out_content, SpineTab.BYPASSED: bypass_content}
        return makers[work.look.tab](work)

    def _map(self, work: Work) -> SpineContent:
        shapes = work.look.shapes
        if not shapes:
            return Impossible(
                "Choose shapes of the blocks: a shapefile (ZIP), a GeoPackage or GeoJSON with the codes of blocks."
            )
        if self._outlines[0] != shapes:
            self._outlines = (shapes, read_outlines(Path(shapes)))
        content = map_content(work, self._outlines[1])
        if not work.look.area or not isinstance(content, SpineMap):
            return content
        margins, _ = possible(lambda: self._margins(work))
        return replace(content, margins=margins if isinstance(margins, MarginsContent) else None)

    def _margins(self, work: Work) -> SpineContent:
        content = area_margins(work, self._observed)
        if not isinstance(content, MarginsContent):
            return content
        return replace(content, titles=self._titles(work.look, content.names), found=work.look.area)

    def _tree(self, work: Work) -> SpineContent:
        area = work.look.area
        return replace(tree_content(work), area_name=self._titles(work.look, (area,)).get(area, ""))

    def _titles(self, look: SpineStyle, codes: Iterable[str]) -> dict[str, str]:
        """Return what people call areas of the class looked at, by code, as far as somebody knows."""
        own = self._own_names()
        return {code: name for code in codes if (name := area_name(look.name, code, own))}

    def _own_names(self) -> Mapping[str, str]:
        is_synthetic = self._study is not None and self._study.geography.provenance.is_synthetic
        return {**({} if is_synthetic else names_of_shapes(self._outlines[1])), **self._names}

    def _found(self, look: SpineStyle, classes: Sequence[ClassDistances]) -> SpineStyle:
        """Return the look at the area that somebody typed, with its class and its code; at none where there is none."""
        if not look.area:
            return look
        first = sorted(classes, key=lambda each: each.name != look.name)
        area = find_area(look.area, {each.name: each.this.codes.tolist() for each in first}, self._own_names())
        return replace(look, area="") if area is None else replace(look, name=area.kind, area=area.code)


def _settled(look: SpineStyle, classes: Sequence[ClassDistances], spine: Spine, method: TopDown) -> SpineStyle:
    """Return the look with every open choice made."""
    names = [each.name for each in classes]
    name = look.name
    if name not in names:
        best = first_class(classes)
        name = best.name if best is not None else names[0]
    levels = spine.level_names
    level = look.level if look.level in levels[:-1] else "Block_Group" if "Block_Group" in levels[:-1] else levels[0]
    query = look.query if look.query in _queries(method) else "total"
    return replace(look, name=name, level=level, query=query)


def _queries(method: TopDown) -> tuple[str, ...]:
    return tuple(dict.fromkeys(("total", *(key.query for key, share in method.query_shares.items() if share > 0))))
