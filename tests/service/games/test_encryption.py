"""Encryption at rest: what the store holds, whose keys read it, and what is refused."""

import base64
import random
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from redis import Redis

from service.games.encryption import KEY_BYTES, KeyRing
from service.games.errors import UnreadableRecord
from service.games.formats import cipher_of
from service.store import StoreError
from service.store.keys import game_keys
from sodafountain.v1 import game_pb2, juices_pb2, soda_smugglers_pb2
from tests.support.command import error_line_in_process, run_in_process
from tests.support.game_clients import BASIC, Game, expect_error, new_game, play
from tests.support.in_process import in_process_stub
from tests.support.store_servers import eventually

GAME, OTHER_GAME = "a" * 26, "b" * 26
ONE, TWO = (bytes((fill,)) * KEY_BYTES for fill in b"12")
SEED: Final = bytes(range(200, 232))
KINDS: Final = {
    "soda_jerk": BASIC,
    "soda_smugglers": game_pb2.Options(soda_smugglers=soda_smugglers_pb2.SodaSmugglersOptions()),
    "juices": game_pb2.Options(juices=juices_pb2.JuicesOptions()),
}
HEAD, META, STATE, REQUESTS, LOG = range(5)
PRIVATE: Final = game_pb2.VISIBILITY_PRIVATE
REQUEST: Final = "6d3b6e6c-3c3d-4f0a-9d43-5f6d6d0c7a11"

encrypting: Final = partial(in_process_stub, encryption_keys={"one": ONE}, allow_fixed_seed=True)


@pytest.fixture
def data(store_url: str) -> Iterator[Any]:
    """A plain client of the store."""
    with Redis.from_url(store_url) as redis:
        yield redis


def elements(data: Any, game: Game) -> list[bytes]:
    return list(data.lrange(game_keys(game.game_id).game, 0, -1))


def values(data: Any, game: Game) -> list[bytes]:
    """Return the values of a stored game: its meta, its state, and its log without times."""
    stored = elements(data, game)
    return [stored[META], stored[STATE], *(entry[6:] for entry in stored[LOG:])]


# --- The key ring -----------------------------------------------------------------------------------------------------


def test_an_encrypted_value_is_decrypted_by_every_ring_with_its_key() -> None:
    encrypted = KeyRing([ONE]).encrypt(GAME, b"meta", b"value")
    assert KeyRing([ONE]).decrypt(GAME, b"meta", encrypted) == b"value"
    assert KeyRing([TWO, ONE]).decrypt(GAME, b"meta", encrypted) == b"value"


def test_equal_values_are_encrypted_differently() -> None:
    ring = KeyRing([ONE])
    assert len({ring.encrypt(GAME, b"meta", b"value") for _ in range(100)}) == 100


def test_a_value_is_33_bytes_longer_when_it_is_encrypted() -> None:
    assert len(KeyRing([ONE]).encrypt(GAME, b"meta", bytes(100))) == 133


def test_the_first_key_encrypts() -> None:
    encrypted = KeyRing([TWO, ONE]).encrypt(GAME, b"meta", b"value")
    assert KeyRing([TWO]).decrypt(GAME, b"meta", encrypted) == b"value"
    with pytest.raises(UnreadableRecord) as error:
        KeyRing([ONE]).decrypt(GAME, b"meta", encrypted)
    assert "which is missing" in error.value.problem


@pytest.mark.parametrize(("game", "part"), [(OTHER_GAME, b"meta"), (GAME, b"state")])
def test_a_value_cannot_take_the_place_of_another(game: str, part: bytes) -> None:
    ring = KeyRing([ONE])
    encrypted = ring.encrypt(GAME, b"meta", b"value")
    with pytest.raises(StoreError, match="was changed"):
        ring.decrypt(game, part, encrypted)


def test_a_value_with_any_bit_changed_is_refused() -> None:
    ring = KeyRing([ONE])
    encrypted = ring.encrypt(GAME, b"meta", b"value")
    for bit in range(8, 8 * len(encrypted)):  # byte 0 says that the value is encrypted
        changed = bytearray(encrypted)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises((StoreError, UnreadableRecord)):
            ring.decrypt(GAME, b"meta", bytes(changed))


@pytest.mark.parametrize("length", range(30))
def test_a_truncated_value_is_refused(length: int) -> None:
    ring = KeyRing([ONE])
    encrypted = ring.encrypt(GAME, b"meta", b"value")
    with pytest.raises((StoreError, UnreadableRecord)):
        ring.decrypt(GAME, b"meta", encrypted[:length])


@pytest.mark.parametrize("keys", [[], [b"short"], [ONE, bytes(33)]], ids=["none", "short", "long"])
def test_a_ring_requires_keys_of_32_bytes(keys: list[bytes]) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        KeyRing(keys)


def test_a_ring_does_not_show_its_keys() -> None:
    assert ONE.hex() not in repr(KeyRing([ONE]))
    assert str(ONE) not in repr(KeyRing([ONE]))


def test_encryption_without_its_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    monkeypatch.delitem(sys.modules, "service.games.encryption")
    with pytest.raises(ValueError, match="install the extra `encryption`"):
        cipher_of({"one": ONE})


# --- The service ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_store_holds_no_value_of_a_game_in_the_clear(store_url: str, data: Any, kind: str) -> None:
    with encrypting(store_url) as stub:
        game = new_game(stub, 3, KINDS[kind], seed=SEED)
        play(game, random.Random(1), moves=4)
        during = values(data, game)
        play(game, random.Random(1))
        after = values(data, game)
        assert {entry.version for entry in game.host.history().entries} > {1, 2}

    assert len(during) == 7
    assert [value[:1] for value in during + after] == [b"\0"] * len(during + after)
    everything = [element for key in data.scan_iter(f"*{game.game_id}*") for element in dumped(data, key)]
    assert len(everything) == 5
    for element in everything:
        assert SEED[:8] not in element
        assert kind.encode() not in element


def dumped(data: Any, key: bytes) -> list[bytes]:
    kind = data.type(key)
    if kind == b"list":
        return list(data.lrange(key, 0, -1))
    return [data.get(key)] if kind == b"string" else []


@pytest.mark.parametrize("kind", KINDS)
def test_the_store_holds_seed_and_kind_in_the_clear_without_keys(store_url: str, data: Any, kind: str) -> None:
    with in_process_stub(store_url, allow_fixed_seed=True) as stub:
        game = new_game(stub, 3, KINDS[kind], seed=SEED)
        meta = elements(data, game)[META]
    assert SEED in meta
    assert kind.encode() in meta


@pytest.mark.parametrize("keys", [{}, {"two": TWO}], ids=["without keys", "with another key"])
def test_a_server_without_the_key_answers_upgrading(store_url: str, keys: dict[str, bytes]) -> None:
    with encrypting(store_url) as stub, in_process_stub(store_url, encryption_keys=keys) as other:
        game = new_game(stub)
        mover = game.seats[game.created.state.awaiting_seats[0]]
        legal = mover.legal()
        foreign = mover.at(other)
        calls = (foreign.state, foreign.legal, partial(foreign.apply, legal.moves[0].move), foreign.score)
        for call in (*calls, foreign.history):
            error = expect_error(call)
            assert (error.code.name, error.reason) == ("UNAVAILABLE", "UPGRADING")
            assert error.retry is not None
        with_key = mover.apply(legal.moves[0].move)
    assert with_key.committed_version == 2


def test_keys_are_rotated_while_games_continue(store_url: str) -> None:
    with encrypting(store_url) as stub:
        game = new_game(stub)
        play(game, random.Random(1), moves=3)
    rings = ({"one": ONE, "two": TWO}, {"two": TWO, "one": ONE})
    with (
        in_process_stub(store_url, encryption_keys=rings[0]) as first,
        in_process_stub(store_url, encryption_keys=rings[1]) as second,
    ):
        for stub in (second, first, second):
            play(game.at(stub), random.Random(2), moves=2)
        assert game.at(first).host.state().version == 10
        play(game.at(second), random.Random(2))
        entries = game.at(first).host.history().entries
    assert [entry.version for entry in entries[:10]] == list(range(1, 11))


def test_a_rewritten_game_needs_the_old_key_for_what_is_old(store_url: str) -> None:
    with encrypting(store_url) as stub:
        game = new_game(stub)
    with in_process_stub(store_url, encryption_keys={"two": TWO, "one": ONE}) as stub:
        play(game.at(stub), random.Random(1), moves=1)
    with in_process_stub(store_url, encryption_keys={"two": TWO}) as stub:
        assert expect_error(game.at(stub).host.state).reason == "UPGRADING"  # its meta was not written again


def test_games_that_were_stored_in_the_clear_stay_readable(store_url: str, data: Any) -> None:
    with in_process_stub(store_url) as stub:
        game = new_game(stub)
    with encrypting(store_url) as stub:
        play(game.at(stub), random.Random(1), moves=1)
        assert game.at(stub).host.state().version == 2
    assert [value[:1] for value in values(data, game)] == [b"\1", b"\0", b"\1", b"\0"]


@pytest.mark.parametrize(("element", "taken_from"), [(META, STATE), (STATE, META)])
def test_a_moved_value_is_an_internal_error(store_url: str, data: Any, element: int, taken_from: int) -> None:
    with encrypting(store_url) as stub:
        game = new_game(stub)
    data.lset(game_keys(game.game_id).game, element, elements(data, game)[taken_from])
    with encrypting(store_url) as stub:
        error = expect_error(game.at(stub).spectator.state)
    assert (error.code.name, error.reason) == ("INTERNAL", "INTERNAL")


def test_a_value_of_another_game_is_an_internal_error(store_url: str, data: Any) -> None:
    with encrypting(store_url) as stub:
        game, other = new_game(stub), new_game(stub)
    data.lset(game_keys(game.game_id).game, STATE, elements(data, other)[STATE])
    with encrypting(store_url) as stub:
        assert expect_error(game.at(stub).spectator.state).reason == "INTERNAL"


def test_two_entries_of_a_log_cannot_be_exchanged(store_url: str, data: Any) -> None:
    with encrypting(store_url) as stub:
        game = new_game(stub)
        play(game, random.Random(1), moves=3)
    key, stored = game_keys(game.game_id).game, elements(data, game)
    for at, taken in ((LOG + 1, LOG + 2), (LOG + 2, LOG + 1)):
        data.lset(key, at, stored[at][:6] + stored[taken][6:])
    with encrypting(store_url) as stub:
        assert expect_error(game.at(stub).host.history).reason == "INTERNAL"


def test_a_request_id_gives_no_tokens_of_a_game_that_it_did_not_create(store_url: str, data: Any) -> None:
    """A person who can write to the store points a request at another game with the same public facts."""
    with encrypting(store_url) as stub:
        victim, own = new_game(stub, visibility=PRIVATE), new_game(stub, visibility=PRIVATE, request_id=REQUEST)
        for key in data.scan_iter("sodafountain:request:*"):
            if data.get(key) == own.game_id.encode():
                data.set(key, victim.game_id)
        error = expect_error(partial(new_game, stub, visibility=PRIVATE, request_id=REQUEST))
    assert error.reason == "REQUEST_ID_REUSED"


def test_a_game_whose_meta_was_changed_can_be_deleted(store_url: str, data: Any) -> None:
    with encrypting(store_url) as stub:
        game = new_game(stub)
        data.lset(game_keys(game.game_id).game, META, elements(data, game)[STATE])
        game.host.delete()
        assert expect_error(game.host.state).reason == "GAME_NOT_FOUND"


def test_a_watch_of_a_changed_value_fails(store_url: str, data: Any) -> None:
    with encrypting(store_url) as stub:
        game = new_game(stub)
        key, stored = game_keys(game.game_id), elements(data, game)
        watch = game.spectator.watch(timeout=20)
        next(watch)
        head, nonce = stored[HEAD].decode().split(" ", 2)[1].split("-")
        with data.pipeline() as together:  # the service may read at any time
            changed = stored[HEAD].replace(f"{head}-{nonce}".encode(), f"{int(head) + 1}-{nonce}".encode())
            together.lset(key.game, HEAD, changed)
            together.lset(key.game, STATE, stored[META])
            together.execute()
        with ThreadPoolExecutor(1) as threads:
            ended = threads.submit(expect_error, lambda: list(watch))
            # Again, because the first notification may come before the service has subscribed.
            eventually(lambda: data.publish(key.channel, f"{int(head) + 1}-{nonce}") is not None and ended.done())
            error = ended.result()
    assert (error.code.name, error.reason) == ("INTERNAL", "INTERNAL")


# --- sodafountain inspect ---------------------------------------------------------------------------------------------


def key_file(folder: Path, key: bytes) -> str:
    path = folder / "keys"
    path.write_text(f"name:{base64.b64encode(key).decode()}\n")
    return f"--encryption-keys-file={path}"


def test_inspect_shows_an_encrypted_game_with_its_key(store_url: str, tmp_path: Path) -> None:
    with encrypting(store_url) as stub:
        game = new_game(stub)
    result = run_in_process("inspect", game.game_id, "--store-url", store_url, key_file(tmp_path, ONE))
    assert (result.code, result.err) == (0, "")
    assert "soda_jerk" in result.out
    assert re.search("encrypted with +name\n", result.out)


def test_inspect_shows_a_game_in_the_clear_without_a_key(store_url: str) -> None:
    with in_process_stub(store_url) as stub:
        game = new_game(stub)
    result = run_in_process("inspect", game.game_id, "--store-url", store_url)
    assert re.search("encrypted with +-\n", result.out)


def test_inspect_names_a_key_that_is_missing(store_url: str, tmp_path: Path) -> None:
    with encrypting(store_url) as stub:
        game = new_game(stub)
    inspect = partial(error_line_in_process, "inspect", game.game_id, "--store-url", store_url, code=1)
    assert "is encrypted, and this server has no encryption keys" in inspect()
    assert "which is missing" in inspect(key_file(tmp_path, TWO))


def test_inspect_reports_a_value_that_was_moved(store_url: str, data: Any, tmp_path: Path) -> None:
    with encrypting(store_url) as stub:
        game = new_game(stub)
    data.lset(game_keys(game.game_id).game, META, elements(data, game)[STATE])
    error = error_line_in_process("inspect", game.game_id, "--store-url", store_url, key_file(tmp_path, ONE), code=1)
    assert error == "an encrypted value was changed"
