"""The program in Python: scenarios, forecasts, decisions, runs and data as values, frames and matplotlib axes."""
