"""A chain of DAS configurations as production lays them out: one root per geography, defaults of persons, defaults of all."""

from __future__ import annotations

from pathlib import Path

from phexplore.systems.topdown.ini_text import IniChain, effective

CHAIN = {
    "all.ini": """\
# defaults of every product
[geodict]
geocode_length = 16
geo_path =

spine = opt_spine

# the areas of the first recommendation
aian_areas = Legal_Federally_Recognized_American_Indian_Area,
    American_Indian_Joint_Use_Area,
    # Hawaii counts as well
    Hawaiian_Home_Land,
    Alaska_Native_Village_Statistical_Area,
    State_Recognized_Legal_American_Indian_Area,
    Oklahoma_Tribal_Statistical_Area,
    Joint_Use_Oklahoma_Tribal_Statistical_Area

[budget]
approx_dp_delta = 1e-10
privacy_framework= zcdp

[solver]
path: $SOLVER_HOME/linux64/lib/${PYTHON_VERSION}/
optimalitytol = 1e-6
""",
    "persons/persons.ini": """\
[DEFAULT]
INCLUDE = ../all.ini

[schema]
schema = PL94_2020_SCHEMA

[budget]
dp_mechanism =discrete_gaussian_mechanism
global_scale = 339/542
dp_mechanism =discrete_gaussian_mechanism

[constraints]
theInvariants.Block = gqhh_vect, gqhh_tot
theInvariants.State = tot
theConstraints.Block = hhgq_total_lb, hhgq_total_ub, nurse_nva_0

[validator]
;validator = programs.another

[geodict]
ignore_gqs_in_block_groups = False
""",
    "persons/US.ini": """\
# persons of the United States

[DEFAULT]
INCLUDE = persons.ini

[geodict]
#bottom-up
geolevel_names = Block,Block_Group,Tract,County,State,US
geolevel_leng = 16,12,11,5,2,0
target_das_aian_areas = True

[setup]
spark.name = ${NAME}-US

[budget]
#top-down
geolevel_budget_prop = 104/4099, 1440/4099, 447/4099, 687/4099, 1256/4099, 165/4099
strategy = ProductionCandidate20210527US_mult8_add02_dsepJune3
query_ordering = Strategy1b_ST_CTY_TR_BG_isoTot_Ordering_dsepJune3

[constraints]
theConstraints.State = hhgq_total_lb, hhgq_total_ub
theConstraints.US = total
""",
}

DEMONSTRATION = """\
[geodict]
geolevel_names: Block,Block_Group,Tract,Tract_Group,County,State,Nation
geolevel_leng: 16,12,11,9,5,2,1

[schema]
schema = DHCP_HHGQ

[budget]
epsilon_budget_total = 4.0
geolevel_budget_prop = 0.2, 0.2, 0.12, 0.12, 0.12, 0.12, 0.12
detailedprop = 0.1
dpqueries = hhgq, votingage * hispanic * cenrace * citizen, age * sex, ageGroups4 * sex, ageGroups16 * sex, ageGroups64 * sex
queriesprop = .2, .5, 0.05, 0.05, 0.05, 0.05

[constraints]
theinvariants.block = gqhh_vect, gqhh_tot
theinvariants.state = tot
"""


def write_chain(folder: Path, texts: dict[str, str] | None = None, *, newline: str = "\n", mark: bytes = b"") -> Path:
    """Write the files of a chain and return the path of its root."""
    for name, text in (texts or CHAIN).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(mark + text.replace("\n", newline).encode())
    return folder / "persons" / "US.ini"


def differing_values(before: IniChain, after: IniChain) -> dict[tuple[str, str], tuple[str | None, str | None]]:
    """The effective values that differ between two chains, by section and key."""
    old, new = ({place: value.text for place, value in effective(chain).values.items()} for chain in (before, after))
    return {place: (old.get(place), new.get(place)) for place in {**old, **new} if old.get(place) != new.get(place)}
