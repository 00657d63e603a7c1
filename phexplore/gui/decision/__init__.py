"""Pages of a decision: comparison, committee, meeting, approval, bundles."""
