"""PHSafe for the S-DHC: household tables with truncation and noise on every number."""
