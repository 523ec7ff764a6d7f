"""The rules of the games: pure functions over immutable values.

No module reads a clock, draws global randomness, uses a network or knows how games are served. `engine.game` defines
what a game is, and `engine.catalogue` lists the games. Each game is a package with the same modules:

    components  what is in the box, as tables
    state       options, moves and the state: immutable values
    events      what happens in a game
    setup       how a game starts
    rules       which seats must act, legal moves, apply; what comes next. `phases/` where one file is too small
    scoring     points and the standings
    view        what a viewer may know
    texts       labels, prompts and sentences for people
    notation    moves and positions as text

`view` and the rules do not import each other.
"""
