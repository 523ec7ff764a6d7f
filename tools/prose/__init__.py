"""The words that the project avoids, and how often they occur.

`words.txt` is a dictionary for codespell, which `make lint` runs. Its settings are in pyproject.toml.
"""
