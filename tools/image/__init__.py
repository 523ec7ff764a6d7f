"""The container image: its build, the list of its packages, and the scan of that list."""
