"""A project in memory: its versions, undo, and the journal of unsaved edits."""
