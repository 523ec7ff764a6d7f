"""Standings: the seats in ascending order, then the automaton; winners in the same order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.catalogue import GAMES
from engine.game import PlayerScore, Score
from engine.juices import JUICES
from engine.juices.components import Mode
from engine.juices.state import Options
from engine.rng import Rng
from service.translation.projection import standings
from sodafountain.v1 import game_pb2 as pb
from tests.engine.plays import plays


def seat(number: int) -> pb.Player:
    """Return the player with this seat."""
    return pb.Player(seat=number)


AUTOMATON = pb.Player(automaton=pb.Automaton())


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_the_standings_are_those_of_the_engine(name: str, data: st.DataObject) -> None:
    played = data.draw(plays(name))
    version = data.draw(st.integers(1, len(played.states)))
    score = GAMES[name].score(played.states[version - 1])

    message = standings(score, version)

    assert (message.version, message.finished, message.note) == (version, score.finished, score.note)
    players = [player.player for player in message.scores]
    assert players[: played.seat_count] == [seat(number) for number in range(played.seat_count)]
    assert players[played.seat_count :] in ([], [AUTOMATON])
    assert list(message.winners) == [player for player in players if player in list(message.winners)]
    assert bool(message.winners) <= message.finished
    for player, expected in zip(message.scores, score.scores, strict=True):
        assert (player.total, player.rank, list(player.tie_breakers)) == (
            expected.total,
            expected.rank,
            list(expected.tie_breakers),
        )
        assert sum(line.points for line in player.lines) == player.total
        assert [(line.code, line.label, line.points, line.round) for line in player.lines] == [
            (line.code, line.label, line.points, line.round) for line in expected.lines
        ]


def test_an_automaton_is_a_player_without_a_seat_number() -> None:
    state, _ = JUICES.new_game(Options(mode=Mode.SOLO), 1, Rng(bytes(32)))

    message = standings(JUICES.score(state), 1)

    assert [player.player for player in message.scores] == [seat(0), AUTOMATON]
    assert AUTOMATON.WhichOneof("identity") == "automaton"


@pytest.mark.parametrize(("winners", "expected"), [((None,), [AUTOMATON]), ((0, None), [seat(0), AUTOMATON])])
def test_an_automaton_can_win(winners: tuple[int | None, ...], expected: list[pb.Player]) -> None:
    score = Score(True, (PlayerScore(0, 3, 1), PlayerScore(None, 3, 1)), winners, "A tie.")

    assert list(standings(score, 9).winners) == expected
