"""Whole games, played through a service of their own by one client per seat, told as they happen, and verified.

Run it with `python -m clients.demo`. A kind of game adds a module here, as `clients.demo.protocols` describes it, and its
line in `__main__`. The last game is told live, by a spectator who watches it.
"""
