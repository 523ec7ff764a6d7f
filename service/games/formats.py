"""The format of values: what the store keeps of a game, as bytes.

A value begins with a byte, the number of its format. The rest is MessagePack:

    meta     [kind, options, seat count, sealed, private, seed, rules version, key id, fixed seed, owner]
    state    [[[version, nonce, [seat, …]], …], snapshot]: the open decisions by the commit that opened them, and the
             state of the game
    entry    [seat, move, events]: one version of the log. The creation has no seat, and an empty move
    archive  deflated: [[format, …], [time, …], [seat, …], [move, …], [events, …]]: all versions of a game that is over.
             The first time is that of version 1, in Unix ms, and each other one the difference to the one before; the
             time of the last version is beside the value, as for an entry

Options, snapshots, moves and events are encoded by the kind of game, in the schema that `SCHEMAS` gives for the
format. A value whose first byte is 0 is encrypted; see `service.games.encryption`.

**Releases.** Stored games outlive releases. A release reads every format up to its newest. It writes the active format,
whose number is in the store: its newest, or the one before as long as servers of the release before may still run. A
release that changes anything here, or the schema of a game, adds a format, and leaves the earlier ones as they are.
Entries keep the format in which they were written, also in an archive.
"""

import itertools
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from engine.codec import UnknownSchema, encode
from service.games.errors import UnreadableRecord
from service.games.game import Meta, StoredGame
from service.games.kinds import Kind
from service.store import Archive, Log, Record

NEWEST: Final = 1
"""The newest format that this release reads and writes."""
OLDEST_WRITTEN: Final = max(1, NEWEST - 1)
"""The oldest format that this release writes."""
SCHEMAS: Final[Mapping[int, Mapping[str, int]]] = {1: {"soda_jerk": 1, "soda_smugglers": 1, "juices": 1}}
"""The schema of every kind of game, by format."""

_DEFLATE_LEVEL: Final = 9
_RAW_DEFLATE: Final = -15


class Cipher(Protocol):
    """Encrypts values; see `service.games.encryption`."""

    def encrypt(self, game_id: str, part: bytes, value: bytes) -> bytes:
        """Return the encrypted value. It begins with a byte 0."""

    def decrypt(self, game_id: str, part: bytes, encrypted: bytes) -> bytes:
        """Return the value.

        Raises:
            UnreadableRecord: its key is missing.
        """


class RawEntry(NamedTuple):
    """One version of a log, decoded as far as its kind of game does not matter.

    Attributes:
        version: the version.
        committed_at: when it was committed, in Unix milliseconds by the store's clock.
        format: the format of `move` and `events`.
        seat: the seat that moved; None for the creation.
        move: its move, encoded; empty for the creation.
        events: all events, encoded.
    """

    version: int
    committed_at: int
    format: int
    seat: int | None
    move: bytes
    events: bytes


class Change(NamedTuple):
    """One version of a game.

    Attributes:
        version: the version.
        committed_at: when it was committed, in Unix milliseconds by the store's clock.
        seat: the seat that moved; None for the creation.
        move: its move; None for the creation.
        events: all events.
    """

    version: int
    committed_at: int
    seat: int | None
    move: Any
    events: tuple[Any, ...]


class _Meta(msgspec.Struct, frozen=True, array_like=True):
    kind: str
    options: bytes
    seat_count: int
    sealed: bool
    private: bool
    seed: bytes
    rules_version: int
    key_id: str
    fixed_seed: bool
    owner: str


class _State(msgspec.Struct, frozen=True, array_like=True):
    decisions: tuple[tuple[int, bytes, tuple[int, ...]], ...]
    snapshot: bytes


class _Entry(msgspec.Struct, frozen=True, array_like=True):
    seat: int | None
    move: bytes
    events: bytes


class _Archive(msgspec.Struct, frozen=True, array_like=True):
    formats: list[int]
    times: list[int]
    seats: list[int | None]
    moves: list[bytes]
    events: list[bytes]


_decode_meta = msgspec.msgpack.Decoder(_Meta).decode
_decode_state = msgspec.msgpack.Decoder(_State).decode
_decode_entry = msgspec.msgpack.Decoder(_Entry).decode
_decode_archive = msgspec.msgpack.Decoder(_Archive).decode


class Values:
    """Encodes and decodes the values of games. Thread-safe.

    Args:
        kinds: the kinds of game, by name.
        active_format: returns the format to write.
        cipher: encrypts values; None stores them as they are.

    Raises:
        UnknownSchema: a kind of game lacks the schema that `SCHEMAS` gives for a format.

    Decoding raises `UnreadableRecord` if another release wrote a value in a form that this one does not know.
    """

    def __init__(
        self, kinds: Mapping[str, Kind], *, active_format: Callable[[], int] = lambda: NEWEST, cipher: Cipher | None
    ) -> None:
        for number, kind in itertools.product(SCHEMAS, kinds.values()):
            kind.codec.require(schema_of(kind, number))
        self._kinds = kinds
        self._active_format = active_format
        self._cipher = cipher

    # --- Encoding -----------------------------------------------------------------------------------------------------

    def meta(self, game_id: str, meta: Meta) -> bytes:
        """Encode what never changes."""
        number = self._active_format()
        options = self._kinds[meta.kind].codec.encode_options(meta.options, schema_of(self._kinds[meta.kind], number))
        fields = {name: getattr(meta, name) for name in meta.__struct_fields__}
        return self._value(game_id, b"meta", number, encode(_Meta(**fields | {"options": options})))

    def state(self, game: StoredGame) -> bytes:
        """Encode what the newest commit left."""
        opened: dict[str, list[int]] = {}
        for seat, head in game.decisions.items():
            opened.setdefault(head, []).append(seat)
        number = self._active_format()
        decisions = []
        for head, seats in opened.items():
            version, _, nonce = head.partition("-")
            decisions.append((int(version), bytes.fromhex(nonce), seats))
        snapshot = game.kind.codec.encode_snapshot(game.state, schema_of(game.kind, number))
        return self._value(game.game_id, b"state", number, encode((decisions, snapshot)))

    def entry(self, kind: Kind, version: int, seat: int | None, move: Any, events: tuple[Any, ...]) -> RawEntry:
        """Encode one version; the creation has no move. The store sets its time."""
        number = self._active_format()
        schema = schema_of(kind, number)
        encoded = b"" if move is None else kind.codec.encode_move(move, schema)
        return RawEntry(version, 0, number, seat, encoded, kind.codec.encode_events(events, schema))

    def entry_value(self, game_id: str, entry: RawEntry) -> bytes:
        """Return the value of an entry of the log."""
        return self._value(game_id, _part(entry.version), entry.format, encode((entry.seat, entry.move, entry.events)))

    def archive_value(self, game_id: str, entries: Sequence[RawEntry]) -> bytes:
        """Return the value of an archive of all versions, of which the last is about to be committed."""
        times = [entry.committed_at for entry in entries[:-1]]
        columns = (
            [entry.format for entry in entries],
            [after - before for before, after in zip([0, *times], times, strict=False)],
            [entry.seat for entry in entries],
            [entry.move for entry in entries],
            [entry.events for entry in entries],
        )
        deflate = zlib.compressobj(_DEFLATE_LEVEL, zlib.DEFLATED, _RAW_DEFLATE)
        deflated = deflate.compress(encode(columns)) + deflate.flush()
        return self._value(game_id, b"archive", self._active_format(), deflated)

    def _value(self, game_id: str, part: bytes, number: int, data: bytes) -> bytes:
        value = bytes((number,)) + data
        return value if self._cipher is None else self._cipher.encrypt(game_id, part, value)

    # --- Decoding -----------------------------------------------------------------------------------------------------

    def game(self, game_id: str, record: Record) -> StoredGame:
        """Decode a game.

        Raises:
            UnreadableRecord: another release stored it, maybe one that offers more kinds of game.
        """
        number, data = self._data(game_id, b"meta", record.meta)
        stored = _decode_meta(data)
        if stored.kind not in self._kinds:
            raise UnreadableRecord("the game is of a kind that this release does not offer")
        kind = self._kinds[stored.kind]
        fields = {name: getattr(stored, name) for name in stored.__struct_fields__}
        options = _decoded(kind.codec.decode_options, stored.options, schema_of(kind, number))
        _, data = self._data(game_id, b"state", record.state)
        state = _decode_state(data)
        decisions = {seat: f"{version}-{nonce.hex()}" for version, nonce, seats in state.decisions for seat in seats}
        return StoredGame(
            game_id=game_id,
            kind=kind,
            meta=Meta(**fields | {"options": options}),
            head=record.head,
            state=_decoded(kind.codec.decode_snapshot, state.snapshot),
            decisions=dict(sorted(decisions.items())),
            created_at=record.created_at,
            updated_at=record.updated_at,
            expires_at=record.expires_at,
        )

    def owner(self, game_id: str, meta: bytes) -> str | None:
        """Return the owner of a game of any kind; None if another release wrote it in an unknown form."""
        try:
            return _decode_meta(self._data(game_id, b"meta", meta)[1]).owner
        except (UnreadableRecord, msgspec.DecodeError):
            return None

    def raw_entries(self, game_id: str, log: Log) -> list[RawEntry]:
        """Decode a part of a log, in order; an archive yields all its versions."""
        entries: list[RawEntry] = []
        for element in log:
            if isinstance(element, Archive):
                entries += self._archived(game_id, element)
            else:
                number, data = self._data(game_id, _part(element.version), element.value)
                entry = _decode_entry(data)
                entries.append(
                    RawEntry(element.version, element.committed_at, number, entry.seat, entry.move, entry.events)
                )
        return entries

    def _archived(self, game_id: str, archive: Archive) -> Iterable[RawEntry]:
        _, data = self._data(game_id, b"archive", archive.value)
        columns = _decode_archive(zlib.decompress(data, _RAW_DEFLATE))
        times, moment = [], 0
        for difference in columns.times:
            moment += difference
            times.append(moment)
        times.append(archive.committed_at)
        rows = zip(times, columns.formats, columns.seats, columns.moves, columns.events, strict=True)
        return [RawEntry(version, *row) for version, row in enumerate(rows, start=1)]

    def changes(self, kind: Kind, entries: Iterable[RawEntry]) -> list[Change]:
        """Decode the moves and events of entries."""
        changes = []
        for version, committed_at, number, seat, move, events in entries:
            schema = schema_of(kind, number)
            decoded = _decoded(kind.codec.decode_move, move, schema) if move else None
            happened = _decoded(kind.codec.decode_events, events, schema)
            changes.append(Change(version, committed_at, seat, decoded, happened))
        return changes

    def _data(self, game_id: str, part: bytes, value: bytes) -> tuple[int, bytes]:
        """Return the format of a value, and its data."""
        if value[:1] == b"\0":
            if self._cipher is None:
                raise UnreadableRecord("a value is encrypted, and this server has no encryption keys")
            value = self._cipher.decrypt(game_id, part, value)
        if not value or not 0 < value[0] <= NEWEST:
            raise UnreadableRecord(f"a value has format {list(value[:1])}; this release reads formats 1 to {NEWEST}")
        return value[0], value[1:]


def _part(version: int) -> bytes:
    """Return the part of a game that an entry of its log is."""
    return b"entry %d" % version


def _decoded(decode: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return decode(*arguments)
    except UnknownSchema as error:
        raise UnreadableRecord(str(error)) from None


def schema_of(kind: Kind, number: int) -> int:
    """Return the schema of a kind of game in a format. A kind outside the catalogue has its own."""
    return SCHEMAS.get(number, {}).get(kind.name, kind.game.about.schema)


def cipher_of(keys: Mapping[str, bytes]) -> Cipher | None:
    """Return what encrypts the values of games; None without keys.

    Raises:
        ValueError: the extra `encryption` is missing.
    """
    if not keys:
        return None
    try:
        from service.games.encryption import KeyRing
    except ModuleNotFoundError:
        raise ValueError(
            "there are encryption keys, but `cryptography` is missing: install the extra `encryption`"
        ) from None
    return KeyRing(list(keys.values()))


def encrypting_key(value: bytes, keys: Mapping[str, bytes]) -> str | None:
    """Return the id of the key that encrypted a value, or the key's fingerprint if it is missing; None in the clear."""
    if value[:1] != b"\0":
        return None
    from service.games.encryption import fingerprint, fingerprint_in

    found = fingerprint_in(value)
    return next((name for name, key in keys.items() if fingerprint(key) == found), f"fingerprint {found.hex()}")


def fingerprints(keys: Mapping[str, bytes]) -> dict[str, str]:
    """Return the fingerprints of encryption keys, in hexadecimal, by the ids of the keys."""
    from service.games.encryption import fingerprint

    return {name: fingerprint(key).hex() for name, key in keys.items()}
