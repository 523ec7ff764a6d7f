"""What a run is told, and the games that follow from it."""

from argparse import ArgumentParser, Namespace

import pytest

from clients.loadtest.options import add_options, check_fields, mix_of, planned, seats_of
from service.games import all_kinds
from service.translation import all_translations
from sodafountain.v1.game_pb2 import GameKindInfo

KINDS: list[GameKindInfo] = [translation.info() for translation in all_translations(all_kinds()).values()]


def told(*arguments: str) -> Namespace:
    parser = ArgumentParser()
    add_options(parser)
    return parser.parse_args(arguments)


def test_a_mix_gives_each_game_its_weight_and_the_others_none() -> None:
    assert mix_of("soda_jerk=3, juices=0.5") == {"soda_jerk": 3, "juices": 0.5}


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("--mix=chess=1", "'chess' is not one of soda_jerk, soda_smugglers, juices"),
        ("--mix=juices=many", "'many' is not a weight"),
        ("--mix=juices=0", "no game has a weight"),
        ("--seats=5-2", "'5-2' is not a number of seats"),
        ("--limits=fast", "'fast' is not a limit"),
        ("--metrics=localhost:9464/metrics", "'localhost:9464/metrics' is not a URL"),
        ("--metrics=http:///metrics", "'http:///metrics' is not a URL"),
        ("--limits=AplyMove p99 100", "there is no 'AplyMove' to limit; there are ListGameKinds, "),
        ("--limits=whole move chess p99 100", "there is no 'whole move chess' to limit"),
        ("--think=nan", "'nan' is not a number from 0 on"),
        ("--think=-1", "'-1' is not a number from 0 on"),
        ("--think=soon", "'soon' is not a number from 0 on"),
        ("--spectators=-1", "'-1' is not a number from 0 on"),
        ("--spectators=inf", "'inf' is not a number from 0 on"),
        ("--asking=2", "'2' is not a number from 0 to 1"),
        ("--finish-within=nan", "'nan' is not a number from 0 on"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_played(
    option: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        told(option)
    assert problem in capsys.readouterr().err


def test_a_form_may_name_other_fields_and_flags_too() -> None:
    check_fields({"user_count": "0", "host": "http://", "think": "0.5", "fixed_deals": "true", "limits": "errors 1"})


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("limits", "foo bar", "'foo bar' is not a limit"),
        ("seats", "banana", "'banana' is not a number of seats"),
        ("think", "nonsense", "'nonsense' is not a number"),
        ("finish_within", "-1", "'-1' is not a number"),
        ("strategy", "clever", "invalid choice: 'clever'"),
    ],
)
def test_a_form_may_say_of_an_option_what_the_command_line_may(name: str, value: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        check_fields({"think": "1", name: value})


def test_a_game_has_the_seats_that_were_asked_for_or_the_nearest_number_that_it_takes() -> None:
    assert seats_of("2-5") == (2, 5)
    seats = {
        game: {planned(game, KINDS, told("--seats=2"), f"{number}").seats for number in range(20)}
        for game in ("soda_jerk", "soda_smugglers", "juices")
    }
    assert seats == {"soda_jerk": {2}, "soda_smugglers": {3}, "juices": {2}}
    assert {planned("juices", KINDS, told("--seats=2-5"), f"{number}").seats for number in range(50)} == {2, 3, 4, 5}
    assert planned("juices", KINDS, told("--seats=1"), "alone").seats == 1


def test_spectators_and_asking_seats_come_in_their_shares() -> None:
    plans = [
        planned("soda_jerk", KINDS, told("--seats=4", "--spectators=0.6", "--asking=0.5"), f"{n}") for n in range(200)
    ]
    assert {plan.spectators for plan in plans} == {2, 3}
    assert sum(plan.spectators for plan in plans) / len(plans) == pytest.approx(2.4, abs=0.1)
    assert sum(len(plan.asking) for plan in plans) / len(plans) == pytest.approx(2, abs=0.2)


def test_games_of_the_same_name_are_planned_alike_and_others_are_not() -> None:
    def plan(name: str) -> str:
        return repr(planned("juices", KINDS, told("--fixed-deals"), name))

    assert plan("1 juices 0 0") == plan("1 juices 0 0")
    assert plan("1 juices 0 0") != plan("1 juices 0 1")


def test_the_service_draws_its_own_seeds_unless_told_otherwise() -> None:
    assert planned("juices", KINDS, told(), "a").seed is None
    assert len(planned("juices", KINDS, told("--fixed-deals"), "a").seed or b"") == 32
