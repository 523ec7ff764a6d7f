"""Hidden information is never exposed: not by responses, errors and their sizes, logs, health or reflection."""
