"""Tables of parameters: shown, typed into, moved to and from spreadsheets; what stands in them is said by the rooms."""
