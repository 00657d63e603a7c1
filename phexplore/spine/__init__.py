"""Geographic spines: built, described, and the variances they give."""
