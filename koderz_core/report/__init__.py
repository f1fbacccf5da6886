"""What leaves koderz for people and other programs: formats, tables, files."""
