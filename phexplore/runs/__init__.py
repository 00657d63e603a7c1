"""Runs of simulations: specification, store, worker process, queue, what is confidential."""
