"""One process that serves, or several: composition, settings, supervision."""
