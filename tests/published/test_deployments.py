"""Records of the registry: those it takes are read, those it refuses are refused with the reason, and ours pass its schema."""

from datetime import UTC, datetime

import pytest
import yaml
from jsonschema import Draft7Validator

from phexplore.model.issues import InputProblemsError
from phexplore.published.deployments import slug
from phexplore.published.door import describe, recognise
from phexplore.systems.deployment_record import deployment_record
from phexplore.systems.registry import preset

REASONS = {
    "quoting_instead": "folded",
    "additional_properties": "surprise",
    "1_1_2026_is_not_a_date": "is not a 'date'",
    "is_not_of_type_string": "is not of type 'string'",
    "status_is_a_required": "'status' is a required property",
    "tier_0_is_not_one": "0 is not one of",
}


@pytest.fixture
def registry(real_data):
    return real_data / "published" / "registry"


def test_that_records_of_the_registry_are_read(registry):
    (said,) = describe(recognise(registry / "census_redistricting_data.yaml")).more["records"]
    assert said["privacy_parameters"] == {"rho": 2.63}
    assert (said["status"], said["tier"]) == ("Pending", 3)


@pytest.mark.parametrize(("name", "reason"), REASONS.items())
def test_that_bad_records_are_refused_with_the_reason(registry, name, reason):
    (path,) = (registry / "bad").glob(f"*{name}*")
    with pytest.raises(InputProblemsError) as refused:
        describe(recognise(path))
    assert any(reason in issue.sentence for issue in refused.value.issues)


@pytest.mark.parametrize(
    "preset_id", ["sdhc-2020-us", "pl94-2020-persons-us", "group-sizes-census-2010", "counties-invariant-2010"]
)
def test_that_a_record_of_ours_passes_the_schema_and_is_read_again(registry, preset_id, tmp_path):
    scenario = preset(preset_id).scenario
    content = deployment_record(scenario, None, datetime(2024, 9, 19, tzinfo=UTC))
    schema = yaml.safe_load((registry / "deployments-schema.yaml").read_text(encoding="utf-8"))
    Draft7Validator(schema, format_checker=Draft7Validator.FORMAT_CHECKER).validate(yaml.safe_load(content))
    assert b"'2024-09-19'" in content
    path = tmp_path / "ours.yaml"
    path.write_bytes(content)
    assert describe(recognise(path)).more["records"][0]["name"] == scenario.name


def test_that_the_slug_is_the_one_of_the_registry(registry):
    record = yaml.safe_load((registry / "census_redistricting_data.yaml").read_text(encoding="utf-8"))
    basic = record["deployment"]["basic"]
    assert slug(basic["name"], tuple(basic["data_curators"]), 2021) == record["url_slug"]


def test_that_a_record_cannot_name_itself_without_end(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("url_slug: &a [" + "*a, " * 9 + "*a]\n")
    with pytest.raises(InputProblemsError):
        describe(recognise(path))
