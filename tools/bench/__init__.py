"""What the service costs: `python -m tools.bench`, or `make bench`.

CPU is that of the serving process alone, read from its own clock, so that the load generator does not count. Calls
are timed in blocks, each between two blocks of a no-op on the same server and the same connections, and told as
ratios to it: on a machine that others share, absolute times mean little.
"""
