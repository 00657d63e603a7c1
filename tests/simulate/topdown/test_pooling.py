"""Pooled answers against dense generalised least squares, and what a pooled descent keeps."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from topdown_worlds import PERSONS, UNITS, blocks, draws, full, world_of

from phexplore.noise.distributions import DiscreteGaussian
from phexplore.optimize.plan import LevelPlan
from phexplore.simulate.topdown import driver, kernels
from phexplore.simulate.topdown.baseline import leaves_alone
from phexplore.simulate.topdown.design import Design, LevelDesign, measuring
from phexplore.simulate.topdown.driver import Threads, TrialRecord, World, descend
from phexplore.simulate.topdown.families import Estimation, with_known_totals
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.simulate.topdown.measuring import (
    Draw,
    DrawnMeasurements,
    Measured,
    TrialKey,
    query_columns,
    secret_key,
    weights_of,
)
from phexplore.simulate.topdown.on_spine import world_on_spine
from phexplore.simulate.topdown.pooling import WORTH_POOLING, known_zeros, lowest_pooled, pool, weight_of_leaves
from phexplore.simulate.topdown.run_checks import trial_checks
from phexplore.spine.settings import choice_of, settings_of
from phexplore.spine.tree import GeoTree, TreeLevel
from phexplore.systems.topdown.forecast import noise_of
from phexplore.systems.topdown.run_data import units_of_persons
from phexplore.workload.queries import detailed_query, parse_query, total_query
from phexplore.workload.schema import load_schema

NOTHING_WRONG = {"sums": 0, "invariants": 0, "structural_zeros": 0, "non_negativity": 0}
SCHEMA = load_schema("pl94_reduced16")
QUERIES = (
    total_query(SCHEMA),
    parse_query(SCHEMA, "hispanic"),
    parse_query(SCHEMA, "votingage"),
    detailed_query(SCHEMA),
)
MATRIX = np.vstack([np.eye(query.answers)[:, query.cell_map()] for query in QUERIES])


def tree_of_fans(*fans):
    """Return a world of nobody whose units have these numbers of children, level by level, and budgets that differ by level."""
    sizes = [1, *(sum(fan) for fan in fans)]
    starts = [np.concatenate([[0], np.cumsum(fan)]).astype(np.int64) for fan in fans]
    first_blocks = [np.arange(sizes[-1] + 1, dtype=np.int64)]
    for start in reversed(starts):
        first_blocks.insert(0, first_blocks[0][start])
    levels, designs = [], []
    for number, size in enumerate(sizes):
        codes = np.array([f"{unit:03}" for unit in range(size)])
        levels.append(
            TreeLevel(f"L{number}", codes, first_blocks[number], starts[number] if number < len(fans) else None)
        )
        budgets = [Fraction(budget, 10 * (number + 1)) for budget in (1, 3, 2, 5 + number)]
        plan = LevelPlan(SCHEMA, QUERIES, (QUERIES,), ((detailed_query(SCHEMA),),))
        noise = measuring(budgets, lambda budget: DiscreteGaussian(1 / budget))
        designs.append(LevelDesign(f"L{number}", plan, (noise,), False, False, False, ()))
    nobody = [Histograms(np.zeros(size + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64)) for size in sizes]
    bounds = tuple(np.zeros((size, 0), np.int64) for size in sizes)
    classes = tuple(np.zeros(size, np.int8) for size in sizes)
    design = Design(SCHEMA, tuple(designs), (), Fraction(1), (), ())
    return World(design, GeoTree(tuple(levels), ()), tuple(nobody), bounds, bounds, classes)


class Given:
    """Answers that are given."""

    is_anywhere = False

    def __init__(self, answers):
        self.answers = answers

    def measure(self, level, truth, first, classes):
        return Measured(self.answers[first : first + truth.units], 0, 0)


def pooled_maps(world):
    """Return per level the pooled answers as linear maps of all answers, ``[units, answers, measurements]``, and their weights."""
    width = len(MATRIX)
    sizes = [level.units for level in world.tree.levels]
    edges = np.cumsum([0, *(size * width for size in sizes)])
    maps = [np.empty((size, width, edges[-1])) for size in sizes]
    for column, unit in enumerate(np.eye(edges[-1])):
        given = [unit[edges[n] : edges[n + 1]].reshape(-1, width) for n in range(len(sizes))]
        found = pool(world, [Given(each) for each in given], lowest=len(world.design.levels) - 1)
        for number, (level, source) in enumerate(zip(world.design.levels, found, strict=True)):
            measured = source.measure(level, world.truth[number], 0, world.classes[number])
            maps[number][:, :, column] = measured.answers
    weights = []
    for number, (level, source) in enumerate(zip(world.design.levels, found, strict=True)):
        own = source.measure(level, world.truth[number], 0, world.classes[number]).weights
        weights.append(weights_of(level, world.classes[number]) if own is None else own)
    return maps, weights


def per_answer(weights):
    return np.concatenate([np.full(query.answers, weight) for query, weight in zip(QUERIES, weights, strict=True)])


def descended(world, maps, weights):
    """Return least squares level by level, each parent fixed before its children, as linear maps ``[cells, measurements]``."""
    found = []
    for number, level in enumerate(world.tree.levels):
        inverse = [np.linalg.inv(MATRIX.T * per_answer(each) @ MATRIX) for each in weights[number]]
        alone = [
            v @ (MATRIX.T * per_answer(w)) @ m for v, w, m in zip(inverse, weights[number], maps[number], strict=True)
        ]
        if number:
            starts = world.tree.levels[number - 1].first_child
            for parent, above in enumerate(found[-1]):
                inside = range(starts[parent], starts[parent + 1])
                gap = np.linalg.solve(sum(inverse[c] for c in inside), above - sum(alone[c] for c in inside))
                for child in inside:
                    alone[child] = alone[child] + inverse[child] @ gap
        found.append(alone)
        assert len(alone) == level.units
    return found


def dense(world):
    """Return best linear unbiased estimates of all units as linear maps, what is measured as a matrix, and its variances."""
    leaves = world.tree.blocks
    sums, rows, variances = [], [], []
    for number, level in enumerate(world.tree.levels):
        own = [
            np.kron((np.arange(leaves) >= low) & (np.arange(leaves) < high), np.eye(16))
            for low, high in zip(level.first_block[:-1], level.first_block[1:], strict=True)
        ]
        sums.append(own)
        rows += [MATRIX @ each for each in own]
        variances += [1 / per_answer(each) for each in weights_of(world.design.levels[number], world.classes[number])]
    measured, variance = np.vstack(rows), np.concatenate(variances)
    information = measured.T / variance
    best = np.linalg.solve(information @ measured, information)
    return [[each @ best for each in own] for own in sums], sums, measured, variance


@pytest.mark.parametrize("fans", [[[3]], [[2], [2, 2]], [[1], [3]], [[2], [1, 1]]], ids=str)
def test_that_pooling_equal_siblings_is_the_best_linear_estimate(fans):
    world = tree_of_fans(*fans)
    best, *_ = dense(world)
    found = descended(world, *pooled_maps(world))
    for one, other in zip(found, best, strict=True):
        for mine, exact in zip(one, other, strict=True):
            assert np.abs(mine - exact).max() < 1e-10


@pytest.mark.parametrize("fans", [[[3], [1, 4, 2]], [[2], [1, 5]]], ids=str)
def test_that_pooling_unequal_siblings_has_no_bias_and_nearly_the_least_variance(fans):
    world = tree_of_fans(*fans)
    best, sums, measured, variance = dense(world)
    found = descended(world, *pooled_maps(world))
    alone = descended(world, *own_maps(world))
    gained = 0
    for level, own in enumerate(sums):
        for unit, histogram in enumerate(own):
            mine = found[level][unit]
            assert np.abs(mine @ measured - histogram).max() < 1e-10
            least, spread = (np.diag((each * variance) @ each.T) for each in (best[level][unit], mine))
            assert (spread >= least * (1 - 1e-9)).all()
            assert (spread <= 1.05 * least).all()
            gained += int((np.diag((alone[level][unit] * variance) @ alone[level][unit].T) > 1.05 * spread).all())
    assert gained > 0  # without pooling they are worse: the test can tell the two apart


def own_maps(world):
    """Return what `pooled_maps` does of answers that are not pooled."""
    width = len(MATRIX)
    sizes = [level.units for level in world.tree.levels]
    every = np.eye(sum(sizes) * width).reshape(sum(sizes), width, -1)
    weights = [weights_of(level, classes) for level, classes in zip(world.design.levels, world.classes, strict=True)]
    return np.split(every, np.cumsum(sizes)[:-1]), weights


def test_that_the_total_is_what_all_queries_say_of_it_together():
    total = total_query(SCHEMA)
    alone = LevelPlan(SCHEMA, QUERIES, ((total,), QUERIES[1:]), ((detailed_query(SCHEMA),),))
    rng = np.random.default_rng(4)
    answers, weights = rng.normal(0, 9, (5, len(MATRIX))), rng.uniform(0.1, 2, (5, len(QUERIES)))
    weights[3] = 0
    found, known = with_known_totals(alone, answers, weights)
    for unit in (0, 1, 2, 4):
        # Each query's own sum is an estimate of the total; independent estimates are weighted by their precisions.
        precision = weights[unit] / [query.answers for query in QUERIES]
        sums = [answers[unit, columns].sum() for _, columns in query_columns(alone)]
        assert found[unit, 0] == pytest.approx(np.average(sums, weights=precision), rel=1e-12)
        assert known[unit, 0] == pytest.approx(precision.sum(), rel=1e-12)
    assert (found[:, 1:] == answers[:, 1:]).all()
    assert (known[:, 1:] == weights[:, 1:]).all()
    assert (found[3] == answers[3]).all()
    together = LevelPlan(SCHEMA, QUERIES, (QUERIES,), ((detailed_query(SCHEMA),),))
    assert with_known_totals(together, answers, weights)[0] is answers


def test_that_nothing_is_added_where_a_child_is_not_known():
    rng = np.random.default_rng(5)
    pooled, weights = rng.normal(size=(2, 3)), np.array([[0.5, 0.0], [2.0, 1.0]])
    before, before_weights = pooled.copy(), weights.copy()
    children, known = rng.normal(size=(4, 3)), np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    queries = np.array([[0, 0, 0, 0, 1], [1, 1, 1, 1, 2]])
    kernels.pool_children(np.array([0, 2, 4]), children, known, queries, pooled, weights)
    assert pooled[1].tobytes() == before[1].tobytes()
    assert pooled[0, 0] == before[0, 0]
    assert weights.tolist() == [[0.5, 0.5], before_weights[1].tolist()]
    # Unknown itself, known from below: the children's sum alone.
    assert pooled[0, 1:].tolist() == (children[0, 1:] + children[1, 1:]).tolist()


@pytest.fixture(params=["reduced", "full", "units", "spine"])
def world(request):
    match request.param:
        case "reduced":
            return world_of(blocks())
        case "full":
            return world_of(full())
        case "units":
            return world_of(units_of_persons(None, full()), UNITS)
    return optimised()


def optimised():
    method = replace(PERSONS, spine=choice_of(settings_of(PERSONS.spine)))
    return world_on_spine(world_of(full(), method), method, full(), lambda b: noise_of(method.framework, b)[0])[0]


def estimated(world, sources, *, leaves=True, **places):
    found = pool(world, sources, lowest=lowest_pooled(world, pools_leaves=leaves), **places)
    return descend(world, found, Estimation(pooled=True), **places)


def test_that_exact_measurements_give_the_input_back(world):
    assert estimated(world, draws(world, exact=True)).leaves.differences(world.truth[-1]) == 0


@pytest.mark.parametrize("leaves", [True, False])
def test_that_every_unit_keeps_sums_invariants_and_signs(world, leaves):
    for trial in range(2):
        found = estimated(world, draws(world, trial), leaves=leaves)
        assert trial_checks(world, found) == NOTHING_WRONG
        assert (found.record.failed, found.record.relaxed) == (0, 0)


def test_that_neither_threads_nor_ranges_change_a_bit(world, monkeypatch):
    whole = estimated(world, draws(world))
    monkeypatch.setattr(driver, "_LEAST_BYTES", 1)
    monkeypatch.setattr(driver, "_RANGES", 10**6)
    with Threads(3) as threads:
        cut = estimated(world, draws(world), mapper=threads)
    for one, other in zip(whole.levels, cut.levels, strict=True):
        for name in ("starts", "cells", "counts"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes()


def test_that_pooled_answers_have_no_bias_and_the_variance_they_claim():
    """Standardised errors of every level and query over 60 trials; by chance one in a thousand right programs would fail."""
    world, squares, sums = world_of(blocks()), {}, {}
    exact = [
        source.measure(level, truth, 0, classes)
        for source, level, truth, classes in parts(world, draws(world, exact=True))
    ]
    for trial in range(60):
        found = pool(world, draws(world, trial), lowest=len(world.design.levels) - 1)
        for number, (source, level, truth, classes) in enumerate(parts(world, found)):
            measured = source.measure(level, truth, 0, classes)
            if measured.weights is None:
                continue
            for place, (query, columns) in enumerate(query_columns(level.plan)):
                errors = measured.answers[:, columns] - exact[number].answers[:, columns]
                scaled = errors * np.sqrt(measured.weights[:, place, None])
                sums.setdefault((level.name, query.name), []).append(scaled.ravel())
                squares.setdefault((level.name, query.name), []).append(scaled.ravel() ** 2)
    assert len(sums) > 12
    for key, scaled in sums.items():
        mean, square = np.concatenate(scaled), np.concatenate(squares[key])
        assert abs(mean.mean()) < 4.3 / np.sqrt(len(mean)), key
        assert abs(square.mean() - 1) < 4.3 * np.sqrt(2 / len(square)), key


def parts(world, sources):
    return zip(sources, world.design.levels, world.truth, world.classes, strict=True)


def test_that_pooling_lowers_the_error_of_tracts_on_the_same_noise():
    world = world_of(blocks(600, 4))
    errors = []
    for trial in range(12):
        both = (estimated(world, draws(world, trial)), descend(world, draws(world, trial)))
        errors.append([np.abs(found.levels[2].totals() - world.truth[2].totals()).mean() for found in both])
    pooled, top_down = np.mean(errors, axis=0)
    assert pooled < 0.9 * top_down


def test_that_leaves_are_pooled_where_they_say_something_of_the_units_above():
    world = world_of(blocks(600, 4))
    leaf, above = (
        world.design.levels[n].measuring.weights[world.design.levels[n].plan.measured.index(detailed_query(SCHEMA))]
        for n in (-1, -2)
    )
    below = leaf / np.diff(world.tree.levels[-2].first_child)
    assert weight_of_leaves(world) == pytest.approx(float((below / (above + below)).mean()), rel=1e-12)
    assert weight_of_leaves(world) < WORTH_POOLING
    assert [lowest_pooled(world, pools_leaves=asked) for asked in (None, True, False)] == [3, 4, 3]


def test_that_units_without_answers_of_their_own_do_not_decide_about_the_leaves():
    world = optimised()
    assert (world.classes[-2] >= 0).any()
    assert 0 <= weight_of_leaves(world) < 1


def test_that_secret_noise_is_drawn_twice_alike_and_not_shown():
    world = world_of(blocks())
    key = secret_key(3)
    level, truth, classes = world.design.levels[-1], world.truth[-1], world.classes[-1]
    one, again, other = (
        DrawnMeasurements(Draw(each)).measure(level, truth, 0, classes).answers for each in (key, key, secret_key(3))
    )
    assert (one == again).all()
    assert (one != other).any()
    assert str(key.seed) not in repr(Draw(key))
    assert key.seed > 1 << 200  # 2⁻⁵⁶ by chance


def test_that_margins_are_counted_once():
    world = world_of(blocks())
    margins = [tuple(10 for _ in level.plan.measured) for level in world.design.levels]
    sources = [DrawnMeasurements(Draw(TrialKey(1, 0), margins=each)) for each in margins]
    plain = descend(world, sources).record
    record = TrialRecord()
    descend(
        world, pool(world, sources, record, lowest=len(world.design.levels) - 1), Estimation(pooled=True), record=record
    )
    assert (record.within, record.numbers) == (plain.within, plain.numbers)
    assert record.seconds["pool"] > 0


def test_that_raw_answers_are_kept_and_pooled_ones_are_not():
    world, kept = world_of(blocks()), {}

    def keep(number, answers):
        kept.setdefault(number, []).append(answers)

    found = pool(world, draws(world), lowest=len(world.design.levels) - 1, on_answers=keep)
    descend(world, found, Estimation(pooled=True, keep=True), on_answers=keep)
    for number, (source, level, truth, classes) in enumerate(parts(world, draws(world))):
        assert (np.concatenate(kept[number]) == source.measure(level, truth, 0, classes).answers).all()


def test_that_one_level_is_what_it_was():
    world = leaves_alone(world_of(blocks()), PERSONS.total, lambda budget: noise_of(PERSONS.framework, budget)[0])
    assert weight_of_leaves(world) == 0
    found = pool(world, draws(world), lowest=-1)
    assert descend(world, found).leaves.differences(descend(world, draws(world)).leaves) == 0


def test_that_levels_below_the_lowest_pooled_one_keep_their_own_answers_and_do_not_count():
    world = world_of(blocks())
    sources = draws(world)
    found = pool(world, sources, lowest=1)
    assert found[2:] == tuple(sources[2:])
    level, truth, classes = world.design.levels[1], world.truth[1], world.classes[1]
    own, pooled = (each[1].measure(level, truth, 0, classes) for each in (sources, found))
    assert (pooled.answers == own.answers).all()
    assert (pooled.weights == weights_of(level, classes)).all()


def test_that_only_answers_that_no_possible_cell_fills_count_as_zero():
    """Against the cells themselves: whether any has neither a structural zero nor a bound of 0."""
    world = world_of(full())
    level, upper, possible = world.design.levels[-2], world.upper[-2], world.design.possible()
    (types,) = (query for query in level.plan.bounded if query != total_query(level.plan.schema))
    answers = np.random.default_rng(6).normal(size=(len(upper), level.plan.answers))
    cleared = answers.copy()
    known_zeros(level.plan, possible).clear(cleared, upper)
    start = level.plan.bound_start[types]
    for unit in range(len(upper)):
        open_cells = possible & (upper[unit, start + types.cell_map()] > 0)
        for query, columns in query_columns(level.plan):
            is_open = np.bincount(query.cell_map()[open_cells], minlength=query.answers) > 0
            assert (cleared[unit, columns] == np.where(is_open, answers[unit, columns], 0.0)).all()
    assert 0.1 < (cleared == 0.0).mean() < 0.9


def test_that_what_is_known_to_be_zero_takes_noise_off_the_sums():
    """Errors of pooled cells of counties that the sums of tracts without such facilities made: smaller than the weights say."""
    world, squares = world_of(full()), []
    exact = draws(world, exact=True)[1].measure(world.design.levels[1], world.truth[1], 0, world.classes[1]).answers
    columns = dict(query_columns(world.design.levels[1].plan))[detailed_query(world.design.schema)]
    place = world.design.levels[1].plan.measured.index(detailed_query(world.design.schema))
    for trial in range(4):
        pooled = pool(world, draws(world, trial), lowest=3)[1]
        found = pooled.measure(world.design.levels[1], world.truth[1], 0, world.classes[1])
        errors = (found.answers - exact)[:, columns] * np.sqrt(found.weights[:, place, None])
        assert abs(errors.mean()) < 5 / np.sqrt(errors.size)
        squares.append((errors**2).mean())
    assert np.mean(squares) < 0.95
