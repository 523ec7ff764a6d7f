"""The phases of Juices, one module for each that asks something.

For what a seat may be asked, `legal_moves` and `apply` of a module stand beside each other. `apply` functions and the
functions that begin a phase change the table that they are given.
"""

from engine.juices.state import State
from engine.juices.table import Table

Position = State | Table
"""What can be read of a game, whether it is being changed or not."""
