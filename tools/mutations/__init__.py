"""What `tools.mutants` breaks, a table for each game: the rule, the file, the text to replace and what with."""
