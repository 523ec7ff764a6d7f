"""The texts of Juices, for people: prompts, labels, sentences about events, and the standings in words.

Texts of moves and events use nothing but the move or event, and prompts depend on the decision only, which is public.
No text can therefore reveal more than the view.
"""

from collections.abc import Iterable
from typing import Final

from engine.juices.components import Fruit, title
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
    ask_of,
)
from engine.texts import format_count, format_list, victory_sentence

PROMPTS: Final = {
    Ask.KEEP: "Keep one of your two tiles; the other goes to your right neighbor.",
    Ask.PLACE: "Place a tile on your grid.",
    Ask.PLACE_ONE: "Place one of the two tiles on your grid; the other goes to the Automa.",
    Ask.MAKE_JUICE: "Make a juice, and choose the tile that you keep for it.",
    Ask.SHIFT: "Move a part of your grid that is cut off.",
    Ask.BLOCK_ACTION: "Add a Block to your left neighbor's grid, remove one from yours, or pass.",
    Ask.PUT_BLOCK: "Put a Block on your grid.",
    Ask.DISCARD_AUTOMA_TILE: "Discard one of the Automa's tiles.",
}
_DISCARD_REASONS: Final = {
    Why.SECOND_COMPLEMENT: "shows a complement, so the Automa does not get it; it is discarded",
    Why.PASSED_OVER: "shows a complement, is passed over and discarded",
    Why.CURSED: "is cursed, passed over and discarded",
    Why.CHILI: "is discarded: chili takes it away from the Automa",
}
_END_REASONS: Final = {
    End.SIX_JUICES: "a seat has six juices or more",
    End.NO_CELL: "a tile could not be placed",
    End.TILES_RAN_OUT: "there are not enough tiles left to draw",
    End.ORDERS_FULFILLED: "the tenth order has been fulfilled",
}


def prompt(state: State, seat: int) -> str:
    """Return a sentence about the seat's decision; empty when it has none to make."""
    return PROMPTS.get(ask_of(state, seat), "")


def label(move: Move) -> str:
    """Return a short name of a move."""
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
            return f"Add a Block at {cell.text} on your left neighbor's grid"
        case RemoveBlock(cell):
            return f"Remove your Block at {cell.text}"
        case Pass():
            return "Pass"
        case PutBlock(cell):
            return f"Put the Block at {cell.text}"
        case DiscardAutomaTile(tile):
            return f"Discard the Automa's {title(tile)}"


def describe(event: Event) -> str:
    """Return a sentence about an event."""
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
            return f"{_sentence(title(tile))} {_DISCARD_REASONS[why]}."
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
            return f"Seat {seat} gives up {format_count(actions, 'Block action')}."
        case ChiliServed(seat, blocks):
            if not blocks:
                return f"Chili of seat {seat} takes effect."
            served = format_list([f"seat {block.seat} gets {title(block.tile)}" for block in blocks])
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
            return f"The game is over: {_END_REASONS[why]}."


def _juice(event: JuiceMade) -> str:
    keeps = "no tile" if event.kept is None else title(event.kept)
    made = f"Seat {event.seat} makes {event.fruit.phrase} juice of {len(event.cells)} tiles and keeps {keeps}"
    gains = [] if event.scores else ["does not score"]
    if event.actions:
        gains.append(f"earns {format_count(event.actions, 'Block action')}")
    if event.complements:
        gains.append(f"brings {format_list([complement.title for complement in event.complements])}")
    return f"{made}; it {format_list(gains)}." if gains else f"{made}."


def _cells(cells: Iterable[Cell]) -> str:
    return " ".join(cell.text for cell in cells)


def _tiles(tiles: tuple[int, ...]) -> str:
    names = [title(tile) for tile in tiles]
    return format_list(names) or "none"


def _number(count: int) -> str:
    return format_count(count, "tile")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _way(rows: int, columns: int) -> str:
    ways = [f"{abs(rows)} {'down' if rows > 0 else 'up'}"] if rows else []
    ways += [f"{abs(columns)} to the {'right' if columns > 0 else 'left'}"] if columns else []
    return " and ".join(ways)


# --- The standings ----------------------------------------------------------------------------------------------------


def juices_label(juices: int) -> str:
    """Return the label of the score line for juices."""
    return f"{juices} juice{'s' * (juices != 1)}"


def preferred_fruit_label(extra: int, preferred: Fruit) -> str:
    """Return the label of the score line for tiles with the preferred fruit."""
    return f"{extra} kept with {preferred.title}, the preferred fruit"


def score_note(round_number: int, solo: bool, winners: tuple[int | None, ...]) -> str:
    """Return the sentence about the standings."""
    if not winners:
        return f"The standings in {'turn' if solo else 'round'} {round_number}."
    if len(winners) > 1:  # JU-E3
        return f"{victory_sentence(winners).removesuffix('.')}; the rulebook asks for another game."
    return victory_sentence(winners, "The Automa")
