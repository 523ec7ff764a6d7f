"""Who may call: tokens and API keys."""
