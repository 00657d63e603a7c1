"""Tables of parameters: display, editing, exchange with spreadsheets; the package of each system supplies the content."""
