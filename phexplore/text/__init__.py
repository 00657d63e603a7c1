"""Text as a value: messages and their readers, catalogs, the glossary, and quotations that nothing rewrites."""
