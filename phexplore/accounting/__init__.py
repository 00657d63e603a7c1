"""Privacy loss: zCDP, its conversions to (ε, δ), and the calibration of noise."""
