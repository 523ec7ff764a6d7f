"""A turn of Solo: what is drawn and who gets it, and the Automa (JU-O1 …)."""

from collections.abc import Iterable
from functools import lru_cache

from msgspec.structs import replace

from engine.errors import IllegalMove
from engine.juices.agenda import Phase
from engine.juices.components import DEALT, TILES, WILD_TILES, Fruit, fruits_for_juice
from engine.juices.events import (
    AutomaJuiceMade,
    AutomaTilesLeft,
    AutomaTook,
    Discarded,
    Drawn,
    End,
    RoundStarted,
    Why,
)
from engine.juices.grid import complete, openings
from engine.juices.phases import Position, blocks, placing, rounds, scoring
from engine.juices.state import Ask, Automa, Place
from engine.juices.table import Table

_SEAT = 0


def opponent(position: Position) -> Automa:
    """The Automa."""
    if position.automa is None:
        raise AssertionError("only Solo has an Automa")
    return position.automa


# --- The seat ---------------------------------------------------------------------------------------------------------


def draw(table: Table, _: int | None) -> None:
    """Draws two tiles, of which the seat places one (JU-O2), or ends the game (JU-O4)."""
    table.round += 1
    table.events.append(RoundStarted(table.round))
    hand = bytes(sorted((table.draw(), table.draw())))
    grid = table.change(_SEAT, hand=hand, fresh=b"").grid
    table.events.append(Drawn(_SEAT, DEALT, tuple(hand)))
    if complete(grid):
        rounds.over(table, End.NO_CELL)
        return
    choices, cells = _may_be_placed(hand, opponent(table).preferred), openings(grid)
    if len(choices) * len(cells) > 1:
        table.ask(_SEAT, Ask.PLACE_ONE)
    else:
        place_one(table, _SEAT, Place(choices[0], cells[0]))


def legal_moves(position: Position, seat: int) -> tuple[Place, ...]:
    """Lists the tiles that may be placed with the cells for each."""
    me = position.seats[seat]
    return placing.places(_may_be_placed(me.hand, opponent(position).preferred), openings(me.grid))


def place_one(table: Table, seat: int, move: Place) -> None:
    """Places one of the two tiles; the other goes to the Automa."""
    placing.check(table, seat, move)
    hand = table.seats[seat].hand
    if move.tile not in _may_be_placed(hand, opponent(table).preferred):
        raise IllegalMove(f"Tile #{move.tile} must go to the Automa.")
    (other,) = hand.replace(bytes((move.tile,)), b"")
    placing.lay(table, seat, move.tile, move.cell, then_holding=b"")
    if TILES[other].complement is None:
        _give(table, other)
    else:
        _exchange(table, other)
    scoring.settle(table, seat)


@lru_cache(maxsize=1 << 14)
def _may_be_placed(hand: bytes, automas_fruit: Fruit | None) -> bytes:
    """Tells which of the two drawn tiles the seat may place."""
    with_complement = [tile for tile in hand if TILES[tile].complement is not None]
    if with_complement:  # JU-O8, also against what follows
        return bytes(with_complement)
    for must_go in (
        [tile for tile in hand if TILES[tile].wild],  # JU-O6, and before JU-O7
        [tile for tile in hand if automas_fruit in TILES[tile].fruits],  # JU-O7
    ):
        if len(must_go) == 1:
            return bytes(tile for tile in hand if tile not in must_go)
        if must_go:
            return hand
    return hand


def _give(table: Table, tile: int) -> None:
    table.automa = replace(opponent(table), tiles=bytes(sorted((*opponent(table).tiles, tile))))
    table.events.append(AutomaTook(tile))


def _exchange(table: Table, tile: int) -> None:
    """JU-O8: a second complement tile is discarded, and the Automa gets the next tile that has none."""
    table.events.append(Discarded(tile, Why.SECOND_COMPLEMENT))
    table.discard((tile,))
    if not table.can_draw(complement=False):
        return
    tile = table.draw()
    while TILES[tile].complement is not None:
        table.events.append(Discarded(tile, Why.PASSED_OVER))
        table.discard((tile,))
        tile = table.draw()
    _give(table, tile)


def lose(table: Table, tiles: Iterable[int]) -> None:
    """Takes tiles away from the Automa."""
    gone = set(tiles)
    table.automa = replace(opponent(table), tiles=bytes(tile for tile in opponent(table).tiles if tile not in gone))


# --- The Automa -------------------------------------------------------------------------------------------------------


def automa(table: Table, _: int | None) -> None:
    """Makes the Automa's juices (JU-O3) and puts a Block for each on the agenda."""
    before = opponent(table)
    wilds = [tile for tile in before.tiles if tile in WILD_TILES]
    fruits = fruits_for_juice(before.tiles)  # JU-O6: a wild counts for every fruit at once
    if not fruits and not wilds:
        return
    juices = _juices(before, fruits, wilds)
    kept = [juice.kept for juice in juices if juice.kept is not None]
    used = {tile for juice in juices for tile in juice.tiles} | set(wilds)
    discarded = sorted(used - set(kept))  # JU-O6: a wild in any case, and before the Blocks are taken
    lose(table, used)
    table.discard(discarded)
    stack = before.stack + bytes(kept)
    table.automa = replace(opponent(table), juices=before.juices + len(juices), stack=stack)
    table.events += [*juices, AutomaTilesLeft(tuple(discarded))]
    table.push((Phase.AUTOMA_BLOCK,) * len(juices))


def _juices(automa: Automa, fruits: list[Fruit], wilds: list[int]) -> list[AutomaJuiceMade]:
    """Makes a juice of each of these fruits, of every tile that carries it, adjacent or not, and of every wild."""
    juices: list[AutomaJuiceMade] = []
    for fruit in sorted(fruits, key=lambda fruit: (fruit == automa.preferred, fruit)):  # the preferred fruit last
        carrying = [number for number in automa.tiles if fruit in TILES[number].fruits]
        kept = [juice.kept for juice in juices]
        choices = [number for number in carrying if number not in kept]
        # JU-O7: where it can, a tile with its preferred fruit; the lowest number of those that are equal in this.
        keeps = min(choices, key=lambda number: (automa.preferred not in TILES[number].fruits, number), default=None)
        juices.append(AutomaJuiceMade(fruit, (*carrying, *wilds), keeps))
    return juices


def automa_block(table: Table, _: int | None) -> None:
    """Has the seat add a Block to its own grid for one of the Automa's juices (JU-O3)."""
    if blocks.allot(table, _SEAT) is not None:
        blocks.demand(table, _SEAT)
