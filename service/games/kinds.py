"""The kinds of game that the service offers: their rules, and the encoding of their values."""

from collections.abc import Mapping

from engine.catalogue import GAMES, PREVIOUS
from engine.codec import Codec
from engine.game import AnyGame


class Kind:
    """A kind of game.

    Attributes:
        name: its name, which is also its field in every `oneof game` of the contract.
        game: its rules.
        codec: encodes and decodes its values.
    """

    def __init__(self, game: AnyGame) -> None:
        self.name = game.about.kind
        self.game = game
        self.codec = Codec(game, PREVIOUS.get(self.name, ()))


def all_kinds() -> Mapping[str, Kind]:
    """Return every kind in the engine's catalogue, by name."""
    return {name: Kind(game) for name, game in GAMES.items()}
