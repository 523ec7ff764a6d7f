"""Nobody learns what is hidden: not from answers, refusals and their sizes, not from logs, health and reflection."""
