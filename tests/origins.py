"""Provenance of data in tests."""

from phexplore.model.provenance import Provenance, ProvenanceKind

SYNTHETIC = Provenance(ProvenanceKind.SYNTHETIC, "made by a test")
