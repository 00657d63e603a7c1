"""Geographic spines: construction, description, and predicted variances."""
