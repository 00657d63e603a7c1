"""Records of the registry of DP deployments: read, checked by the registry's own schema and its rules about text, and written.

Facts: ../shared/data/published/NOTES.md, section 9. What the registry asks beyond its schema: file names of small letters, figures and
underlines; text of several lines as ``|``, never ``>``; the slug made of name, curators and year.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from phexplore.data.archives import read_whole
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.published.forms import Description, Published
from phexplore.resources import resource

LARGEST_RECORD = 1 << 20
_MOST_BRACKETS = 1000
_NAME = re.compile(r"[a-z0-9_]+\.yaml")
_SCHEMA = "Correct the record as the schema of the registry says (deployments-schema.yaml)."
_LOSSLESS = "Write text of several lines behind | instead of >, which would join its lines."


def describe(found: Published) -> Description:
    """Return what the records hold.

    Raises:
        InputProblemsError: every reason for which a record is refused.
    """
    issues: list[Issue] = []
    records: list[Mapping[str, Any]] = []
    for part in found.parts:
        record, wrong = _read(part.path)
        records.append(record)
        issues += wrong
    if issues:
        raise InputProblemsError(issues)
    said = [_said(record) for record in records]
    notes = (
        []
        if all(_NAME.fullmatch(part.path.name) for part in found.parts)
        else ["The registry takes file names of small letters, figures and underlines."]
    )
    return Description(found.kind, found.title, {}, tuple(notes), {"records": said})


def _said(record: Mapping[str, Any]) -> dict[str, Any]:
    deployment = record["deployment"]
    return {
        "name": deployment["basic"]["name"],
        "status": record["status"],
        "tier": record["tier"],
        "published": deployment["basic"]["publication_date"],
        "variant": deployment.get("dp_variant", {}).get("variant_name", ""),
        "privacy_parameters": deployment.get("privacy_loss", {}).get("privacy_parameters", {}),
    }


def record_bytes(record: Mapping[str, Any]) -> bytes:
    """Return a record as YAML that the registry takes.

    Raises:
        InputProblemsError: the schema refuses it.
    """
    import yaml  # noqa: PLC0415 - only records need it

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        """Writes text of several lines behind a bar."""

    def text(dumper: Any, value: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, text)
    content: str = yaml.dump(dict(record), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=10**6)
    _, issues = _checked(content.encode(), "the record")
    if issues:
        raise InputProblemsError(issues)
    return content.encode()


def slug(name: str, curators: tuple[str, ...], year: int) -> str:
    """Return the address of a record in the registry.

    Args:
        name: of the deployment.
        curators: of its data.
        year: of publication.
    """
    return "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in (name, *curators, str(year)))


def _read(path: Path) -> tuple[Mapping[str, Any], list[Issue]]:
    return _checked(read_whole(path, LARGEST_RECORD), path.name)


def _checked(content: bytes, name: str) -> tuple[Mapping[str, Any], list[Issue]]:
    """Return a record and every reason to refuse it."""
    import yaml  # noqa: PLC0415 - only records need it
    from jsonschema import Draft7Validator  # noqa: PLC0415 - as above

    issues: list[Issue] = []
    try:
        text = content.decode()
        depth = 0
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            depth += isinstance(token, yaml.FlowSequenceStartToken | yaml.FlowMappingStartToken)
            if depth > _MOST_BRACKETS:  # reading them takes time by the square of their number
                return {}, [Issue((name,), f"The record has more than {_MOST_BRACKETS} lists in brackets.", _SCHEMA)]
            if isinstance(token, yaml.AliasToken):
                sentence = "The record names a part of itself instead of saying it."
                issues.append(Issue((name,), sentence, "Write the part out.", line=token.start_mark.line + 1))
            if isinstance(token, yaml.ScalarToken) and token.style == ">":
                sentence = "Text of several lines is folded (>), which loses its lines."
                issues.append(Issue((name,), sentence, _LOSSLESS, line=token.start_mark.line + 1))
        record = {} if issues else yaml.load(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        return {}, [Issue((name,), f"The record is no YAML: {' '.join(str(error).split())[:120]}.", "Correct it.")]
    if not issues:
        validator = Draft7Validator(_schema(), format_checker=Draft7Validator.FORMAT_CHECKER)
        for found in sorted(validator.iter_errors(record), key=lambda each: list(map(str, each.absolute_path))):
            place = (name, *map(str, found.absolute_path))
            issues.append(Issue(place, f"{found.message[:200]}.", _SCHEMA))
    return record if isinstance(record, dict) else {}, issues


@lru_cache(maxsize=1)
def _schema() -> Mapping[str, Any]:
    import yaml  # noqa: PLC0415 - only records need it

    schema: Mapping[str, Any] = yaml.safe_load(resource("published/deployments-schema.yaml").read_text("utf-8"))
    return schema
