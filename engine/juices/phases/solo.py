"""A turn of Solo: drawing, placing one tile, and the Automa (JU-O)."""

from collections.abc import Iterable
from functools import lru_cache

from msgspec.structs import replace

from engine.errors import IllegalMove
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
from engine.juices.mutable_state import MutableState
from engine.juices.phases import ReadableState, blocks, placing, resolution, rounds
from engine.juices.state import Ask, Automa, Phase, Place

_SEAT = 0


def opponent(state: ReadableState) -> Automa:
    """Return the Automa."""
    if state.automa is None:
        raise AssertionError("only Solo has an Automa")
    return state.automa


# --- The seat ---------------------------------------------------------------------------------------------------------


def draw(state: MutableState, _: int | None) -> None:
    """Draw two tiles, of which the seat places one (JU-O2), or end the game (JU-O4)."""
    state.round += 1
    state.events.append(RoundStarted(state.round))
    hand = bytes(sorted((state.draw(), state.draw())))
    grid = state.change(_SEAT, hand=hand, fresh=b"").grid
    state.events.append(Drawn(_SEAT, DEALT, tuple(hand)))
    if complete(grid):  # JU-O4: the tiles stay in the hand
        state.last_round = True
        rounds.over(state, End.NO_CELL)
        return
    choices, cells = _may_be_placed(hand, opponent(state).preferred), openings(grid)
    if len(choices) * len(cells) > 1:
        state.ask(_SEAT, Ask.PLACE_ONE)
    else:
        place_one(state, _SEAT, Place(choices[0], cells[0]))


def legal_moves(state: ReadableState, seat: int) -> tuple[Place, ...]:
    """Return a move for each tile that may be placed and each possible cell."""
    me = state.seats[seat]
    return placing.places(_may_be_placed(me.hand, opponent(state).preferred), openings(me.grid))


def place_one(state: MutableState, seat: int, move: Place) -> None:
    """Place one of the two tiles; the other goes to the Automa."""
    placing.check(state, seat, move)
    hand = state.seats[seat].hand
    if move.tile not in _may_be_placed(hand, opponent(state).preferred):
        raise IllegalMove(f"Tile #{move.tile} must go to the Automa.")
    (other,) = hand.replace(bytes((move.tile,)), b"")
    placing.lay(state, seat, move.tile, move.cell, rest=b"")
    if TILES[other].complement is None:
        _give(state, other)
    else:
        _exchange(state, other)
    resolution.resolve(state, seat)


@lru_cache(maxsize=1 << 14)
def _may_be_placed(hand: bytes, automas_fruit: Fruit | None) -> bytes:
    """Return those of the two drawn tiles that the seat may place."""
    with_complement = [tile for tile in hand if TILES[tile].complement is not None]
    if with_complement:  # JU-O8, which overrides the rules below
        return bytes(with_complement)
    for must_go in (
        [tile for tile in hand if TILES[tile].wild],  # JU-O6, which overrides JU-O7
        [tile for tile in hand if automas_fruit in TILES[tile].fruits],  # JU-O7
    ):
        if len(must_go) == 1:
            return bytes(tile for tile in hand if tile not in must_go)
        if must_go:
            return hand
    return hand


def _give(state: MutableState, tile: int) -> None:
    state.automa = replace(opponent(state), tiles=bytes(sorted((*opponent(state).tiles, tile))))
    state.events.append(AutomaTook(tile))


def _exchange(state: MutableState, tile: int) -> None:
    """Discard the second complement tile, and give the Automa the next tile without a complement (JU-O8)."""
    state.events.append(Discarded(tile, Why.SECOND_COMPLEMENT))
    state.discard((tile,))
    if not state.can_draw(complement=False):
        return
    tile = state.draw()
    while TILES[tile].complement is not None:
        state.events.append(Discarded(tile, Why.PASSED_OVER))
        state.discard((tile,))
        tile = state.draw()
    _give(state, tile)


def remove_automa_tiles(state: MutableState, tiles: Iterable[int]) -> None:
    """Remove tiles from the Automa's tiles."""
    gone = set(tiles)
    state.automa = replace(opponent(state), tiles=bytes(tile for tile in opponent(state).tiles if tile not in gone))


# --- The Automa -------------------------------------------------------------------------------------------------------


def make_automa_juices(state: MutableState, _: int | None) -> None:
    """Make the Automa's juices (JU-O3) and put a Block for each on the agenda."""
    before = opponent(state)
    wilds = [tile for tile in before.tiles if tile in WILD_TILES]
    fruits = fruits_for_juice(before.tiles)  # JU-O6: a wild counts for every fruit
    if not fruits and not wilds:
        return
    juices = _juices(before, fruits, wilds)
    kept = [juice.kept for juice in juices if juice.kept is not None]
    used = {tile for juice in juices for tile in juice.tiles} | set(wilds)
    discarded = sorted(used - set(kept))  # JU-O6: all wilds, and before the Blocks are taken
    remove_automa_tiles(state, used)
    state.discard(discarded)
    stack = before.stack + bytes(kept)
    state.automa = replace(opponent(state), juices=before.juices + len(juices), stack=stack)
    state.events += [*juices, AutomaTilesLeft(tuple(discarded))]
    state.push((Phase.AUTOMA_BLOCK,) * len(juices))


def _juices(automa: Automa, fruits: list[Fruit], wilds: list[int]) -> list[AutomaJuiceMade]:
    """Return a juice of each of the fruits, from every tile that carries it, adjacent or not, and every wild."""
    juices: list[AutomaJuiceMade] = []
    for fruit in sorted(fruits, key=lambda fruit: (fruit == automa.preferred, fruit)):  # the preferred fruit last
        carrying = [number for number in automa.tiles if fruit in TILES[number].fruits]
        kept = [juice.kept for juice in juices]
        choices = [number for number in carrying if number not in kept]
        # JU-O7: preferably a tile with its preferred fruit; among equals the lowest number.
        keeps = min(choices, key=lambda number: (automa.preferred not in TILES[number].fruits, number), default=None)
        juices.append(AutomaJuiceMade(fruit, (*carrying, *wilds), keeps))
    return juices


def automa_block(state: MutableState, _: int | None) -> None:
    """Require the seat to add a Block to its own grid for one of the Automa's juices (JU-O3)."""
    if blocks.allot(state, _SEAT) is not None:
        blocks.require_block(state, _SEAT)
