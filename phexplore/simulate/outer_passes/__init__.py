"""TopDown with several outer passes: sparse histograms, each pass rounded before the next."""
