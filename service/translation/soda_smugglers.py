"""Soda Smugglers' values as messages. Encoded parts of views are cached, since most of a view does not change."""

from functools import lru_cache
from typing import Final

from engine.soda_smugglers.components import EventCard, Tokens
from engine.soda_smugglers.events import (
    BribesRevealed,
    Event,
    EventRevealed,
    Inspected,
    LeftBorder,
    Opened,
    Packed,
    RoundEnded,
    RoundStarted,
    Sniffed,
)
from engine.soda_smugglers.state import (
    AcceptAll,
    AcceptBribe,
    Arrest,
    Departure,
    Inspect,
    Move,
    Open,
    Options,
    Pack,
    Sniff,
    Stage,
    WaveThrough,
)
from engine.soda_smugglers.view import SeatView, View
from service.contract import soda_smugglers_pb2 as pb
from service.translation.encoding import field
from service.translation.translator import MalformedMove


class _Translator:
    """Translates between `engine.soda_smugglers` and `sodafountain/v1/soda_smugglers.proto`."""

    def options_value(self, message: pb.SodaSmugglersOptions) -> Options:
        return Options(
            events=message.events,
            first_guard=message.first_guard if message.HasField("first_guard") else None,
        )

    def options_message(self, options: Options) -> pb.SodaSmugglersOptions:
        return pb.SodaSmugglersOptions(events=options.events, first_guard=options.first_guard)

    def move_value(self, message: pb.SodaSmugglersMove) -> Move:
        match message.WhichOneof("action"):
            case "pack":
                pack = message.pack
                return Pack(tuple(pack.luggage), pack.bribe if pack.HasField("bribe") else None)
            case "accept_bribe":
                return AcceptBribe(message.accept_bribe.seat)
            case "accept_all":
                return AcceptAll()
            case "inspect_suitcase":
                return Inspect(message.inspect_suitcase.seat, message.inspect_suitcase.slot)
            case "sniff":
                return Sniff(message.sniff.seat)
            case "open":
                return Open(message.open.slot)
            case "arrest":
                return Arrest(message.arrest.seat, message.arrest.tip_off)
            case "wave_through":
                return WaveThrough()
        raise MalformedMove("action", "is required")

    def move_message(self, move: Move) -> pb.SodaSmugglersMove:
        message = pb.SodaSmugglersMove
        match move:
            case Pack(luggage, bribe):
                return message(pack=message.Pack(luggage=luggage, bribe=bribe))
            case AcceptBribe(seat):
                return message(accept_bribe=message.AcceptBribe(seat=seat))
            case AcceptAll():
                return message(accept_all=message.AcceptAll())
            case Inspect(seat, slot):
                return message(inspect_suitcase=message.InspectSuitcase(seat=seat, slot=slot))
            case Sniff(seat):
                return message(sniff=message.Sniff(seat=seat))
            case Open(slot):
                return message(open=message.Open(slot=slot))
            case Arrest(seat, tip_off):
                return message(arrest=message.Arrest(seat=seat, tip_off=tip_off))
            case WaveThrough():
                return message(wave_through=message.WaveThrough())

    def view_message(self, view: View) -> bytes:
        rest = _rest(
            view.round, view.round_count, view.guard_seat, view.stage, view.event, view.event_text, view.tokens
        )
        return b"".join([rest, *map(_seat, view.seats)])

    def event_message(self, event: Event) -> pb.SodaSmugglersEvent:
        message = pb.SodaSmugglersEvent
        match event:
            case RoundStarted(number, guard):
                return message(round_started=message.RoundStarted(round=number, guard_seat=guard))
            case EventRevealed(card, guard_caps):
                return message(event_revealed=message.EventRevealed(card=_card(card), guard_caps=guard_caps))
            case Packed(seat, luggage, bribe):
                return message(packed=message.Packed(seat=seat, luggage=luggage, bribe=bribe))
            case BribesRevealed(offers):
                revealed = message.BribesRevealed
                shown = [revealed.Offer(seat=offer.seat, bottles=offer.bottles) for offer in offers]
                return message(bribes_revealed=revealed(offers=shown))
            case Inspected(seat, slot, bottles):
                return message(inspected=message.SuitcaseOpened(seat=seat, slot=slot, bottles=bottles))
            case Sniffed(seat):
                return message(sniffed=message.Sniffed(seat=seat))
            case Opened(seat, slot, bottles):
                return message(opened=message.SuitcaseOpened(seat=seat, slot=slot, bottles=bottles))
            case LeftBorder(seat, how, luggage, caps, guard_caps):
                left = message.LeftBorder(
                    seat=seat, how=_departure(how), luggage=luggage, caps=caps, guard_caps=guard_caps
                )
                return message(left_border=left)
            case RoundEnded(number, caps_held):
                return message(round_ended=message.RoundEnded(round=number, caps=caps_held))


TRANSLATOR: Final = _Translator()


# The engine and the contract use the same numbers.


def _stage(stage: Stage) -> pb.SodaSmugglersStage.ValueType:
    return pb.SodaSmugglersStage.ValueType(stage.value)


def _card(card: EventCard | None) -> pb.SodaSmugglersEventCard.ValueType:
    return pb.SodaSmugglersEventCard.ValueType(0 if card is None else card.value)


def _departure(how: Departure | None) -> pb.SodaSmugglersDeparture.ValueType:
    return pb.SodaSmugglersDeparture.ValueType(0 if how is None else how.value)


# --- Views, assembled from encoded parts ------------------------------------------------------------------------------


@lru_cache(maxsize=16_384)
def _rest(
    number: int,
    round_count: int,
    guard_seat: int,
    stage: Stage,
    card: EventCard | None,
    event_text: str,
    tokens: Tokens,
) -> bytes:
    """Return a view without its seats, encoded."""
    return pb.SodaSmugglersView(
        round=number,
        round_count=round_count,
        guard_seat=guard_seat,
        stage=_stage(stage),
        event=_card(card),
        event_text=event_text,
        tokens=pb.SodaSmugglersView.Tokens(
            bribe=tokens.bribe,
            inspection=tokens.inspect,
            arrest=tokens.arrest,
            sniff=tokens.sniff,
            tip_off=tokens.tip_off,
        ),
    ).SerializeToString()


@lru_cache(maxsize=16_384)  # most seats are as they were before the move
def _seat(seat: SeatView) -> bytes:
    """Return a seat as a field of the view, encoded."""
    message = pb.SodaSmugglersView.SeatView(
        seat=seat.seat,
        caps=seat.caps,
        at_border=seat.at_border,
        packed=seat.packed,
        bribe=seat.bribe,
        luggage=[
            pb.SodaSmugglersView.Suitcase(slot=suitcase.slot, face_up=suitcase.face_up, bottles=suitcase.bottles)
            for suitcase in seat.luggage
        ],
        left=_departure(seat.left),
        hand=seat.hand,
    )
    return field(pb.SodaSmugglersView.SEATS_FIELD_NUMBER, message.SerializeToString())
