"""Moves and events of Juices in words, made from nothing but what a viewer was shown."""

from collections.abc import Iterable

from engine.juices.components import title
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
    End,
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
    Why,
)
from engine.juices.grid import Cell
from engine.juices.rules import PROMPTS, asked
from engine.juices.state import (
    AddBlock,
    Ask,
    DiscardAutomaTile,
    Keep,
    MakeJuice,
    Move,
    Pass,
    Place,
    PutBlock,
    RemoveBlock,
    Shift,
    State,
)
from engine.words import counted, listed

_WHY_DISCARDED = {
    Why.SECOND_COMPLEMENT: "shows a complement, so the Automa does not get it; it is discarded",
    Why.PASSED_OVER: "shows a complement, is passed over and discarded",
    Why.CURSED: "is cursed, passed over and discarded",
    Why.CHILI: "is discarded: chili takes it away from the Automa",
}
_WHY_ENDED = {
    End.SIX_JUICES: "a seat has six juices or more",
    End.NO_CELL: "a tile could not be placed",
    End.TILES_RAN_OUT: "there are not enough tiles left to draw",
    End.ORDERS_FULFILLED: "the tenth order has been fulfilled",
}


def prompt(state: State, seat: int) -> str:
    """Says what the seat is asked, as everybody may know; empty when it is asked nothing."""
    ask = asked(state, seat)
    return PROMPTS[Ask(ask)] if ask else ""


def label(move: Move) -> str:
    """Names a move."""
    match move:
        case Keep(tile):
            return f"Keep {title(tile)}"
        case Place(tile, cell):
            return f"Place {title(tile)} at {cell.text}"
        case MakeJuice(fruit, cells, kept):
            keeping = "no tile" if kept is None else kept.text
            return f"Make {fruit.phrase} juice of {_cells(cells)}, keeping {keeping}"
        case Shift(part, rows, columns):
            return f"Move {_cells(part)} {_way(rows, columns)}"
        case AddBlock(cell):
            return f"Add a Block at {cell.text} on your left neighbour's grid"
        case RemoveBlock(cell):
            return f"Remove your Block at {cell.text}"
        case Pass():
            return "Pass"
        case PutBlock(cell):
            return f"Put the Block at {cell.text}"
        case DiscardAutomaTile(tile):
            return f"Discard the Automa's {title(tile)}"


def describe(event: Event) -> str:
    """Tells an event in a sentence."""
    match event:
        case RoundStarted(number):
            return f"Round {number} starts."
        case OrderRevealed(fruit, left):
            to_come = "1 order is" if left == 1 else f"{left} orders are"
            return f"The order is now {fruit.phrase} juice; {to_come} to come."
        case Reshuffled(tiles):
            return f"The discards, {_number(tiles)}, are shuffled and become the pile."
        case Drawn(seat, size, tiles):
            return f"Seat {seat} draws {_tiles(tiles) if tiles else _number(size)}."
        case Kept(seat, tile):
            return f"Seat {seat} keeps {'a tile' if tile is None else title(tile)}."
        case PassedOn(seat, to_seat, tile):
            return f"Seat {seat} passes {'a tile' if tile is None else title(tile)} to seat {to_seat}."
        case Placed(seat, tile, cell):
            return f"Seat {seat} places {title(tile)} at {cell.text}."
        case Discarded(tile, Why.NO_CELL, seat):
            return f"Seat {seat} has no cell for {title(tile)} and discards it; the game ends with this round."
        case Discarded(tile, why):
            return f"{_sentence(title(tile))} {_WHY_DISCARDED[why]}."
        case JuiceMade():
            return _juice(event)
        case TilesLeft(seat, cells, discarded):
            return f"{_number(len(cells))} leave the grid of seat {seat}; {_tiles(discarded)} go to the discards."
        case PartMoved(seat, part, rows, columns):
            return f"Seat {seat} moves what lies at {_cells(part)} {_way(rows, columns)}."
        case BlockAdded(seat, tile, cell):
            return f"{_sentence(title(tile))} becomes a Block at {cell.text} on the grid of seat {seat}."
        case BlockRemoved(seat, tile, cell):
            return f"The Block at {cell.text}, {title(tile)}, leaves the grid of seat {seat}."
        case ActionsLost(seat, actions):
            return f"Seat {seat} gives up {counted(actions, 'Block action')}."
        case ChiliServed(seat, blocks):
            if not blocks:
                return f"Chili of seat {seat} takes effect."
            served = listed([f"seat {block.seat} gets {title(block.tile)}" for block in blocks])
            return f"Chili of seat {seat} takes effect: {served} as {'Blocks' if len(blocks) > 1 else 'a Block'}."
        case CoffeeServed(seat, draws):
            return f"Coffee of seat {seat} takes effect{'' if draws else ', but it can draw or place nothing'}."
        case AutomaTook(tile):
            return f"The Automa gets {title(tile)}."
        case AutomaJuiceMade(fruit, tiles, kept):
            keeps = "no tile" if kept is None else title(kept)
            return f"The Automa makes {fruit.phrase} juice of {_tiles(tiles)} and keeps {keeps}."
        case AutomaTilesLeft(discarded):
            return f"The Automa discards {_tiles(discarded)}."
        case GameEnded(why):
            return f"The game is over: {_WHY_ENDED[why]}."


def _juice(event: JuiceMade) -> str:
    keeps = "no tile" if event.kept is None else title(event.kept)
    told = f"Seat {event.seat} makes {event.fruit.phrase} juice of {len(event.cells)} tiles and keeps {keeps}"
    gains = [] if event.scores else ["does not score"]
    if event.actions:
        gains.append(f"earns {counted(event.actions, 'Block action')}")
    if event.complements:
        gains.append(f"brings {listed([complement.title for complement in event.complements])}")
    return f"{told}; it {listed(gains)}." if gains else f"{told}."


def _cells(cells: Iterable[Cell]) -> str:
    return " ".join(cell.text for cell in cells)


def _tiles(tiles: tuple[int, ...]) -> str:
    names = [title(tile) for tile in tiles]
    return listed(names) or "none"


def _number(count: int) -> str:
    return counted(count, "tile")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _way(rows: int, columns: int) -> str:
    ways = [f"{abs(rows)} {'down' if rows > 0 else 'up'}"] if rows else []
    ways += [f"{abs(columns)} to the {'right' if columns > 0 else 'left'}"] if columns else []
    return " and ".join(ways)
