"""Translation between the engine's values and the messages of the contract, in both directions.

Requests become values before they enter the core: `Translation.requested_move` and `Translation.options_value`. Values
become messages in `Projection`; nothing about a game is sent without it. It shows a viewer only what the game's own
`view` and `view_event` allow, or facts that are always public (versions, awaited seats, scores).

| module | holds |
|---|---|
| `soda_jerk`, `soda_smugglers`, `juices` | each game's values and messages |
| `translator` | the protocol that each of these modules implements |
| `translation` | their messages, wrapped in the messages that all games share |
| `projection` | games, events, histories and scores as one viewer may see them |
| `commitment` | the commitment to the seed |
| `encoding` | times, and encoded messages assembled from encoded parts |
"""

from service.translation.projection import Projection
from service.translation.translation import Translation, all_translations
from service.translation.translator import MalformedMove, Translator

__all__ = ["MalformedMove", "Projection", "Translation", "Translator", "all_translations"]
