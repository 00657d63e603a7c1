"""TopDown: noisy histograms at every level of the geography, made consistent from the top."""
