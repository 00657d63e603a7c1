"""Documents in HTML, PDF and workbooks, and what terminals print."""
