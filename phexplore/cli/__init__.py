"""The command line: verbs for every system; a room adds its own."""
