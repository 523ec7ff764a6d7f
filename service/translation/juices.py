"""Juices' values as messages. Common messages and encoded seats of views are cached."""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

from engine.juices.components import TILES, Complement, Fruit, Mode
from engine.juices.events import (
    ActionsLost,
    AutomaJuiceMade,
    AutomaTilesLeft,
    AutomaTook,
    BlockAdded,
    BlockRemoved,
    ChiliServed,
    CoffeeServed,
    Discarded,
    Drawn,
    Event,
    GameEnded,
    JuiceMade,
    Kept,
    OrderRevealed,
    PartMoved,
    PassedOn,
    Placed,
    Reshuffled,
    RoundStarted,
    TilesLeft,
)
from engine.juices.grid import Cell
from engine.juices.state import (
    AddBlock,
    DiscardAutomaTile,
    Keep,
    MakeJuice,
    Move,
    Options,
    Pass,
    Place,
    PutBlock,
    RemoveBlock,
    Shift,
)
from engine.juices.view import AutomaView, GridCell, JuiceInMaking, SeatView, View
from service.contract import juices_pb2 as pb
from service.translation.encoding import field
from service.translation.translator import MalformedMove


class _Translator:
    """Translates between `engine.juices` and `sodafountain/v1/juices.proto`."""

    def options_value(self, message: pb.JuicesOptions) -> Options:
        return Options(
            mode=Mode(message.mode) if message.mode else None,
            copies=message.copies if message.HasField("copies") else None,
            cursed_wild=message.cursed_wild,
            juice_masters=message.juice_masters,
            complements_everywhere=message.complements_everywhere,
        )

    def options_message(self, options: Options) -> pb.JuicesOptions:
        return pb.JuicesOptions(
            mode=pb.JUICES_MODE_UNSPECIFIED if options.mode is None else _mode(options.mode),
            copies=options.copies,
            cursed_wild=options.cursed_wild,
            juice_masters=options.juice_masters,
            complements_everywhere=options.complements_everywhere,
        )

    def move_value(self, message: pb.JuicesMove) -> Move:
        match message.WhichOneof("action"):
            case "keep":
                return Keep(message.keep.tile)
            case "place":
                return Place(message.place.tile, _cell_value(message.place.cell))
            case "make_juice":
                juice = message.make_juice
                kept = _cell_value(juice.kept) if juice.HasField("kept") else None
                return MakeJuice(Fruit(juice.fruit), _cell_values(juice.cells), kept)
            case "shift":
                return Shift(_cell_values(message.shift.part), message.shift.rows, message.shift.columns)
            case "add_block":
                return AddBlock(_cell_value(message.add_block))
            case "remove_block":
                return RemoveBlock(_cell_value(message.remove_block))
            case "pass_blocks":
                return Pass()
            case "discard_automa_tile":
                return DiscardAutomaTile(message.discard_automa_tile.tile)
            case "put_block":
                return PutBlock(_cell_value(message.put_block))
        raise MalformedMove("action", "is required")

    def move_message(self, move: Move) -> pb.JuicesMove:
        match move:
            case Keep(tile):
                return pb.JuicesMove(keep=pb.JuicesMove.Keep(tile=tile))
            case Place(tile, cell):
                return pb.JuicesMove(place=pb.JuicesMove.Place(tile=tile, cell=_cell(cell)))
            case MakeJuice(fruit, cells, kept):
                return pb.JuicesMove(
                    make_juice=pb.JuicesMove.MakeJuice(
                        fruit=_fruit(fruit), cells=map(_cell, cells), kept=None if kept is None else _cell(kept)
                    )
                )
            case Shift(part, rows, columns):
                return pb.JuicesMove(shift=pb.JuicesMove.Shift(part=map(_cell, part), rows=rows, columns=columns))
            case AddBlock(cell):
                return pb.JuicesMove(add_block=_cell(cell))
            case RemoveBlock(cell):
                return pb.JuicesMove(remove_block=_cell(cell))
            case Pass():
                return pb.JuicesMove(pass_blocks=pb.JuicesMove.Pass())
            case DiscardAutomaTile(tile):
                return pb.JuicesMove(discard_automa_tile=pb.JuicesMove.DiscardAutomaTile(tile=tile))
            case PutBlock(cell):
                return pb.JuicesMove(put_block=_cell(cell))

    def view_message(self, view: View) -> bytes:
        rest = pb.JuicesView(
            mode=_mode(view.mode),
            round=view.round,
            last_round=view.last_round,
            active_order=_fruit(view.active_order),
            orders_left=view.orders_left,
            order_met=view.order_met,
            pile_size=view.pile_size,
            automa=None if view.automa is None else _automa(view.automa),
        )
        return b"".join(
            [rest.SerializeToString(), *map(_discard, view.discards), *[_seat(seat) for seat in view.seats]]
        )

    def event_message(self, event: Event) -> pb.JuicesEvent:
        match event:
            case RoundStarted(number):
                return pb.JuicesEvent(round_started=pb.JuicesEvent.RoundStarted(round=number))
            case OrderRevealed(fruit, left):
                return pb.JuicesEvent(order_revealed=pb.JuicesEvent.OrderRevealed(fruit=_fruit(fruit), left=left))
            case Reshuffled(tiles):
                return pb.JuicesEvent(reshuffled=pb.JuicesEvent.Reshuffled(tiles=tiles))
            case Drawn(seat, size, tiles):
                return pb.JuicesEvent(drawn=pb.JuicesEvent.Drawn(seat=seat, size=size, tiles=_tiles(tiles)))
            case Kept(seat, tile):
                return pb.JuicesEvent(kept=pb.JuicesEvent.Kept(seat=seat, tile=_tile_if_any(tile)))
            case PassedOn(seat, to_seat, tile):
                passed_on = pb.JuicesEvent.PassedOn(seat=seat, to_seat=to_seat, tile=_tile_if_any(tile))
                return pb.JuicesEvent(passed_on=passed_on)
            case Placed(seat, tile, cell):
                return pb.JuicesEvent(placed=pb.JuicesEvent.Placed(seat=seat, tile=_tile(tile), cell=_cell(cell)))
            case Discarded(tile, why, seat):
                reason = pb.JuicesEvent.Why.ValueType(why.value)
                return pb.JuicesEvent(discarded=pb.JuicesEvent.Discarded(tile=_tile(tile), why=reason, seat=seat))
            case JuiceMade():
                return pb.JuicesEvent(juice_made=_juice_made(event))
            case TilesLeft(seat, cells, discarded):
                tiles_left = pb.JuicesEvent.TilesLeft(seat=seat, cells=map(_cell, cells), discarded=_tiles(discarded))
                return pb.JuicesEvent(tiles_left=tiles_left)
            case PartMoved(seat, part, rows, columns):
                moved = pb.JuicesEvent.PartMoved(seat=seat, part=map(_cell, part), rows=rows, columns=columns)
                return pb.JuicesEvent(part_moved=moved)
            case BlockAdded(seat, tile, cell):
                return pb.JuicesEvent(block_added=_block_at(seat, tile, cell))
            case BlockRemoved(seat, tile, cell):
                return pb.JuicesEvent(block_removed=_block_at(seat, tile, cell))
            case ActionsLost(seat, actions):
                return pb.JuicesEvent(actions_lost=pb.JuicesEvent.ActionsLost(seat=seat, block_actions=actions))
            case ChiliServed(seat, blocks):
                allotted = [pb.JuicesEvent.Allotted(seat=block.seat, tile=_tile(block.tile)) for block in blocks]
                return pb.JuicesEvent(chili_served=pb.JuicesEvent.ChiliServed(seat=seat, blocks=allotted))
            case CoffeeServed(seat, draws):
                return pb.JuicesEvent(coffee_served=pb.JuicesEvent.CoffeeServed(seat=seat, draws=draws))
            case AutomaTook(tile):
                return pb.JuicesEvent(automa_took=pb.JuicesEvent.AutomaTook(tile=_tile(tile)))
            case AutomaJuiceMade(fruit, tiles, kept):
                made = pb.JuicesEvent.AutomaJuiceMade(fruit=_fruit(fruit), tiles=_tiles(tiles), kept=_tile_if_any(kept))
                return pb.JuicesEvent(automa_juice_made=made)
            case AutomaTilesLeft(discarded):
                left_it = pb.JuicesEvent.AutomaTilesLeft(discarded=_tiles(discarded))
                return pb.JuicesEvent(automa_tiles_left=left_it)
            case GameEnded(end):
                ended = pb.JuicesEvent.GameEnded(why=pb.JuicesEvent.End.ValueType(end.value))
                return pb.JuicesEvent(game_ended=ended)


TRANSLATOR: Final = _Translator()

_VIEW_DISCARDS: Final = pb.JuicesView.DISCARDS_FIELD_NUMBER
_VIEW_SEATS: Final = pb.JuicesView.SEATS_FIELD_NUMBER
_SEAT_GRID: Final = pb.JuicesView.SeatView.GRID_FIELD_NUMBER


# --- Values out of messages -------------------------------------------------------------------------------------------


def _cell_value(cell: pb.JuicesCell) -> Cell:
    return Cell(cell.row, cell.column)


def _cell_values(cells: Iterable[pb.JuicesCell]) -> tuple[Cell, ...]:
    """Reads cells that may come in any order; the engine names them in reading order."""
    return tuple(sorted(map(_cell_value, cells)))


# --- Messages ---------------------------------------------------------------------------------------------------------


def _mode(mode: Mode) -> pb.JuicesMode.ValueType:
    return pb.JuicesMode.ValueType(mode.value)  # the engine's numbers are the contract's


def _fruit(fruit: Fruit | None) -> pb.Fruit.ValueType:
    return pb.FRUIT_UNSPECIFIED if fruit is None else pb.Fruit.ValueType(fruit.value)


def _complement(complement: Complement) -> pb.JuicesComplement.ValueType:
    return pb.JuicesComplement.ValueType(complement.value)


@lru_cache(maxsize=16_384)
def _cell(cell: Cell) -> pb.JuicesCell:
    return pb.JuicesCell(row=cell.row, column=cell.column)


@cache  # 138 tiles
def _tile(number: int) -> pb.JuicesTile:
    tile = TILES[number]
    return pb.JuicesTile(
        number=number,
        fruits=map(_fruit, tile.fruits),
        complement=pb.JUICES_COMPLEMENT_UNSPECIFIED if tile.complement is None else _complement(tile.complement),
        wild=tile.wild,
    )


def _tile_if_any(number: int | None) -> pb.JuicesTile | None:
    return None if number is None else _tile(number)


def _tiles(numbers: Sequence[int]) -> list[pb.JuicesTile]:
    return [_tile(number) for number in numbers]


@cache
def _discard(number: int) -> bytes:
    return field(_VIEW_DISCARDS, _tile(number).SerializeToString())


@lru_cache(maxsize=16_384)  # most seats are as they were before the move
def _seat(seat: SeatView) -> bytes:
    rest = pb.JuicesView.SeatView(
        seat=seat.seat,
        asked=pb.JuicesView.Ask.ValueType(seat.asked.value),
        tiles_in_hand=seat.tiles_in_hand,
        hand=_tiles(seat.hand),
        keeps=_tile_if_any(seat.keeps),
        juices=seat.juices,
        stack=_tiles(seat.stack),
        preferred_fruit=_fruit(seat.preferred_fruit),
        making=[_in_making(juice) for juice in seat.making],
        block_actions=seat.block_actions,
        complements=map(_complement, seat.complements),
        block=_tile_if_any(seat.block),
    )
    return field(_VIEW_SEATS, rest.SerializeToString() + b"".join(map(_grid_cell, seat.grid)))


@lru_cache(maxsize=16_384)
def _grid_cell(shown: GridCell) -> bytes:
    message = pb.JuicesView.GridCell(
        cell=_cell(shown.cell),
        content=pb.JuicesView.Content.ValueType(shown.content.value),
        tile=_tile_if_any(shown.tile),
    )
    return field(_SEAT_GRID, message.SerializeToString())


def _in_making(juice: JuiceInMaking) -> pb.JuicesView.JuiceInMaking:
    return pb.JuicesView.JuiceInMaking(
        fruit=_fruit(juice.fruit), cells=map(_cell, juice.cells), kept=_tile_if_any(juice.kept)
    )


def _automa(automa: AutomaView) -> pb.JuicesView.Automa:
    return pb.JuicesView.Automa(
        tiles=_tiles(automa.tiles),
        juices=automa.juices,
        stack=_tiles(automa.stack),
        preferred_fruit=_fruit(automa.preferred_fruit),
    )


def _juice_made(event: JuiceMade) -> pb.JuicesEvent.JuiceMade:
    return pb.JuicesEvent.JuiceMade(
        seat=event.seat,
        fruit=_fruit(event.fruit),
        cells=map(_cell, event.cells),
        kept=_tile_if_any(event.kept),
        scores=event.scores,
        block_actions=event.actions,
        complements=map(_complement, event.complements),
    )


def _block_at(seat: int, tile: int, cell: Cell) -> pb.JuicesEvent.BlockAt:
    return pb.JuicesEvent.BlockAt(seat=seat, tile=_tile(tile), cell=_cell(cell))
