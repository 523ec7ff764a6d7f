"""A game as it lies on the table: what the store keeps, decoded, and the one way to change it.

A table is a value. `play` works out what a move would make of it; whether that happens is decided by the store's
compare-and-set on the head.

**Heads and etags.** The head of a game is the version and the random nonce of its newest commit, written `7-9f…`. A
seat's etag is the head of the commit that opened the decision it is asked for, so other seats' moves leave it alone;
everybody else's etag is the head.
"""

import random
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from engine.errors import GameOver, IllegalMove, NotYourTurn
from service.games.kinds import Kind
from service.store import Record
from service.transport.errors import Refusal, malformed
from sodafountain.v1 import errors_pb2 as pb


class Meta(msgspec.Struct, frozen=True, array_like=True, cache_hash=True):
    """What never changes about a game. Fields are only ever added, at the end and with a default.

    Attributes:
        kind: the kind's name.
        options: the encoded options as they were asked for.
        seat_count: how many seats.
        sealed: whether the history keeps its secrets.
        seed: the seed, 32 bytes. A secret until the end.
        commitment: the seed's SHA-256.
        rules_version: by which rules it is played.
        key_id: the key that signed its tokens.
        payload: the hash of what NewGame asked for.
        owner: the name of the API key that made it; empty without one.
    """

    kind: str
    options: bytes
    seat_count: int
    sealed: bool
    seed: bytes
    commitment: bytes
    rules_version: int
    key_id: str
    payload: bytes
    owner: str

    def __repr__(self) -> str:
        return f"Meta(kind={self.kind!r}, seat_count={self.seat_count})"


class Change(NamedTuple):
    """A move worked out but not committed: the table it would make, and the events in full."""

    table: "Table"
    events: tuple[Any, ...]


_decode_meta = msgspec.msgpack.Decoder(Meta).decode
_decode_decisions = msgspec.msgpack.Decoder(dict[int, str]).decode


# A nonce tells branches of a forked history apart. It gives nobody any right, so it need not be unguessable, and asking
# the operating system for each would cost more than the rest of a head.
_nonces = random.Random(secrets.token_bytes(16))  # noqa: S311


def first_head() -> str:
    """Draws the head of a new game."""
    return _head(1)


def version_of(head: str) -> int:
    """Reads the version out of a head."""
    return int(head.partition("-")[0])


def nonce_of(head: str) -> str:
    """Reads the nonce out of a head."""
    return head.partition("-")[2]


def _head(version: int) -> str:
    return f"{version}-{_nonces.getrandbits(64):016x}"


def owner_of(meta: bytes) -> str | None:
    """Reads out of the meta of a game of any kind which API key made it; None: a later release wrote it otherwise."""
    try:
        return _decode_meta(meta).owner
    except msgspec.DecodeError:
        return None


def is_over(decisions: bytes) -> bool:
    """Reads out of the open decisions of a game of any kind whether nobody is awaited."""
    return not _decode_decisions(decisions)


@dataclass(frozen=True, slots=True)
class Table:
    """A game and everything known about it.

    Attributes:
        game_id: its id.
        kind: its kind.
        meta: what never changes.
        head: the version and nonce of its newest commit.
        state: the engine's state.
        decisions: for each awaited seat the head of the commit that opened its decision.
        expires_at: Unix milliseconds at which it expires if nothing more happens.
    """

    game_id: str
    kind: Kind
    meta: Meta
    head: str
    state: Any
    decisions: Mapping[int, str]
    expires_at: int

    @classmethod
    def load(cls, game_id: str, record: Record, kinds: Mapping[str, Kind]) -> "Table":
        """Decodes what the store keeps.

        Raises:
            Refusal: UNIMPLEMENTED, the game is of a kind that this release does not offer.
        """
        meta = _decode_meta(record.meta)
        if meta.kind not in kinds:
            raise Refusal(pb.ERROR_REASON_UNIMPLEMENTED, "This release does not offer this kind of game.")
        kind = kinds[meta.kind]
        return cls(
            game_id=game_id,
            kind=kind,
            meta=meta,
            head=record.head,
            state=kind.codec.decode_snapshot(record.snapshot),
            decisions=_decode_decisions(record.decisions),
            expires_at=record.expires_at,
        )

    @property
    def version(self) -> int:
        """How many commits the game has seen; its creation is the first."""
        return version_of(self.head)

    @property
    def finished(self) -> bool:
        """Whether the game is over: nobody is awaited."""
        return not self.decisions

    @property
    def awaiting(self) -> tuple[int, ...]:
        """The awaited seats, in ascending order."""
        return tuple(self.decisions)

    def etag(self, viewer: int | None) -> str:
        """Tags the viewer's open decision, or the version where nothing is awaited from the viewer."""
        return self.head if viewer is None else self.decisions.get(viewer, self.head)

    def check_seat(self, seat: int) -> None:
        """Makes sure that there is such a seat.

        Raises:
            Refusal: MALFORMED.
        """
        if not 0 <= seat < self.meta.seat_count:
            raise malformed("seat", f"must be below {self.meta.seat_count}: that is how many seats this game has")

    def play(self, seat: int, move: Any, etag: str) -> Change:
        """Works out a move of a seat. An empty etag means the decision that is open now.

        Raises:
            Refusal: GAME_FINISHED, STALE_ETAG, NOT_YOUR_TURN or ILLEGAL_MOVE.
        """
        if etag and etag != self.etag(seat):
            raise Refusal(
                pb.ERROR_REASON_STALE_ETAG,
                "The etag belongs to another decision than the one open now: fetch the state and choose again.",
                version=self.version,
            )
        try:
            state, events = self.kind.game.apply(self.state, seat, move)
        except GameOver:
            raise Refusal(pb.ERROR_REASON_GAME_FINISHED, "The game is over.", version=self.version) from None
        except NotYourTurn as error:
            raise Refusal(pb.ERROR_REASON_NOT_YOUR_TURN, str(error), version=self.version) from None
        except IllegalMove as error:
            raise Refusal(pb.ERROR_REASON_ILLEGAL_MOVE, str(error), version=self.version) from None
        head = _head(self.version + 1)
        # A seat that was awaited and still is goes on with the same decision, unless it was the one that moved.
        kept = {other: opened for other, opened in self.decisions.items() if other != seat}
        decisions = {other: kept.get(other, head) for other in self.kind.game.to_act(state)}
        return Change(Table(self.game_id, self.kind, self.meta, head, state, decisions, self.expires_at), events)

    def expiring(self, expires_at: int) -> "Table":
        """The same table, expiring at that time."""
        return Table(self.game_id, self.kind, self.meta, self.head, self.state, self.decisions, expires_at)

    def snapshot(self) -> bytes:
        """Encodes the state for the store."""
        return self.kind.codec.encode_snapshot(self.state)
