"""Documents in HTML, PDF and workbooks, and output for terminals."""
