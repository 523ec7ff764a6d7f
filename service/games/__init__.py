"""The core: games are created, changed and read here, by the rules of `engine` and in the `store`.

It knows no gRPC, no HTTP and no protobuf. It takes and returns values, raises the exceptions in `errors`, and takes a
`Deadline` for the time that remains.

| module | holds |
|---|---|
| `game` | `StoredGame`, the immutable value of a game |
| `heads` | the head of a game, which identifies everything that led to it |
| `formats` | the format of what the store keeps |
| `kinds` | the kinds of game that this release offers |
| `repository` | `GameRepository`, which creates, reads, changes and deletes games |
| `reservations` | the ids that NewGame requests reserve |
| `quotas` | how many games an API key may have |
| `cache` | games decoded recently, and a lock per game |
"""

from service.games.deadline import Deadline
from service.games.formats import Change, Values
from service.games.game import NewGame, RequestedMove, StoredGame
from service.games.heads import version_of
from service.games.kinds import Kind, all_kinds
from service.games.quotas import Quotas
from service.games.repository import AppliedMove, GameRepository, GameUpdate, Removal

__all__ = [
    "AppliedMove",
    "Change",
    "Deadline",
    "GameRepository",
    "GameUpdate",
    "Kind",
    "NewGame",
    "Quotas",
    "Removal",
    "RequestedMove",
    "StoredGame",
    "Values",
    "all_kinds",
    "version_of",
]
