"""Pages of TopDown."""
