"""The files of the program and how they are written: codecs, schemas, journal, atomic writes."""
