"""Values: scenarios and their parameters, declared fields, goals, rules, edits, differences; the standard library alone."""
