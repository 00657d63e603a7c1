"""A project in memory: its versions, undo, and the journal that survives a crash."""
