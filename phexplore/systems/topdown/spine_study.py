"""One set of blocks under study: spines over it, what they do to areas, and what a scenario's budgets give on them.

Whatever does not depend on the last change is kept: moving a budget builds no spine, another picture predicts nothing anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from phexplore.errors import PhexploreError
from phexplore.spine.allocation import Allocation, allocation_of
from phexplore.spine.building import Spine, build_spine
from phexplore.spine.description import ClassDistances, class_distances, default_classes
from phexplore.spine.settings import SpineSettings
from phexplore.systems.topdown.spine_forecast import Fit, SpineForecast, forecast_spine, predicted
from phexplore.workload.schema import load_schema

if TYPE_CHECKING:
    from phexplore.model.conventions import Conventions
    from phexplore.model.topdown import TopDown
    from phexplore.spine.geography import Geography

T = TypeVar("T")

_SPINES, _DISTANCES, _ALLOCATIONS, _PREDICTED, _FORECASTS = 6, 64, 4, 2, 6
"""How many results of each kind are kept: two spines at a time, and the steps just undone."""


class SpineStudy:
    """Blocks and all that was found out about spines over them.

    Attributes:
        geography: the blocks with their areas.
    """

    def __init__(self, geography: Geography) -> None:
        self.geography = geography
        self._spines = _Kept(_SPINES)
        self._distances = _Kept(_DISTANCES)
        self._allocations = _Kept(_ALLOCATIONS)
        self._predicted = _Kept(_PREDICTED)
        self._forecasts = _Kept(_FORECASTS)

    def spine(self, settings: SpineSettings) -> Spine:
        """Return the spine of these settings.

        Raises:
            PhexploreError: the settings ask for areas that the blocks have no codes of.
        """
        found: Spine = self._spines.get(settings, lambda: build_spine(self.geography, settings))
        return found

    def has_spine(self, settings: SpineSettings) -> bool:
        """Return whether the spine of these settings is built already."""
        return self._spines.has(settings)

    def classes(self, settings: SpineSettings) -> tuple[str, ...]:
        """Return the classes of areas that can be looked at."""
        return default_classes(self.spine(settings))

    def distances(self, settings: SpineSettings, other: SpineSettings, name: str) -> ClassDistances:
        """Return how far the areas of a class are from a spine and from another one, which stands as `standard`.

        Args:
            settings: of the spine.
            other: what they are compared with.
            name: of the other settings.

        Raises:
            UnknownNameError: the blocks have no such class.
        """

        def make() -> ClassDistances:
            return class_distances(self.spine(settings), self.spine(other), name)

        found: ClassDistances = self._distances.get((settings, other, name), make)
        return found

    def allocation(self, settings: SpineSettings, method: TopDown) -> Allocation:
        """Return the budgets of a scenario on a spine, whatever spine the scenario itself chooses.

        Args:
            settings: of the spine.
            method: the parameters.

        Raises:
            PhexploreError: the scenario does not fit the spine.
        """
        found: Allocation = self._allocations.get(
            (settings, _Same(method)), lambda: allocation_of(self.spine(settings), method)
        )
        return found

    def forecast(
        self,
        settings: SpineSettings,
        method: TopDown,
        conventions: Conventions,
        *,
        query: str,
        fit: Fit,
        onto: str = "",
    ) -> SpineForecast:
        """Return a scenario's predicted variances on a spine for one query group.

        Args:
            settings: of the spine.
            method: the parameters; their own choice of a spine is not looked at.
            conventions: for margins.
            query: name.
            fit: how the measurements become estimates.
            onto: id of a smaller schema of the data, "" for the scenario's own.

        Raises:
            PhexploreError: the scenario does not fit the spine, or cannot be predicted.
        """
        schema = load_schema(onto) if onto and onto != method.schema else None

        same = (settings, _Same(method), fit, onto)

        def make() -> SpineForecast:
            spine = self.spine(settings)
            known = self._predicted.get(same, lambda: predicted(spine, method, schema, fit))
            return forecast_spine(spine, method, conventions, queries=[query], onto=schema, fit=fit, known=known)

        key = (same, conventions, query)
        found: SpineForecast = self._forecasts.get(key, make)
        return found


def possible(make: Callable[[], T]) -> tuple[T | None, str]:
    """Return what a function makes and "", or None and why it is not possible, with the remedy."""
    try:
        return make(), ""
    except PhexploreError as error:
        return None, error.full


class _Same:
    """Parameters as a key: equal where the same object or equal in all that a spine's budgets depend on."""

    def __init__(self, method: TopDown) -> None:
        self._method = method
        self._parts = (
            method.schema,
            method.levels,
            method.total,
            method.framework,
            method.level_shares,
            method.query_shares,
            method.passes,
            method.invariants,
            method.constraints,
        )

    def __hash__(self) -> int:
        return hash((self._method.schema, self._method.levels, self._method.total))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Same):
            return NotImplemented
        return self._method is other._method or self._parts == other._parts


class _Kept:
    """The newest results by key."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[Any, Any] = OrderedDict()

    def has(self, key: Any) -> bool:
        return key in self._found

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        if key in self._found:
            self._found.move_to_end(key)
        else:
            self._found[key] = make()
            while len(self._found) > self._most:
                self._found.popitem(last=False)
        return self._found[key]
