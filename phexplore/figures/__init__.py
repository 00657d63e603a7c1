"""Charts and tables as values, for the screen, reports and files."""
