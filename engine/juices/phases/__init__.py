"""The phases of Juices, and how they follow each other.

A round is a sequence of phases. So is a turn of Solo, and so is the effect of coffee (`sequences`). `State.agenda` is
the stack of the phases to come. A phase can require decisions of seats (`State.asks`). The seats decide concurrently,
and the next phase begins when no decision is open (`runner`). A phase that needs further decisions puts itself on the
stack again; a phase that causes other phases puts those on the stack.

Each phase is a module. For each kind of decision, the function that returns the legal moves and the function that
applies a move are next to each other. The functions that begin a phase or apply a move change the `MutableState` in
place.
"""

from engine.juices.mutable_state import MutableState
from engine.juices.state import State

ReadableState = State | MutableState
"""The argument type of functions that read a state and do not change it."""
