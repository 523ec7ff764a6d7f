"""`sodafountain inspect`: shows an operator facts about a game, but nothing that is hidden from a spectator."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from service.commands.parameters import fail, setting

if TYPE_CHECKING:
    from service.store import Record, Usage

_SECONDS: Final = 5.0
_GAME_ID: Final = re.compile("[a-z0-9]{26}")
_UNREADABLE: Final = (ValueError, TypeError, OverflowError, OSError, RecursionError)
"""The exceptions of decoding data of another release; those of msgspec and of the codecs are ValueErrors."""


class CannotInspect(Exception):
    """The game does not exist, the store does not answer, or the stored form is unknown; the text says which."""


@click.command(short_help="Show what an operator may see of a game.")
@click.argument("game")
@setting("--store-url", help="The store of the service.  [default: the embedded store of --data-dir, if it runs]")
@setting(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="The data directory of a service with an embedded store.  [default: that of `serve`]",
)
@setting(
    "--encryption-keys-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The keys with which the service encrypts games; SODAFOUNTAIN_ENCRYPTION_KEYS may contain them instead.",
)
@click.option("--view", is_flag=True, help="Also show the game as a spectator sees it, in the notation of its kind.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def inspect(
    game: str,
    store_url: str | None,
    data_dir: Path | None,
    encryption_keys_file: Path | None,
    *,
    view: bool,
    as_json: bool,
) -> None:
    """Show facts about a game, for example about one that does not continue.

    GAME is a game id. Shows its head, which seats are awaited since when, its expiry and its size, but nothing hidden:
    no move, no card that a spectator cannot see, no seed and no token. Does not change the game. Exit status:
    0, or 1 if the game cannot be shown.
    """
    from service.access import parse_encryption_keys
    from service.server.keys import CannotReadKeys, read_secret
    from service.server.settings import PREFIX, default_data_dir
    from service.store.embedded import EmbeddedStoreError, EmbeddedValkey

    try:
        secret = read_secret(encryption_keys_file, PREFIX + "ENCRYPTION_KEYS")
        keys = parse_encryption_keys(secret) if secret else {}
        url = store_url or EmbeddedValkey(data_dir or default_data_dir()).find()
        facts = inspect_game(url, game, encryption_keys=keys, view=view)
    except (CannotInspect, CannotReadKeys, EmbeddedStoreError, ValueError) as error:
        fail(str(error), status=1)
    click.echo(json.dumps(facts) if as_json else format_facts(facts))


def inspect_game(
    store_url: str, game_id: str, *, encryption_keys: Mapping[str, bytes] | None = None, view: bool = False
) -> dict[str, Any]:
    """Return the facts about a game, as JSON values by name. Does not change the game or its expiry.

    Args:
        store_url: the store.
        game_id: the game.
        encryption_keys: the keys with which the service encrypts games.
        view: whether to include the view of a spectator.

    Raises:
        CannotInspect: the game does not exist, the store does not answer, or the stored form is unknown.
    """
    from service.games.errors import GameError, UnreadableRecord
    from service.store import Record, StoreError, StoreUnavailable, connect

    if not _GAME_ID.fullmatch(game_id):
        raise CannotInspect(f"{game_id!r} is not a game id, which has 26 lower-case letters and digits")
    try:
        store = connect(store_url)
    except ValueError as error:
        raise CannotInspect(str(error)) from None
    try:
        record = store.games.read(game_id, timeout=_SECONDS)
        usage = store.administration.usage(game_id, timeout=_SECONDS)
    except StoreUnavailable as error:
        raise CannotInspect(
            f"the store is unavailable: {error}; set --store-url, or --data-dir while its service runs"
        ) from None
    except StoreError as error:
        raise CannotInspect(str(error)) from None
    except _UNREADABLE as error:
        raise _unknown_form(game_id, error) from None
    finally:
        store.close()
    if not isinstance(record, Record):
        raise CannotInspect(f"game {game_id} does not exist: it was never created, has expired or was deleted")
    try:
        return _facts(game_id, record, usage, encryption_keys or {}, view=view)
    except UnreadableRecord as error:
        raise CannotInspect(f"game {game_id} cannot be read: {error.problem}") from None
    except (GameError, StoreError) as error:
        raise CannotInspect(str(error)) from None
    except _UNREADABLE as error:
        raise _unknown_form(game_id, error) from None


def _unknown_form(game_id: str, error: Exception) -> CannotInspect:
    # The text of the error may quote stored data.
    return CannotInspect(
        f"game {game_id} is stored in a form that this release does not know: its head, meta or "
        f"state cannot be decoded ({type(error).__name__})"
    )


def _facts(game_id: str, record: "Record", usage: "Usage", keys: Mapping[str, bytes], *, view: bool) -> dict[str, Any]:
    from engine.game import SPECTATOR
    from service.games import Values, all_kinds, version_of
    from service.games.formats import cipher_of, encrypting_key

    game = Values(all_kinds(), cipher=cipher_of(keys)).game(game_id, record)
    facts = {
        "game": game_id,
        "kind": game.meta.kind,
        "rules_version": game.meta.rules_version,
        "seats": game.meta.seat_count,
        "sealed": game.meta.sealed,
        "private": game.meta.private,
        "created_with_api_key": game.meta.owner or None,
        "tokens_signed_with": game.meta.key_id,
        "encrypted_with": encrypting_key(record.meta, keys),
        "head": game.head,
        "version": game.version,
        "finished": game.finished,
        "awaiting": [{"seat": seat, "since_version": version_of(opened)} for seat, opened in game.decisions.items()],
        "created": _time(game.created_at),
        "updated": _time(game.updated_at),
        "expires": _time(game.expires_at),
        "state_bytes": len(record.state),
        "log_bytes": usage.log_bytes,
        "store_bytes": usage.store_bytes,
    }
    if view:
        rules = game.kind.game
        facts["view"] = rules.format_view(rules.view(game.state, SPECTATOR)).rstrip()
    return facts


def _time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")


def format_facts(facts: dict[str, Any]) -> str:
    """Format the facts for people, one per line, and the view, if there is one, after them."""
    lines = {
        name.replace("_", " "): "" if value is None else json.dumps(value).strip('"')
        for name, value in facts.items()
        if name != "view"
    }
    lines["awaiting"] = ", ".join(
        f"seat {each['seat']} since version {each['since_version']}" for each in facts["awaiting"]
    )
    width = max(map(len, lines))
    text = "\n".join(f"{name:{width}}  {value or '-'}" for name, value in lines.items())
    return f"{text}\n\n{facts['view']}" if "view" in facts else text
