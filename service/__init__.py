"""The service that serves the games: settings, composition root, servicer, store, tokens, translators, telemetry."""
