"""The provenance of data: synthetic, imputed, published or real, with its source, and the words for each."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Mapping

from phexplore.model.fields import Declared, declared, parameter
from phexplore.model.kinds import Choice, Text


class ProvenanceKind(enum.Enum):
    """The origin of data. Files and results contain the value; in a mixture, the last kind in this order prevails."""

    SYNTHETIC = "synthetic"
    """Made up: no record describes a real person, housing unit or place."""
    PUBLISHED = "published"
    """Released to the public by its producer."""
    IMPUTED = "imputed"
    """Partly filled in by a rule from published or real data."""
    REAL = "real"
    """Data without a mark of origin: possibly confidential."""


_TITLES = {
    ProvenanceKind.SYNTHETIC: "Synthetic data",
    ProvenanceKind.PUBLISHED: "Published data",
    ProvenanceKind.IMPUTED: "Partly imputed data",
    ProvenanceKind.REAL: "Unmarked data",
}
_MEANINGS = {
    ProvenanceKind.SYNTHETIC: "No count describes a real person or place.",
    ProvenanceKind.PUBLISHED: "The counts come from files released to the public.",
    ProvenanceKind.IMPUTED: "A rule filled in some characteristics; these counts were not collected.",
    ProvenanceKind.REAL: "The data have no mark of synthetic or published origin.",
}


@declared
class Provenance(Declared):
    """The origin of data.

    Attributes:
        kind: synthetic, published, imputed or real.
        source: program, product or file layout that is the origin of the data, and the basis of this statement.
    """

    kind: ProvenanceKind = parameter(Choice(ProvenanceKind))
    source: str = parameter(Text())

    @property
    def is_synthetic(self) -> bool:
        """Whether no record describes a real person or place."""
        return self.kind is ProvenanceKind.SYNTHETIC

    @property
    def title(self) -> str:
        """Two words for titles and labels, e.g. ``Synthetic data``."""
        return _TITLES[self.kind]

    @property
    def words(self) -> str:
        """The title inside a sentence, e.g. ``synthetic data``."""
        return self.title[0].lower() + self.title[1:]

    @property
    def meaning(self) -> str:
        """One sentence that says what the kind means for every count."""
        return _MEANINGS[self.kind]

    @property
    def sentence(self) -> str:
        """The statement on every result: the kind, its meaning and the source."""
        return f"{self.title}. {self.meaning} Source: {self.source}."

    def mark_of_counts(self) -> dict[str, object]:
        """Return what a file of exact counts of these data says about itself."""
        is_real = self.kind is ProvenanceKind.REAL
        label = "CONFIDENTIAL: exact counts, not protected." if is_real else f"Exact counts. {self.sentence}"
        return {"confidential": is_real, "label": label, "provenance": self.json()}

    def json(self) -> dict[str, str]:
        """Return the provenance as it is written into files."""
        return {"kind": self.kind.value, "source": self.source}

    def listed(self, digests: Mapping[str, str]) -> bytes:
        """Return the content of ``provenance.json`` next to tables that have no place for a mark.

        Args:
            digests: SHA-256 of each of these tables by file name.
        """
        content = {**self.json(), "files": dict(digests)}
        return f"{json.dumps(content, ensure_ascii=False, indent=2)}\n".encode()


UNMARKED = Provenance(ProvenanceKind.REAL, "the data carry no mark of their origin")
"""Of data that nobody marked: the safe default."""


def together(parts: Iterable[Provenance]) -> Provenance:
    """Return the provenance of several parts: the kind that prevails, with all sources; those of another kind are named as such.

    Args:
        parts: at least one; none counts as unmarked.
    """
    found = list(parts)
    order = list(ProvenanceKind)
    kind = max((part.kind for part in found), key=order.index, default=ProvenanceKind.REAL)
    sources = dict.fromkeys(part.source if part.kind is kind else f"{part.words}, {part.source}" for part in found)
    return Provenance(kind, "; ".join(sources)) if sources else UNMARKED
