"""The core: games are created, changed and read here, by the rules of `engine` and in the `store`.

It knows no gRPC, no HTTP and no protobuf. It takes and returns values, raises the exceptions in `errors`, and takes a
`Deadline` for the time that remains.

| module | holds |
|---|---|
| `game` | `StoredGame`, the immutable value of a game, and its head |
| `kinds` | the kinds of game that this release offers |
| `repository` | `GameRepository`, which creates, reads, changes and deletes games |
| `reservations` | the ids that NewGame requests reserve |
| `quotas` | how many games an API key may have |
| `cache` | games decoded recently, and a lock per game |
"""

from service.games.deadline import Deadline
from service.games.game import NewGame, RequestedMove, StoredGame, nonce_of, version_of
from service.games.kinds import Kind, all_kinds
from service.games.quotas import Quotas
from service.games.repository import AppliedMove, GameRepository, GameUpdate, Removal

__all__ = [
    "AppliedMove",
    "Deadline",
    "GameRepository",
    "GameUpdate",
    "Kind",
    "NewGame",
    "Quotas",
    "Removal",
    "RequestedMove",
    "StoredGame",
    "all_kinds",
    "nonce_of",
    "version_of",
]
