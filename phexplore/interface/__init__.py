"""Python interface: scenarios, forecasts, decisions, runs and data as values, frames and matplotlib axes."""
