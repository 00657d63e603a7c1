"""The release algorithms: exact counts of PHSafe and its noise."""
