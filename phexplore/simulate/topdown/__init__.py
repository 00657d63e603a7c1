"""TopDown: measuring, estimating and rounding down the tree."""
