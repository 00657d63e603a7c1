"""The files of the program: codecs, schemas, journal, atomic writes."""
