"""Text as values: messages and their readers, catalogs, the glossary, and verbatim quotations."""
