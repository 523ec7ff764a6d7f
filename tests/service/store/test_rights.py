"""The rights of the store's user: which are needed, and what is said when one is missing."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.server.composition import CannotUseStore
from service.store import AccessDenied, Unconfirmed, connect, rights, scripts
from tests.service.store.games import SOON, move, new_game
from tests.support.game_clients import expect_error, play
from tests.support.game_clients import new_game as new_client_game
from tests.support.in_process import in_process_stub
from tests.support.store_servers import Server, eventually
from tests.support.watching import Watch

OPERATE = Path(__file__).parents[3] / "docs" / "operate.md"
[LINE] = re.findall(r"ACL SETUSER sodafountain (.+)", OPERATE.read_text())
GRANTED = [word for word in LINE.split() if word[0] in "+~&"]
COMMANDS = [word for word in GRANTED if word[0] == "+"]
OPTIONAL = {"+info", "+memory|usage", "+select"}
"""Rights without which the service serves, with less to say about the store."""
ELSEWHERE = {"+wait", "+cluster|slots", "+asking"}
"""Rights that only replicas or a cluster need."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("rights") / "store") as running:
        yield running


def granted(server: Server, *words: str) -> str:
    """Create a user with these rights; return the URL for it."""
    with server.client() as raw:
        raw.execute_command("ACL", "SETUSER", "sodafountain", "reset", "on", ">pw", *words)
    return f"redis://sodafountain:pw@127.0.0.1:{server.port}"


def test_every_command_of_a_script_is_tried_and_documented() -> None:
    sources = "".join(script.source for script in vars(scripts).values() if isinstance(script, scripts.Script))
    called = set(re.findall(r"redis\.p?call\('(\w+)'", sources))

    assert called == rights.SCRIPT_COMMANDS
    assert {f"+{name.lower()}" for name in called} <= set(COMMANDS)


def test_the_documented_rights_suffice_for_games_and_watches(server: Server) -> None:
    with in_process_stub(granted(server, *GRANTED), max_live_games=9, max_new_games=9) as stub:
        game = new_client_game(stub, 2)
        watch = Watch(game.spectator)
        watch.next()
        play(game, random.Random(1))
        eventually(lambda: watch.next().HasField("end"))
        game.host.delete()


@pytest.mark.parametrize("right", [right for right in GRANTED if right not in OPTIONAL | ELSEWHERE])
def test_a_missing_right_is_named_at_the_start(server: Server, right: str) -> None:
    url = granted(server, *[word for word in GRANTED if word != right])

    with pytest.raises(CannotUseStore, match=f"lacks rights: {re.escape(right)} "), in_process_stub(url):
        pass


@pytest.mark.parametrize("words", [("+@all", "~*", "&*", "-@scripting"), ("+@all", "~other:*", "&*"), ("+ping",)])
def test_a_user_with_too_few_rights_cannot_start(server: Server, words: tuple[str, ...]) -> None:
    with pytest.raises(CannotUseStore, match="lacks rights"), in_process_stub(granted(server, *words)):
        pass


def test_a_wrong_password_cannot_start(server: Server) -> None:
    url = granted(server, *GRANTED).replace(":pw@", ":hunter2@")

    with pytest.raises(CannotUseStore, match="WRONGPASS") as error, in_process_stub(url):
        pass

    assert "hunter2" not in str(error.value)


def test_a_right_that_is_withdrawn_later_makes_the_store_unavailable(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    with in_process_stub(granted(server, *GRANTED)) as stub:
        game = new_client_game(stub, 2)
        with server.client() as raw:
            raw.execute_command("ACL", "SETUSER", "sodafountain", "-eval", "-evalsha")

        error = expect_error(lambda: play(game, random.Random(1), moves=1))

        assert (error.code.name, error.reason) == ("UNAVAILABLE", "STORE_UNAVAILABLE")
        assert "store_denied" in capsys.readouterr().out


def test_a_right_that_is_missing_inside_a_script_leaves_the_outcome_open(server: Server) -> None:
    store = connect(granted(server, *GRANTED))
    game = new_game(store)
    granted(server, *[word for word in GRANTED if word != "+pexpireat"])

    with pytest.raises(Unconfirmed, match="pexpireat"):
        store.games.commit(game, move(), timeout=SOON)


def test_a_password_that_is_set_on_a_running_store_is_reported(tmp_path: Path) -> None:
    with Server(tmp_path / "store") as server:
        store = connect(server.url)
        with server.client() as raw:
            raw.config_set("requirepass", "secret")

            with pytest.raises(AccessDenied, match="NOAUTH"):
                store.administration.ping(timeout=SOON)
