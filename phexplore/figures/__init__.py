"""Pictures and tables as values, drawn by the screen, by reports and by files."""
