"""The options of a run are validated, and plans of games follow from them."""

from argparse import ArgumentParser, Namespace

import pytest

from clients.loadtest.options import (
    add_options,
    connect,
    parse_mix,
    parse_seats,
    plan_game,
    validate_form,
)
from service.games import all_kinds
from service.translation import all_translations
from sodafountain.v1.game_pb2 import GameKindInfo

KINDS: list[GameKindInfo] = [translation.info() for translation in all_translations(all_kinds()).values()]


def parse(*arguments: str) -> Namespace:
    parser = ArgumentParser()
    add_options(parser)
    return parser.parse_args(arguments)


def test_a_service_on_another_host_requires_tls_or_permission() -> None:
    with pytest.raises(ValueError, match=r"^--host games.example:443 is another host: use --secure for TLS\. "):
        connect("games.example:443", parse())
    for flag in ("--secure", "--allow-insecure"):
        options = parse(flag)
        connect("games.example:443", options).close()


def test_a_mix_assigns_a_weight_to_each_of_its_games() -> None:
    assert parse_mix("soda_jerk=3, juices=0.5") == {"soda_jerk": 3, "juices": 0.5}


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("--mix=chess=1", "'chess' is not a game; expected one of soda_jerk, soda_smugglers, juices"),
        ("--mix=juices=many", "the weight of juices must be a number such as 2 or 0.5, not 'many'"),
        ("--mix=juices=0", "at least one game must have a weight above 0"),
        ("--seats=5-2", "seats must be a number such as 4 or a range such as 2-5, not '5-2'"),
        ("--limits=fast", "'fast' is not a limit"),
        ("--metrics=localhost:9464/metrics", "metrics must be a URL"),
        ("--metrics=http:///metrics", "not 'http:///metrics'"),
        ("--limits=AplyMove p99 100", "'AplyMove' cannot have a limit; expected one of ListGameKinds, "),
        ("--limits=whole move chess p99 100", "'whole move chess' cannot have a limit"),
        ("--think=nan", "must be a number of at least 0, not 'nan'"),
        ("--think=-1", "must be a number of at least 0, not '-1'"),
        ("--think=soon", "must be a number of at least 0, not 'soon'"),
        ("--spectators=-1", "must be a number of at least 0, not '-1'"),
        ("--spectators=inf", "must be a number of at least 0, not 'inf'"),
        ("--asking=2", "must be a number from 0 to 1, not '2'"),
        ("--finish-within=nan", "must be a number of at least 0, not 'nan'"),
    ],
)
def test_an_invalid_option_is_rejected_by_the_parser(
    option: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(option)
    assert problem in capsys.readouterr().err


def test_a_form_may_contain_options_and_fields_of_locust() -> None:
    validate_form({"user_count": "0", "host": "http://", "think": "0.5", "fixed_deals": "true", "limits": "errors 1"})


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("limits", "foo bar", "'foo bar' is not a limit"),
        ("seats", "banana", "seats must be a number such as 4 or a range such as 2-5, not 'banana'"),
        ("think", "nonsense", "must be a number of at least 0, not 'nonsense'"),
        ("finish_within", "-1", "must be a number of at least 0, not '-1'"),
        ("strategy", "clever", "invalid choice: 'clever'"),
    ],
)
def test_an_invalid_option_in_a_form_is_rejected(name: str, value: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        validate_form({"think": "1", name: value})


def test_a_game_has_the_requested_seats_or_the_nearest_supported_number() -> None:
    assert parse_seats("2-5") == (2, 5)
    seats = {
        game: {plan_game(game, KINDS, parse("--seats=2"), f"{number}").seats for number in range(20)}
        for game in ("soda_jerk", "soda_smugglers", "juices")
    }
    assert seats == {"soda_jerk": {2}, "soda_smugglers": {3}, "juices": {2}}
    in_range = {plan_game("juices", KINDS, parse("--seats=2-5"), f"{number}").seats for number in range(50)}
    assert in_range == {2, 3, 4, 5}
    assert plan_game("juices", KINDS, parse("--seats=1"), "alone").seats == 1


def test_spectators_and_polling_seats_have_the_requested_shares() -> None:
    options = parse("--seats=4", "--spectators=0.6", "--asking=0.5")
    plans = [plan_game("soda_jerk", KINDS, options, f"{number}") for number in range(200)]
    assert {plan.spectators for plan in plans} == {2, 3}
    assert sum(plan.spectators for plan in plans) / len(plans) == pytest.approx(2.4, abs=0.1)
    assert sum(len(plan.polling_seats) for plan in plans) / len(plans) == pytest.approx(2, abs=0.2)


def test_equal_names_give_equal_plans_and_different_names_different_plans() -> None:
    def plan(name: str) -> str:
        return repr(plan_game("juices", KINDS, parse("--fixed-deals"), name))

    assert plan("1 juices 0 0") == plan("1 juices 0 0")
    assert plan("1 juices 0 0") != plan("1 juices 0 1")


def test_a_plan_has_a_seed_only_with_fixed_deals() -> None:
    assert plan_game("juices", KINDS, parse(), "a").seed is None
    assert len(plan_game("juices", KINDS, parse("--fixed-deals"), "a").seed or b"") == 32
