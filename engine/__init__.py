"""The rules of the games: pure functions over immutable values.

Nothing here reads a clock, draws global randomness, touches a network or knows how games are served. `engine.game`
says what a game is, `engine.catalogue` lists the games there are, and each game is a package with the same rooms:
`components` (what is in the box), `state` (immutable values), `rules` (set-up, legal moves, apply, end, score) and
`view` (what a seat may see).
"""
