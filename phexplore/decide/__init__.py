"""From numbers to a decision: rules, comparison, frontier, committees, approvals, signed bundles."""
