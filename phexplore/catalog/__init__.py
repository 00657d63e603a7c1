"""What the program ships and does not compute: tables, states, races, presets, licences."""
