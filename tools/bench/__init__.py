"""Benchmarks of the service: `make bench`, or `python -m tools.bench`.

CPU time is that of the server process only, read from its own clock, so that the load generator is not included. Calls
are measured in blocks, each between two blocks of a no-op on the same server and connections. Results are ratios to the
no-op, because absolute times on a shared machine vary.
"""
