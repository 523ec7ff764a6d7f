"""The contract in other languages: its names, the code that generators write from it, and moves made by that code."""
