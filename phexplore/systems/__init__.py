"""The systems and what every one of them can answer: protocol, registry, sources of scenarios."""
