"""Controls that the toolkit does not have."""
