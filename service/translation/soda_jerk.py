"""Soda Jerk's values as messages. Common messages and encoded parts of views are cached."""

from functools import cache, lru_cache
from typing import Final

from engine.soda_jerk.components import Card, Flavor
from engine.soda_jerk.events import Event, Flipped, Hand, Placed, PlacedCard, RoundEnded, RoundResult, RoundStarted, Tap
from engine.soda_jerk.state import Flip, Move, Options, Place
from engine.soda_jerk.view import View
from service.contract import soda_jerk_pb2 as pb
from service.translation.encoding import field
from service.translation.translator import MalformedMove


class _Translator:
    """Translates between `engine.soda_jerk` and `sodafountain/v1/soda_jerk.proto`."""

    def options_value(self, message: pb.SodaJerkOptions) -> Options:
        return Options(
            advanced=message.advanced,
            first_seat=message.first_seat if message.HasField("first_seat") else None,
            removed_flavor=Flavor(message.removed_flavor) if message.removed_flavor else None,
            copies_per_value=tuple(message.copies_per_value) or Options().copies_per_value,
        )

    def options_message(self, options: Options) -> pb.SodaJerkOptions:
        return pb.SodaJerkOptions(
            advanced=options.advanced,
            first_seat=options.first_seat,
            removed_flavor=pb.FLAVOR_UNSPECIFIED if options.removed_flavor is None else _flavor(options.removed_flavor),
            copies_per_value=options.copies_per_value,
        )

    def move_value(self, message: pb.SodaJerkMove) -> Move:
        match message.WhichOneof("action"):
            case "place":
                return Place(_card_value(message.place.card), Flavor(message.place.tap_flavor))
            case "flip":
                return Flip(Flavor(message.flip.tap_flavor), message.flip.position)
        raise MalformedMove("action", "is required")

    def move_message(self, move: Move) -> pb.SodaJerkMove:
        match move:
            case Place(card, tap):
                return pb.SodaJerkMove(place=pb.SodaJerkMove.Place(card=_card(card), tap_flavor=_flavor(tap)))
            case Flip(tap, position):
                return pb.SodaJerkMove(flip=pb.SodaJerkMove.Flip(tap_flavor=_flavor(tap), position=position))

    def view_message(self, view: View) -> bytes:
        rest = pb.SodaJerkView(round=view.round, first_seat=view.first_seat, flips_in_a_row=view.flips_in_a_row)
        return b"".join(
            [
                rest.SerializeToString(),
                *[field(_VIEW_TAPS, _tap(tap)) for tap in view.taps],
                *[field(_VIEW_HANDS, _hand(hand)) for hand in view.hands],
                *[field(_VIEW_FINISHED_ROUNDS, _round_result(result)) for result in view.finished_rounds],
            ]
        )

    def event_message(self, event: Event) -> pb.SodaJerkEvent | bytes:
        match event:
            case Placed(_, tap, card):
                return field(_EVENT_PLACED, _card_at_tap(tap, card))
            case Flipped(_, tap, card):
                return field(_EVENT_FLIPPED, _card_at_tap(tap, card))
            case RoundEnded(result):
                return field(_EVENT_ROUND_ENDED, _round_result(result))
            case RoundStarted(number, first_seat, effects):
                started = pb.SodaJerkEvent.RoundStarted(
                    round=number, first_seat=first_seat, active_effects=[_flavor(tap) for tap in effects]
                )
                return pb.SodaJerkEvent(round_started=started)


TRANSLATOR: Final = _Translator()


# The fields that hold other messages.
_EVENT_PLACED: Final = pb.SodaJerkEvent.PLACED_FIELD_NUMBER
_EVENT_FLIPPED: Final = pb.SodaJerkEvent.FLIPPED_FIELD_NUMBER
_EVENT_ROUND_ENDED: Final = pb.SodaJerkEvent.ROUND_ENDED_FIELD_NUMBER
_VIEW_TAPS: Final = pb.SodaJerkView.TAPS_FIELD_NUMBER
_VIEW_HANDS: Final = pb.SodaJerkView.HANDS_FIELD_NUMBER
_VIEW_FINISHED_ROUNDS: Final = pb.SodaJerkView.FINISHED_ROUNDS_FIELD_NUMBER
_TAP_CARDS: Final = pb.SodaJerkView.Tap.CARDS_FIELD_NUMBER
_HAND_CARDS: Final = pb.SodaJerkView.Hand.CARDS_FIELD_NUMBER
_RESULT_TAPS: Final = pb.SodaJerkView.RoundResult.TAPS_FIELD_NUMBER
_RESULT_HANDS: Final = pb.SodaJerkView.RoundResult.HANDS_FIELD_NUMBER


def _card_value(card: pb.SodaJerkCard) -> Card:
    if card.switcheroo and not card.flavor and not card.value:
        return Card()
    if not card.switcheroo and card.flavor and 1 <= card.value <= 3:
        return Card(Flavor(card.flavor), card.value)
    raise MalformedMove("place.card", "must be a flavor with a value from 1 to 3, or a switcheroo with neither")


def _flavor(flavor: Flavor) -> pb.Flavor.ValueType:
    return pb.Flavor.ValueType(flavor.value)  # the engine and the contract use the same numbers


@cache  # sixteen cards
def _card(card: Card) -> pb.SodaJerkCard:
    if card.flavor is None:
        return pb.SodaJerkCard(switcheroo=True)
    return pb.SodaJerkCard(flavor=_flavor(card.flavor), value=card.value)


def _placed_card(placed: PlacedCard) -> pb.SodaJerkView.PlacedCard:
    return pb.SodaJerkView.PlacedCard(
        position=placed.position,
        seat=placed.seat,
        face_up=placed.face_up,
        card=None if placed.card is None else _card(placed.card),
    )


@lru_cache(maxsize=16_384)
def _card_at_tap(tap: Flavor, card: PlacedCard) -> bytes:
    return pb.SodaJerkEvent.CardAtTap(tap_flavor=_flavor(tap), card=_placed_card(card)).SerializeToString()


@lru_cache(maxsize=16_384)
def _tap_card(placed: PlacedCard) -> bytes:
    return field(_TAP_CARDS, _placed_card(placed).SerializeToString())


@cache
def _hand_card(card: Card) -> bytes:
    return field(_HAND_CARDS, _card(card).SerializeToString())


@cache  # five flavors, with and without an effect
def _bare_tap(flavor: Flavor, effect_active: bool, effect_text: str) -> bytes:
    tap = pb.SodaJerkView.Tap(flavor=_flavor(flavor), effect_active=effect_active, effect_text=effect_text)
    return tap.SerializeToString()


@cache
def _bare_hand(seat: int, size: int) -> bytes:
    return pb.SodaJerkView.Hand(seat=seat, size=size).SerializeToString()


def _tap(tap: Tap) -> bytes:
    return _bare_tap(tap.flavor, tap.effect_active, tap.effect_text) + b"".join(map(_tap_card, tap.cards))


def _hand(hand: Hand) -> bytes:
    return _bare_hand(hand.seat, hand.size) + b"".join(map(_hand_card, hand.cards))


@lru_cache(maxsize=1024)
def _round_result(result: RoundResult) -> bytes:
    rest = pb.SodaJerkView.RoundResult(round=result.round, tap_values=result.tap_values, points=result.points)
    return b"".join(
        [
            rest.SerializeToString(),
            *[field(_RESULT_TAPS, _tap(tap)) for tap in result.taps],
            *[field(_RESULT_HANDS, _hand(hand)) for hand in result.hands],
        ]
    )
