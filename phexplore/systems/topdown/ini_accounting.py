"""Which privacy framework a chain of DAS ``.ini`` files chooses, and what in it contradicts that choice.

Production refuses a mechanism that does not belong to the framework, and reads the total from one key only. A file that
states more than one of them was meant differently from what would run: both places are named.
"""

from __future__ import annotations

from collections.abc import Iterator

from phexplore.model.issues import Issue, Severity
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.topdown.ini_text import EffectiveIni, IniValue

FRAMEWORKS = {"zcdp": PrivacyFramework.ZCDP, "pure_dp": PrivacyFramework.PURE_DP}
FRAMEWORK_WORDS = {framework: word for word, framework in FRAMEWORKS.items()}
TOTALS = {PrivacyFramework.ZCDP: "global_scale", PrivacyFramework.PURE_DP: "epsilon_budget_total"}
"""The key of [budget] that holds the total under each framework."""

MECHANISMS = {
    PrivacyFramework.ZCDP: "discrete_gaussian_mechanism",
    PrivacyFramework.PURE_DP: "geometric_mechanism",
}
_FRAMEWORK_OF = {
    **{mechanism: framework for framework, mechanism in MECHANISMS.items()},
    "rounded_continuous_gaussian_mechanism": PrivacyFramework.ZCDP,
    "float_discrete_gaussian_mechanism": PrivacyFramework.ZCDP,
}


def chosen_framework(ini: EffectiveIni) -> tuple[PrivacyFramework | None, tuple[Issue, ...]]:
    """Return the framework that a chain chooses, and what contradicts it.

    Returns:
        The framework, None when it is unknown or contradicted; and errors and warnings at their lines.
    """
    stated = ini.stated("budget", "privacy_framework")
    if stated is None:
        has_scale = ini.stated("budget", TOTALS[PrivacyFramework.ZCDP]) is not None
        framework = PrivacyFramework.ZCDP if has_scale else PrivacyFramework.PURE_DP
    elif stated.text.lower() in FRAMEWORKS:
        framework = FRAMEWORKS[stated.text.lower()]
    else:
        return None, (
            ini.issue(stated, f"{stated.text!r} is no privacy framework.", "Write zcdp or pure_dp."),
        )  # fmt: skip
    issues = (*_mechanism_issues(ini, framework, stated), *_total_issues(ini, framework))
    refused = any(issue.severity is Severity.ERROR for issue in issues)
    return None if refused else framework, issues


def _mechanism_issues(ini: EffectiveIni, framework: PrivacyFramework, stated: IniValue | None) -> Iterator[Issue]:
    value = ini.stated("budget", "dp_mechanism")
    if value is None:
        return
    if (owner := _FRAMEWORK_OF.get(value.text)) is None:
        yield ini.issue(value, f"{value.text!r} is no known mechanism.", f"Write one of {', '.join(_FRAMEWORK_OF)}.")
    elif owner is not framework:
        unused = ini.stated("budget", TOTALS[owner])
        chosen = (
            f"the privacy framework is {FRAMEWORK_WORDS[framework]} because no other is stated"
            if stated is None
            else f"the privacy framework is {stated.text} ({ini.place(stated)})"
        )
        rest = "" if unused is None else f"; {unused.written} = {unused.text} ({ini.place(unused)}) would not be used"
        other = stated is None and ini.stated("budget", TOTALS[framework])
        if other:
            rest += f"; {other.written} = {other.text} ({ini.place(other)}) would be the total"
        yield ini.issue(
            value,
            f"The mechanism {value.text} belongs to {FRAMEWORK_WORDS[owner]}, but {chosen}{rest}. Production stops here.",
            f"Write privacy_framework = {FRAMEWORK_WORDS[owner]} with {TOTALS[owner]}, or dp_mechanism = {MECHANISMS[framework]}.",
        )
    elif value.text not in MECHANISMS.values():
        yield ini.issue(
            value, f"The mechanism {value.text} is for experiments; figures here are those of {MECHANISMS[framework]}.",
            f"Write {MECHANISMS[framework]} before a release.", Severity.WARNING,
        )  # fmt: skip


def _total_issues(ini: EffectiveIni, framework: PrivacyFramework) -> Iterator[Issue]:
    (other,) = (key for owner, key in TOTALS.items() if owner is not framework)
    used, unused = ini.stated("budget", TOTALS[framework]), ini.stated("budget", other)
    if used is not None and unused is not None:
        yield ini.issue(
            unused,
            f"{unused.written} = {unused.text} is not used: under {FRAMEWORK_WORDS[framework]} the total is "
            f"{used.written} = {used.text} ({ini.place(used)}).",
            "Remove the one that is not meant.",
            Severity.WARNING,
        )
