"""TopDown: noisy histograms at every geography level, made consistent from the top down."""
