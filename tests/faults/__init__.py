"""Faults of processes, stores and networks, on real processes and real servers."""
