"""What the invariants and constraints of TopDown are called, what each forces, and which counts each needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from phexplore.model.issues import Issue
from phexplore.model.topdown import TopDown
from phexplore.workload.schema import Schema, load_schema


@dataclass(frozen=True, slots=True)
class Rule:
    """An invariant or a constraint.

    Attributes:
        name: as production spells it.
        title: short words for people.
        forces: what it does to the published numbers, as a sentence.
        needs: names of the invariants of which at least one must be held, at its level or below; empty for none.
    """

    name: str
    title: str
    forces: str
    needs: tuple[str, ...] = ()


_INVARIANTS: Mapping[str, tuple[str, str]] = {
    "tot": (
        "Number of records",
        (
            "The number of records in every unit of the level is published without noise; what is measured of it is ignored "
            "in favour of the truth."
        ),
    ),
    "tot_hu": (
        "Number of housing units",
        "The number of housing units, vacant ones included, is published without noise.",
    ),
    "gqhh_vect": (
        "Facilities by type",
        (
            "How many housing units and how many group quarters of each type there are is published without noise; the "
            "number of people in them is not."
        ),
    ),
    "gqhh_tot": (
        "All facilities",
        "The number of housing units and group quarters together is published without noise.",
    ),
    "va": ("People of voting age", "The number of people of voting age is published without noise."),
}

_CONSTRAINTS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "total": (
        "Total equals the invariant",
        "All cells of a unit add to its published number of records (or housing units).",
        ("tot", "tot_hu"),
    ),
    "hhgq_total_lb": (
        "At least one person per facility",
        "Every group-quarters facility holds at least one person; housing units may be empty.",
        ("gqhh_vect",),
    ),
    "hhgq_total_ub": (
        "Nobody where no facility is",
        "No more people than the facilities of a type hold (99,999 each), and nobody in a type that has none.",
        ("gqhh_vect",),
    ),
    "pl94": (
        "Agrees with the redistricting data",
        "The 2,016 redistricting cells of every unit equal the ones already published.",
        (),
    ),
    "h1": (
        "Agrees with published occupancy",
        "The number of households equals the published occupied units, vacant units equal the published vacant ones.",
        (),
    ),
    "gq_vect": (
        "Facilities by type",
        "Housing units and group quarters of each type are as many as there truly are.",
        ("gqhh_vect",),
    ),
    "owned": (
        "Tenure of households and units agrees",
        "Households by owned with mortgage, owned clear and not owned are as many as units of that tenure.",
        (),
    ),
    "living_alone": (
        "People living alone",
        "In a household of one, the presence of older people is that of the householder; a child householder is not over 24.",
        (),
    ),
    "size2": ("Households of two", "Ages, relationships and the presence of older people fit a household of two.", ()),
    "size3": ("Households of three", "Ages, relationships and the presence of older people fit three people.", ()),
    "size4": ("Households of four", "Ages, relationships and the presence of older people fit four people.", ()),
    "hh_elderly": (
        "Older householders count",
        "The presence of people 60, 65 or 75 and over is at least what the householder's age implies.",
        (),
    ),
    "age_child": (
        "Ages of parents",
        "No own children under 6 with a man of 75 or more or a woman of 60 or more; none under 18 with a woman of 75 or more.",
        (),
    ),
    "no_vacant": ("No vacant households", "A household lives in every record: vacant units are counted elsewhere.", ()),
    "not_multigen": ("Generations fit the size", "Households of one or two people do not span three generations.", ()),
    "size2plus_notalone": (
        "Two or more are not alone",
        "A household of two or more people is not of the type of one living alone.",
        (),
    ),
}


def invariant_rules(schema_id: str) -> tuple[Rule, ...]:
    """Return the invariants a schema can hold, in the order they are shown.

    Raises:
        UnknownNameError: the schema is unknown.
    """
    schema = load_schema(schema_id)
    names = ["tot"]
    names += ["tot_hu"] if "unit" in schema.record or "household" in schema.record else []
    names += ["gqhh_vect", "gqhh_tot"]
    names += ["va"] if any(attribute.name == "votingage" for attribute in schema.attributes) else []
    return tuple(invariant_rule(name) for name in names)


def constraint_rules(schema_id: str) -> tuple[Rule, ...]:
    """Return the constraints a schema can keep, in the order they are shown: counts first, then impossible cells.

    Raises:
        UnknownNameError: the schema is unknown.
    """
    schema = load_schema(schema_id)
    names = ["total"]
    if schema.facility_bounds is not None:
        names += ["hhgq_total_lb", "hhgq_total_ub"]
    names += [zero.name for zero in schema.structural_zeros]
    return tuple(constraint_rule(schema, name) for name in names)


def invariant_rule(name: str) -> Rule:
    """Return an invariant by name; unknown ones keep their name and say so."""
    title, forces = _INVARIANTS.get(name, (name, "A count the program does not know; it is kept for production."))
    return Rule(name, title, forces)


def constraint_rule(schema: Schema, name: str) -> Rule:
    """Return a constraint by name; unknown ones keep their name and say so.

    Args:
        schema: id.
        name: of the constraint, as production writes it.
    """
    for zero in schema.structural_zeros:
        if zero.name == name:
            return Rule(name, zero.title, f"{zero.title}: these cells stay empty in every unit.")
    if name in _CONSTRAINTS:
        title, forces, needs = _CONSTRAINTS[name]
        return Rule(name, title, forces, needs)
    return Rule(name, name, "A rule the program does not know; it is kept for production.")


def rule_issues(method: TopDown) -> Iterator[Issue]:
    """Return constraints whose counts nobody holds: neither their level nor one below has an invariant they need."""
    schema = load_schema(method.schema)
    for place, level in enumerate(method.levels):
        held = {name for lower in method.levels[place:] for name in method.invariants.get(lower, ())}
        for name in method.constraints.get(level, ()):
            needs = constraint_rule(schema, name).needs
            if needs and not held & set(needs):
                words = " or ".join(needs)
                yield Issue(
                    ("constraints", f"{level}/{name}"),
                    f"The constraint {name} at {level} needs the invariant {words} there or at a level below.",
                    f"Hold {needs[0]} invariant, or drop the constraint.",
                )
    for kind, places in (("invariants", method.invariants), ("constraints", method.constraints)):
        for level in places:
            if level not in method.levels:
                yield Issue((kind, level), f"{level} is not a level.", f"Remove its {kind}.")
