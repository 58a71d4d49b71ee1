"""The page that people open: sections of texts, tables, charts and a reader, in one file."""
