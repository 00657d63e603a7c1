"""The systems and their common interface: protocol, registry, sources of scenarios."""
