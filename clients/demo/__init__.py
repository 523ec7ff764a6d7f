"""A demo: complete games, each seat with a client of its own, narrated while they are played, and verified.

Run it with `python -m clients.demo`; it starts a service of its own. To add a kind of game, add a module that
implements `clients.demo.protocols.GameDemo` and an entry in `__main__`. A spectator narrates the last game live.
"""
