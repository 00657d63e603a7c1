"""Values: scenarios and their parameters, declared fields, goals, rules, edits, differences; uses only the standard library."""
