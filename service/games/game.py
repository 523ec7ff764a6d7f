"""A stored game as a value: everything that the store holds about it, decoded.

`StoredGame.apply` computes the result of a move. The store decides whether the move is committed: it compares and sets
the head.

**Heads and etags.** The head of a game is the version and the random nonce of its newest commit, written `7-9f…`. The
etag of a seat with an open decision is the head of the commit that opened the decision, so that moves of other seats do
not change it. Any other etag is the head.
"""

import hashlib
import os
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec

from engine import errors as engine_errors
from engine.codec import encode
from service.games.errors import (
    GameError,
    GameFinished,
    IllegalMove,
    InvalidField,
    KindNotOffered,
    NotYourTurn,
    StaleEtag,
)
from service.games.kinds import Kind
from service.store import Record


class Meta(msgspec.Struct, frozen=True, array_like=True, cache_hash=True):
    """The immutable facts of a game. Add new fields only at the end and with a default, since older games are stored.

    Attributes:
        kind: the name of its kind.
        options: the options as requested, encoded.
        seat_count: the number of seats.
        sealed: whether the history keeps hidden information hidden.
        seed: the seed, 32 bytes. Secret until the end.
        commitment: SHA-256 of the seed.
        rules_version: the version of the rules by which it is played.
        key_id: the key that signed its tokens.
        payload: a hash of the NewGame request.
        owner: the name of the API key that created it; empty without one.
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


class NewGame(NamedTuple):
    """A game to create.

    Attributes:
        kind: its kind.
        options: the engine's options.
        seat_count: the number of seats.
        sealed: whether the history keeps hidden information hidden.
        seed: the seed, 32 bytes.
        fixed_seed: whether the caller chose the seed.
        key_id: the key that signs its tokens.
        owner: the name of the API key; empty without one.
        request_id: the request id of NewGame; empty without one.
    """

    kind: Kind
    options: Any
    seat_count: int
    sealed: bool
    seed: bytes
    fixed_seed: bool
    key_id: str
    owner: str
    request_id: str

    def meta(self) -> Meta:
        """Return the facts of the game."""
        options = encode(self.options)
        fixed_seed = self.seed if self.fixed_seed else b""
        return Meta(
            kind=self.kind.name,
            options=options,
            seat_count=self.seat_count,
            sealed=self.sealed,
            seed=self.seed,
            commitment=hashlib.sha256(self.seed).digest(),
            rules_version=self.kind.game.about.rules_version,
            key_id=self.key_id,
            payload=digest(self.kind.name, options, str(self.seat_count), str(self.sealed), fixed_seed),
            owner=self.owner,
        )


class RequestedMove(NamedTuple):
    """A move as requested.

    Attributes:
        kind: the name of the kind of game that the move belongs to.
        move: the engine's move.
        encoded: the move, encoded.
        payload: a hash that identifies a repeat.
    """

    kind: str
    move: Any
    encoded: bytes
    payload: bytes

    @classmethod
    def of(cls, kind: str, move: Any) -> "RequestedMove":
        """Encode and hash a move."""
        encoded = encode(move)
        return cls(kind, move, encoded, digest(encoded))


class Transition(NamedTuple):
    """The result of a move that is not committed yet: the game after it, and all its events."""

    game: "StoredGame"
    events: tuple[Any, ...]


_decode_meta = msgspec.msgpack.Decoder(Meta).decode
_decode_decisions = msgspec.msgpack.Decoder(dict[int, str]).decode


# A nonce distinguishes branches of a forked history. Callers see nonces in etags and resume tokens, so they come from
# the operating system: the outputs of a predictable generator would reveal how many commits other games make. They are
# read in blocks, since a system call for each would cost more than the rest of a head.
_NONCE_BYTES: Final = 8
_BLOCK_BYTES: Final = 4096
_nonces: deque[str] = deque()  # its operations are atomic


def first_head() -> str:
    """Return the head of a new game."""
    return _head(1)


def version_of(head: str) -> int:
    """Return the version in a head."""
    return int(head.partition("-")[0])


def nonce_of(head: str) -> str:
    """Return the nonce in a head."""
    return head.partition("-")[2]


def _head(version: int) -> str:
    return f"{version}-{_nonce()}"


def _nonce() -> str:
    while True:
        try:
            return _nonces.popleft()
        except IndexError:
            block = os.urandom(_BLOCK_BYTES)
            starts = range(0, _BLOCK_BYTES, _NONCE_BYTES)
            _nonces.extend(block[start : start + _NONCE_BYTES].hex() for start in starts)


def digest(*parts: str | bytes) -> bytes:
    """Return a hash of the parts, each prefixed with its length: 16 bytes."""
    state = blake2b(digest_size=16)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(4, "big"))
        state.update(data)
    return state.digest()


def owner_of(meta: bytes) -> str | None:
    """Return the owner in the encoded meta of a game of any kind; None if a later release wrote it in another form."""
    try:
        return _decode_meta(meta).owner
    except msgspec.DecodeError:
        return None


def is_over(decisions: bytes) -> bool:
    """Return whether a game of any kind is over, from its encoded open decisions."""
    return not _decode_decisions(decisions)


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game and everything that the store holds about it.

    Attributes:
        game_id: its id.
        kind: its kind.
        meta: the facts that never change.
        head: the version and nonce of its newest commit.
        state: the engine's state.
        decisions: for each awaited seat, the head of the commit that opened its decision.
        expires_at: when it expires unless it is used, in Unix milliseconds.
    """

    game_id: str
    kind: Kind
    meta: Meta
    head: str
    state: Any
    decisions: Mapping[int, str]
    expires_at: int

    @classmethod
    def load(cls, game_id: str, record: Record, kinds: Mapping[str, Kind]) -> "StoredGame":
        """Decode a record of the store.

        Raises:
            KindNotOffered: the game is of an unknown kind.
        """
        meta = _decode_meta(record.meta)
        if meta.kind not in kinds:
            raise KindNotOffered
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
        """The number of commits; the creation is the first."""
        return version_of(self.head)

    @property
    def finished(self) -> bool:
        """Whether the game is over: no seat is awaited."""
        return not self.decisions

    @property
    def awaiting(self) -> tuple[int, ...]:
        """The awaited seats, ascending."""
        return tuple(self.decisions)

    def etag(self, viewer: int | None) -> str:
        """Return the etag of a viewer: of its open decision, or of the version if it has none."""
        return self.head if viewer is None else self.decisions.get(viewer, self.head)

    def check_seat(self, seat: int) -> None:
        """Check that a seat exists.

        Raises:
            InvalidField: the seat does not exist.
        """
        if not 0 <= seat < self.meta.seat_count:
            count = self.meta.seat_count
            raise self._rejection(InvalidField("seat", f"must be below {count}; this game has {count} seats"))

    def check_request(self, seat: int, requested: RequestedMove) -> None:
        """Check that a seat exists, and that a move belongs to this kind of game.

        Raises:
            InvalidField: one of them does not.
        """
        self.check_seat(seat)
        if requested.kind != self.kind.name:
            raise self._rejection(InvalidField("move.game", f"must be {self.kind.name}: that is the game being played"))

    def apply(self, seat: int, requested: RequestedMove, etag: str) -> Transition:
        """Compute the result of a move. An empty etag stands for the open decision.

        Raises:
            InvalidField: the seat does not exist, or the move belongs to another kind of game.
            StaleEtag, GameFinished, NotYourTurn, IllegalMove: the move is rejected.
        """
        self.check_request(seat, requested)
        if etag and etag != self.etag(seat):
            message = "The etag is not that of the open decision: fetch the state and choose again."
            raise self._rejection(StaleEtag(message, version=self.version))
        try:
            state, events = self.kind.game.apply(self.state, seat, requested.move)
        except engine_errors.GameOver:
            raise self._rejection(GameFinished("The game is over.", version=self.version)) from None
        except engine_errors.NotYourTurn as error:
            raise self._rejection(NotYourTurn(str(error), version=self.version)) from None
        except engine_errors.IllegalMove as error:
            raise self._rejection(IllegalMove(str(error), version=self.version)) from None
        head = _head(self.version + 1)
        # A seat that is still awaited keeps its decision. The seat that moved gets a new one if it is awaited again.
        kept = {other: opened for other, opened in self.decisions.items() if other != seat}
        decisions = {other: kept.get(other, head) for other in self.kind.game.to_act(state)}
        return Transition(
            StoredGame(self.game_id, self.kind, self.meta, head, state, decisions, self.expires_at), events
        )

    def _rejection(self, error: GameError) -> GameError:
        """Return an error with the kind of this game."""
        error.game_kind = self.kind.name
        return error

    def with_expiry(self, expires_at: int) -> "StoredGame":
        """Return the same game with another expiry."""
        return StoredGame(self.game_id, self.kind, self.meta, self.head, self.state, self.decisions, expires_at)

    def snapshot(self) -> bytes:
        """Encode the state for the store."""
        return self.kind.codec.encode_snapshot(self.state)
