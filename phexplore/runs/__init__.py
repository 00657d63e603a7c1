"""Simulation runs: specification, store, worker process, queue, confidentiality."""
