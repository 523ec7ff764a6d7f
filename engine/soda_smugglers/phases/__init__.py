"""The phases of a round of Soda Smugglers.

`rounds` starts and ends a round, `packing` is the travelers' phase, `border` the guard's turn. For each kind of move,
two functions are next to each other: one returns the moves of that kind, the other applies one.
"""
