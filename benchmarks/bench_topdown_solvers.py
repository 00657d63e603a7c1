"""TopDown's least squares and rounder against public solvers, family by family, on the same families in the same run.

    python benchmarks/bench_topdown_solvers.py [--groups 40] [--tracts 25] [--states 5] [--repeats 3] [--json FILE]

The families are those of a descent through Rhode Island's 25,181 blocks of 2010, expanded to the 2,016 cells of the full
schema, measured at the budgets of 2020 (a synthetic state where that file is not beside the checkout). Parents are what the
levels above became.

What is timed, in CPU seconds, everything warm and on one thread:

* ours: the compiled call for a range of copies of one family, divided by their number, as a run makes it: all passes, with
  everything built from parent counts, measurements and bounds.
* PIQP and Clarabel: the last pass only, given the totals held from the first. Building matrices is left out of their time;
  their own set-up is in it, as ours is. They get the reduced problem (only counts that can be positive), shifted to differences
  from a plausible point, in two sparse forms (condensed to the counts; with residuals as variables), at the loosest tolerance
  of 1e-6, 1e-8, 1e-10, 1e-12 that gives the accuracy asked of ours: every count within 1e-6 of the minimum, in people per
  10,000 of the largest cell. The fastest form counts. The goals were set with sparse forms; "PIQP dense" is its solver for dense
  matrices on the condensed form, which is shown beside, without a goal.
* OR-tools: its minimum-cost flow on the reduced network, all passes in one by weights. Building arrays is left out of its time,
  handing them over is in it.

The minimum is that of an independent interior-point solver, polished. Where ours is farther from it than 1e-6 but has the lower
objective, the minimum is ours. Costs of both rounders must be equal, pass by pass, or the run stops. After a pass in which they
differ at all, by less than the whole numbers that OR-tools counts costs in can tell, each has decided a tie of its own, and
later passes are different problems.
"""

# ruff: noqa: E402 - threads are limited and the programs of the tests found before anything is imported

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
import warnings
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
from scipy.sparse import block_array, coo_array, diags_array, eye_array, vstack

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from optimize.instances import Family, sums_of
from optimize.least_squares_program import ENDLESS, FamilyProgram, Quadratic, clarabel_call
from optimize.rounder_program import RounderProgram

from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.generator import synthesize_blocks
from phexplore.data.blocks.source import read_population
from phexplore.noise.distributions import DiscreteGaussian
from phexplore.optimize.least_squares import LevelData, Status, least_squares
from phexplore.optimize.plan import chain_of
from phexplore.optimize.rounder import round_level
from phexplore.simulate.topdown.design import make_design
from phexplore.simulate.topdown.driver import Threads, family_ranges, make_world
from phexplore.simulate.topdown.families import Estimation, estimate, level_data
from phexplore.simulate.topdown.histograms import joined
from phexplore.simulate.topdown.measuring import Draw, DrawnMeasurements, TrialKey
from phexplore.spine.tree import tree_of
from phexplore.systems.topdown.presets import topdown_presets

GOALS = {
    "Block": {"PIQP": 100, "Clarabel": 290, "OR-tools": 2},
    "Block_Group": {"PIQP": 15, "Clarabel": 40, "OR-tools": 2},
    "County": {"PIQP": 25},
}
TITLES = {
    "Block": "block group → block",
    "Block_Group": "tract → block group",
    "Tract": "county → tract",
    "County": "state → county",
}
DATA = Path(__file__).parents[2] / "shared" / "data" / "blocks" / "pl94_ri_2010_blocks.csv.gz"
TOLERANCES = (1e-6, 1e-8, 1e-10, 1e-12)
ENOUGH = 1e-6
DENSE_UP_TO = 600
SCALE = 1 << 20
TIE = 1e-11


@dataclass
class Instance:
    """One family of a level, alone."""

    plan: object
    level: LevelData


def alone(level: LevelData, family: int) -> LevelData:
    children = slice(level.child_start[family], level.child_start[family + 1])
    cells = slice(level.cell_start[family], level.cell_start[family + 1])
    return LevelData(
        child_start=np.array([0, children.stop - children.start], np.int64),
        cell_start=np.array([0, cells.stop - cells.start], np.int64),
        cells=level.cells[cells].copy(),
        counts=level.counts[cells].copy(),
        answers=level.answers[children].copy(),
        weights=level.weights[children].copy(),
        lower=level.lower[children].copy(),
        upper=level.upper[children].copy(),
    )


def copies(level: LevelData, number: int) -> LevelData:
    """Return a level of equal families."""
    children, cells = int(level.child_start[1]), int(level.cell_start[1])
    arrays = {name: np.concatenate([getattr(level, name)] * number) for name in ("cells", "counts")}
    arrays |= {n: np.concatenate([getattr(level, n)] * number) for n in ("answers", "weights", "lower", "upper")}
    starts = np.arange(number + 1, dtype=np.int64)
    return replace(level, child_start=starts * children, cell_start=starts * cells, **arrays)


def descend(population, seed: int, stop: str):
    """Return per level name the families below every parent, from the root down to a level."""
    method = topdown_presets()["pl94-2020-persons-us"].scenario.method
    tree = tree_of(population.geocodes(), method.levels)
    names = [level.name for level in tree.levels]
    design = make_design(method, population.schema, names, lambda b: DiscreteGaussian(1 / b), has_facilities=True)
    world = make_world(design, tree, population)
    source = DrawnMeasurements(Draw(TrialKey(seed, 0)))
    found, parents = {}, None
    with Threads(1) as mapper:
        for number, level in enumerate(design.levels):
            tasks = family_ranges(world, number, parents)
            found[level.name] = []
            for task in tasks if number else ():
                data = level_data(task, source.measure(level, task.truth, task.first_child, task.classes))
                found[level.name] += [(level.plan, data, family) for family in range(data.parents)]
            if level.name == stop:
                return found
            results = mapper(lambda task: estimate(task, source, Estimation()), tasks)
            parents = joined([result.children for result in results])
    return found


def interesting(entry) -> bool:
    _, data, family = entry
    return np.diff(data.child_start)[family] > 1 and np.diff(data.cell_start)[family] > 0


def choose(entries, number: int, seed: int) -> list[Instance]:
    entries = [entry for entry in entries if interesting(entry)]
    rng = np.random.default_rng(seed)
    places = rng.choice(len(entries), min(number, len(entries)), replace=False)
    return [Instance(plan, alone(data, family)) for plan, data, family in (entries[place] for place in places)]


def seconds(work, repeats: int) -> float:
    """Return the median CPU time of a call after a first one."""
    work()
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return statistics.median(found)


def per_family(work, level: LevelData, repeats: int) -> float:
    """Return the CPU time of a family within a range that takes at least some 20 ms."""
    once = seconds(lambda: work(level), 3)
    number = int(min(max(1, 0.02 // max(once, 1e-5)), 400))
    many = copies(level, number)
    return seconds(lambda: work(many), repeats) / number


# --- least squares ---------------------------------------------------------------------------------------------------


def forms(program, around) -> dict[str, Quadratic]:
    """Return the last pass as the peers take it."""
    matrix, slope = program.condensed(around)
    equal = program.low == program.high
    rows, shift = program.rows[~equal], (program.rows @ around)[~equal]
    equations = vstack([program.sums, program.rows[equal]])
    targets = np.concatenate([program.counts, program.low[equal]]) - equations @ around
    low, high = program.low[~equal] - shift, program.high[~equal] - shift
    size, answers = program.queries.shape[1], program.queries.shape[0]
    residual = program.answers - program.queries @ around
    wide = np.concatenate([-around, np.full(answers, -ENDLESS)])
    return {
        "condensed": Quadratic(matrix, slope, equations, targets, rows, low, high, -around),
        "residuals": Quadratic(
            block_array([[0 * eye_array(size), None], [None, diags_array(program.weights)]]),
            np.zeros(size + answers),
            block_array(
                [[equations, coo_array((equations.shape[0], answers))], [program.queries, -eye_array(answers)]]
            ),
            np.concatenate([targets, residual]),
            block_array([[rows, coo_array((rows.shape[0], answers))]]),
            low,
            high,
            wide,
        ),
    }


def piqp_solver(form: Quadratic, tolerance: float, *, dense: bool = False):
    import piqp

    low, high = np.maximum(form.low, -ENDLESS), np.minimum(form.high, ENDLESS)
    infinite = np.full(len(form.floor), np.inf)
    floor = np.where(form.floor <= -ENDLESS, -np.inf, form.floor)
    low, high = np.where(low <= -ENDLESS, -np.inf, low), np.where(high >= ENDLESS, np.inf, high)
    matrices = (form.matrix, form.equations, form.rows)
    if dense:
        matrices = tuple(np.asfortranarray(each.toarray()) for each in matrices)
    matrix, equations, rows = matrices
    if form.rows.shape[0] == 0:
        rows, low, high = None, None, None

    def work():
        solver = piqp.DenseSolver() if dense else piqp.SparseSolver()
        solver.settings.eps_abs = solver.settings.eps_rel = tolerance
        solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = tolerance
        solver.setup(matrix, form.slope, equations, form.targets, rows, low, high, floor, infinite)
        solver.solve()
        return solver.result.x

    return work


def clarabel_solver(form: Quadratic, tolerance: float):
    solve = clarabel_call(form, tolerance)
    return lambda: np.array(solve().x)


def plausible(program: FamilyProgram) -> np.ndarray:
    """Return each column in equal parts: a point near which differences have few digits to lose."""
    share = program.possible / np.maximum(program.possible.sum(axis=0), 1)
    return program.unknowns(share * program.counts)


def compare_least_squares(instance: Instance, repeats: int) -> dict:
    plan, level = instance.plan, instance.level
    values = least_squares(plan, level)
    if values.outcome.status[0] not in {Status.SOLVED, Status.COPIED}:
        raise SystemExit(f"a family was not solved: {Status(values.outcome.status[0]).name}")
    program = FamilyProgram(plan, level, 0)
    mine = program.unknowns(values.values.reshape(program.possible.shape))
    scale = max(1.0, level.counts.max() / 1e4)
    last = program.last_program(mine)
    best = last.solve(mine)
    distance = float(np.abs(mine - best).max() / scale)
    if distance > ENOUGH and last.objective(mine) < last.objective(best):
        best = mine
    row = {
        "children": int(level.child_start[1]),
        "cells": int(level.cell_start[1]),
        "unknowns": len(mine),
        "ours_s": per_family(lambda many: least_squares(plan, many), level, repeats),
        "ours_distance": float(np.abs(mine - best).max() / scale),
        "ours_objective": last.objective(mine) / last.objective(best) - 1,
    }
    around = plausible(program)
    alternatives = forms(last, around)
    peers = {
        "PIQP": {name: partial(piqp_solver, form) for name, form in alternatives.items()},
        "Clarabel": {name: partial(clarabel_solver, form) for name, form in alternatives.items()},
    }
    if len(mine) <= DENSE_UP_TO:
        peers["PIQP dense"] = {"dense": partial(piqp_solver, alternatives["condensed"], dense=True)}
    for peer, works in peers.items():
        for name, make in works.items():
            found = first_close_enough(make, lambda x: np.abs(around + x[: len(mine)] - best).max() / scale, repeats)
            if found and found[0] < row.get(f"{peer}_s", np.inf):
                row |= {f"{peer}_s": found[0], f"{peer}_distance": found[1], f"{peer}_form": name}
    return row


def first_close_enough(make, distance_of, repeats: int) -> tuple[float, float] | None:
    """Return time and distance at the loosest tolerance whose answer is close enough, None when none is."""
    for tolerance in TOLERANCES:
        work = make(tolerance)
        distance = float(distance_of(work()))
        if np.isfinite(distance) and distance <= ENOUGH:
            return seconds(work, repeats), distance
    return None


# --- rounder ---------------------------------------------------------------------------------------------------------


def network(plan, family: Family):
    """Return the rounder as arrays for a minimum-cost flow: tails, heads, capacities, costs, supplies, and its free counts.

    Columns of which all or no fractions go up are taken out. First passes weigh more than all later ones together.
    """
    program = RounderProgram(plan, family)
    children, cells = program.fraction.shape
    left = family.counts - program.floor.sum(axis=0)
    free_in = (program.fraction > 0).sum(axis=0)
    up = (program.fraction > 0) & (left == free_in) & (left > 0)
    open_column = (left > 0) & (left < free_in)
    child, cell = np.nonzero((program.fraction > 0) & open_column)
    levels = chain_of(plan)
    units = int(left[open_column].sum()) + 1
    weight = [(4 * units * len(levels)) ** (len(plan.rounding) - 1 - number) for number in range(len(plan.rounding))]
    times = [sum(weight[k] * level.times[k] for k in range(len(weight))) for level in levels]
    columns = np.flatnonzero(open_column)
    arcs: list[tuple[int, int, int, int]] = []
    nodes = len(columns)
    sink = 1 << 40
    above = np.full((children, cells), sink)
    forbidden = 64 * SCALE * max(weight) * units
    for level, factor in zip(levels[:-1], times, strict=False):
        answer_of = level.query.cell_map()[family.cells]
        fraction = sums_of(level.query, family.cells, program.fraction)
        already = sums_of(level.query, family.cells, up.astype(np.int64))
        floor = sums_of(level.query, family.cells, program.floor)
        keys = np.unique(child * level.query.answers + answer_of[cell])
        start = plan.bound_start.get(level.query)
        below = above.copy()
        for node, key in enumerate(keys.tolist(), start=nodes):
            who, answer = divmod(key, level.query.answers)
            members = answer_of == answer
            target = fraction[who, answer] - already[who, answer]
            need, most = 0, units
            if start is not None:
                have = floor[who, answer] + already[who, answer]
                need = max(0, int(family.lower[who, start + answer] - have))
                most = int(min(units, family.upper[who, start + answer] - have))
            whole = int(np.floor(target))
            edges = sorted({0, min(max(whole, 0), most), min(max(whole + 1, 0), most), min(need, most), most})
            for low, high in pairwise(edges):
                slope = -1.0 if high <= whole else 1.0 if low > whole else 1.0 - 2.0 * (target - whole)
                cost = round(SCALE * slope) * factor - (forbidden if high <= need else 0)
                arcs.append((node, int(above[who, np.flatnonzero(members)[0]]), high - low, cost))
            below[who, members] = node
        above = below
        nodes += len(keys)
    place = np.searchsorted(columns, cell)
    for leaf in range(len(child)):
        value = program.fraction[child[leaf], cell[leaf]]
        cost = round(SCALE * (1 - 2 * value)) * times[-1]
        arcs.append((int(place[leaf]), int(above[child[leaf], cell[leaf]]), 1, cost))
    supplies = np.zeros(nodes + 1, np.int64)
    supplies[: len(columns)] = left[columns]
    supplies[nodes] = -int(left[columns].sum())
    arrays = np.array(arcs, np.int64).reshape(-1, 4).T.copy()
    arrays[1][arrays[1] == sink] = nodes
    return program, arrays, supplies, (child, cell), up


def compare_rounder(instance: Instance, repeats: int) -> dict:
    from ortools.graph.python import min_cost_flow

    plan, level = instance.plan, instance.level
    values = least_squares(plan, level).values
    estimate_of = values.reshape(int(level.child_start[1]), -1)
    family = Family(level.cells, level.counts, estimate_of, level.lower, level.upper)
    result = round_level(plan, level, values)
    program, arrays, supplies, (child, cell), up = network(plan, family)
    nodes = np.arange(len(supplies))

    def peer():
        flow = min_cost_flow.SimpleMinCostFlow()
        flow.add_arcs_with_capacity_and_unit_cost(*arrays)
        flow.set_nodes_supplies(nodes, supplies)
        return flow, flow.solve()

    def ours(many):
        return round_level(plan, many, np.tile(values, many.parents))

    row = {"free": len(child), "ours_s": per_family(ours, level, repeats), "pivots": int(result.pivots[0])}
    counts = result.counts.reshape(estimate_of.shape)
    if len(result.unrounded) or program.problems(counts):
        raise SystemExit("a family was not rounded")
    row["costs"] = [program.cost(counts, number) for number in range(program.passes)]
    if len(child) == 0:
        return row
    flow, status = peer()
    if status == flow.OPTIMAL:
        theirs = program.floor + up
        first = arrays.shape[1] - len(child)
        theirs[child, cell] += flow.flows(np.arange(first, arrays.shape[1]))
        if program.problems(theirs):
            raise SystemExit(f"OR-tools rounds wrongly: {program.problems(theirs)}")
        for number, cost in enumerate(row["costs"]):
            peers_cost = program.cost(theirs, number)
            if abs(peers_cost - cost) > 1e-6 * (10 + len(child)):
                raise SystemExit(f"pass {number}: costs {cost} here, {peers_cost} in OR-tools")
            if abs(peers_cost - cost) > TIE:
                break
        row["OR-tools_s"] = seconds(peer, repeats)
    return row


# --- tables ----------------------------------------------------------------------------------------------------------


def summary(rows: list[dict], peers: tuple[str, ...], goals: dict) -> dict:
    found = {"families": len(rows), "ours_median_s": statistics.median(row["ours_s"] for row in rows)}
    for peer in peers:
        both = [row for row in rows if f"{peer}_s" in row]
        if not both:
            continue
        ratio = statistics.median(r[f"{peer}_s"] for r in both) / statistics.median(r["ours_s"] for r in both)
        found[peer] = {
            "families": len(both),
            "median_s": statistics.median(row[f"{peer}_s"] for row in both),
            "ratio_of_medians": ratio,
            "median_ratio": statistics.median(row[f"{peer}_s"] / row["ours_s"] for row in both),
            "ratio_of_sums": sum(row[f"{peer}_s"] for row in both) / sum(row["ours_s"] for row in both),
            "goal": goals.get(peer),
            "met": None if peer not in goals else ratio >= goals[peer],
        }
    return found


def table(title: str, found: dict[str, dict]) -> None:
    print(
        f"\n{title}\n{'level':<24}{'families':>9}{'ours ms':>9}{'peer':>11}{'solved':>8}{'peer ms':>10}{'ratio':>8}{'goal':>6}"
    )
    for level, each in found.items():
        for peer in (name for name in each if isinstance(each[name], dict)):
            theirs = each[peer]
            goal = "" if theirs["goal"] is None else f"{theirs['goal']}{'' if theirs['met'] else ' !'}"
            print(
                f"{TITLES[level]:<24}{each['families']:>9}{1e3 * each['ours_median_s']:>9.3f}{peer:>11}"
                f"{theirs['families']:>8}{1e3 * theirs['median_s']:>10.3f}{theirs['ratio_of_medians']:>8.1f}{goal:>6}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=Path, default=DATA)
    parser.add_argument("--groups", type=int, default=40, help="block groups")
    parser.add_argument("--tracts", type=int, default=25)
    parser.add_argument("--states", type=int, default=3, help="descents to the counties")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    blocks = read_population(options.blocks) if options.blocks.exists() else synthesize_blocks(25_000, 1)
    population = expand(blocks, 7)
    found = descend(population, 1, "Block")
    samples = {
        "Block": choose(found["Block"], options.groups, 1),
        "Block_Group": choose(found["Block_Group"], options.tracts, 2),
        "Tract": choose(found["Tract"], 5, 3),
        "County": choose(found["County"], 1, 4),
    }
    for seed in range(2, options.states + 1):
        samples["County"] += choose(descend(population, seed, "County")["County"], 1, seed)
    squares = {
        level: [compare_least_squares(instance, options.repeats) for instance in samples[level]] for level in GOALS
    }
    rounding = {
        level: [compare_rounder(instance, options.repeats) for instance in sample] for level, sample in samples.items()
    }
    peers = {name: version(name.lower()) for name in ("PIQP", "Clarabel", "ortools")}
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"{blocks.blocks:,} blocks, full schema; CPU time, median of {options.repeats}; {peers}; load {load}")
    summaries = {
        "least_squares": {
            k: summary(rows, ("PIQP", "PIQP dense", "Clarabel"), GOALS[k]) for k, rows in squares.items()
        },
        "rounder": {k: summary(rows, ("OR-tools",), GOALS.get(k, {})) for k, rows in rounding.items()},
    }
    table("Least squares (ours: all passes; peers: last pass)", summaries["least_squares"])
    for level, rows in squares.items():
        far = {who: max(row.get(f"{who}_distance", 0.0) for row in rows) for who in ("ours", "PIQP", "Clarabel")}
        print(
            f"{TITLES[level]:<24}farthest from the minimum, people: {', '.join(f'{w} {d:.1e}' for w, d in far.items())}"
        )
    table("Rounder (equal cost in every pass)", summaries["rounder"])
    if options.json:
        with Path(options.json).open("w", encoding="utf-8") as file:
            rows = {"least_squares": squares, "rounder": rounding}
            json.dump(
                {"benchmark": "topdown solvers", "goals": GOALS, "peers": peers, "summary": summaries, "rows": rows},
                file,
                indent=1,
            )


if __name__ == "__main__":
    main()
