"""Soda Jerk's values as messages. Those that games use again and again are kept ready made."""

from functools import cache, lru_cache
from typing import Final

from engine.soda_jerk.components import Card, Flavor
from engine.soda_jerk.state import (
    Event,
    Flip,
    Flipped,
    Hand,
    Move,
    Options,
    Place,
    Placed,
    PlacedCard,
    RoundEnded,
    RoundResult,
    RoundStarted,
    Tap,
)
from engine.soda_jerk.view import View
from service.translators import MalformedMove
from sodafountain.v1 import soda_jerk_pb2 as pb


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
        match message.WhichOneof("move"):
            case "place":
                card = message.place.card
                return Place(
                    Card() if card.switcheroo else Card(Flavor(card.flavor), card.value), Flavor(message.place.tap)
                )
            case "flip":
                return Flip(Flavor(message.flip.tap), message.flip.position)
        raise MalformedMove("move", "is required")

    def move_message(self, move: Move) -> pb.SodaJerkMove:
        match move:
            case Place(card, tap):
                return pb.SodaJerkMove(place=pb.SodaJerkMove.Place(card=_card(card), tap=_flavor(tap)))
            case Flip(tap, position):
                return pb.SodaJerkMove(flip=pb.SodaJerkMove.Flip(tap=_flavor(tap), position=position))

    def view_message(self, view: View) -> pb.SodaJerkView:
        return pb.SodaJerkView(
            round=view.round,
            first_seat=view.first_seat,
            flips_in_a_row=view.flips_in_a_row,
            taps=[_tap(tap) for tap in view.taps],
            hands=[_hand(hand) for hand in view.hands],
            finished_rounds=[_round_result(result) for result in view.finished_rounds],
        )

    def event_message(self, event: Event) -> pb.SodaJerkEvent:
        match event:
            case RoundStarted(number, first_seat, effects):
                started = pb.SodaJerkEvent.RoundStarted(
                    round=number, first_seat=first_seat, active_effects=[_flavor(tap) for tap in effects]
                )
                return pb.SodaJerkEvent(round_started=started)
            case Placed(_, tap, card):
                return pb.SodaJerkEvent(placed=pb.SodaJerkEvent.CardAtTap(tap=_flavor(tap), card=_placed_card(card)))
            case Flipped(_, tap, card):
                return pb.SodaJerkEvent(flipped=pb.SodaJerkEvent.CardAtTap(tap=_flavor(tap), card=_placed_card(card)))
            case RoundEnded(result):
                return pb.SodaJerkEvent(round_ended=_round_result(result))


TRANSLATOR: Final = _Translator()


def _flavor(flavor: Flavor) -> pb.Flavor.ValueType:
    return pb.Flavor.ValueType(flavor.value)  # the engine's numbers are the contract's


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


@lru_cache(maxsize=16_384)  # most taps are as they were before the move
def _tap(tap: Tap) -> pb.SodaJerkView.Tap:
    return pb.SodaJerkView.Tap(
        flavor=_flavor(tap.flavor),
        effect_active=tap.effect_active,
        effect_text=tap.effect_text,
        cards=[_placed_card(placed) for placed in tap.cards],
    )


@lru_cache(maxsize=16_384)
def _hand(hand: Hand) -> pb.SodaJerkView.Hand:
    return pb.SodaJerkView.Hand(seat=hand.seat, size=hand.size, cards=[_card(card) for card in hand.cards])


@lru_cache(maxsize=1024)
def _round_result(result: RoundResult) -> pb.SodaJerkView.RoundResult:
    return pb.SodaJerkView.RoundResult(
        round=result.round,
        taps=[_tap(tap) for tap in result.taps],
        tap_values=result.tap_values,
        hands=[_hand(hand) for hand in result.hands],
        points=result.points,
    )
