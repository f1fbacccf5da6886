"""Results for people and other programs: formats, columns, tables, charts, sentences and files."""
