"""The text notation of Juices.

Tiles: the first two letters of each fruit (`apki` is apple-kiwi), with `!` for chili (`ap!`) or `*` for coffee (`ap*`).
The wilds are `w1` to `w4`. A tile of the second copy ends in `'`. Cells: row and column (`0,-1`).

Moves, which `str()` writes:

    keep apki
    place apki@0,1
    make_juice ap 0,0 0,1 1,1 keep 0,1          the cells of the group, and the cell whose tile is kept, if any
    shift 3,0 3,1 by -1,0                       the cells of the part, and the rows and columns of the move
    add_block 0,3
    remove_block 0,3
    pass
    put_block 0,3
    discard_automa_tile apki

Positions, after the two lines that all games share:

    mode advanced round=4 last_round order_met
    agenda end complements blocks place@1       the steps to come, the next one last; `@` seat
    pile apba w1 kist                           the next tile last
    discards apki bagr
    orders ap ki                                the active order first
    automa juices=2 preferred=ap tiles=apki,w1 stack=apba
    seat 0 ask=place hand=apki,bagr juices=2 stack=apba,leor preferred=ap
    grid 0 -1,0 M apki . . | . [bagr] . . | . . . . | . . . .
    making 0 ap 0,0 0,1 1,1 keep apki           for each juice of the current scoring

A grid has the cell where its box begins, and then the box row by row: a tile, a Block in brackets, `M` for the master,
`.` for an empty cell. Each seat's line is followed by its grid and the juices that it is making. In a view, `2*?` are
two hidden tiles; `pile` has the number of tiles, `orders` the active order and the number of the others, and `grid` the
occupied cells only.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from engine.errors import InvalidNotation
from engine.juices.components import KIND, TILE_CODES, Complement, Fruit, Mode, tile_code
from engine.juices.grid import EMPTY, MASTER, SIDE, Cell, Grid, Juice, cells_of
from engine.juices.state import (
    AddBlock,
    Ask,
    Automa,
    DiscardAutomaTile,
    Keep,
    MakeJuice,
    Move,
    Options,
    Pass,
    Phase,
    Place,
    PutBlock,
    RemoveBlock,
    Seat,
    Shift,
    State,
    Step,
)
from engine.juices.view import Content, GridCell, SeatView, View
from engine.notation import (
    HIDDEN,
    Line,
    Reader,
    format_head,
    format_line,
    format_name,
    look_up,
    parse_integer,
    parse_name,
    parse_position,
    split,
)

_FRUITS: Final[Mapping[str, Fruit]] = {fruit.letters: fruit for fruit in Fruit}

# --- Moves ------------------------------------------------------------------------------------------------------------


def parse_move(text: str) -> Move:
    """Parse a move.

    Raises:
        InvalidNotation: the text is not a move.
    """
    name, _, rest = text.partition(" ")
    match name, rest.split():
        case "keep", [tile]:
            return Keep(parse_tile(tile))
        case "place", [placement]:
            tile, cell = split(placement, "@", "a placement")
            return Place(parse_tile(tile), parse_cell(cell))
        case "make_juice", [fruit, *cells, "keep", kept] if cells:
            return MakeJuice(look_up(_FRUITS, fruit, "fruit"), tuple(map(parse_cell, cells)), parse_cell(kept))
        case "make_juice", [fruit, *cells] if cells:
            return MakeJuice(look_up(_FRUITS, fruit, "fruit"), tuple(map(parse_cell, cells)), None)
        case "shift", [*cells, "by", way]:
            by = parse_cell(way)
            return Shift(tuple(map(parse_cell, cells)), by.row, by.column)
        case "add_block", [cell]:
            return AddBlock(parse_cell(cell))
        case "remove_block", [cell]:
            return RemoveBlock(parse_cell(cell))
        case "pass", []:
            return Pass()
        case "put_block", [cell]:
            return PutBlock(parse_cell(cell))
        case "discard_automa_tile", [tile]:
            return DiscardAutomaTile(parse_tile(tile))
    raise InvalidNotation(
        f"{text!r} is not a move; a move begins with keep, place, make_juice, shift, add_block, remove_block, pass, "
        "put_block or discard_automa_tile, followed by its parts"
    )


def parse_tile(text: str) -> int:
    """Parse a tile and return its number.

    Raises:
        InvalidNotation: the text is not a tile.
    """
    if text not in TILE_CODES:
        raise InvalidNotation(f"a tile must have a form such as apki, ap!, ap* or w1, not {text!r}")
    return TILE_CODES[text]


def parse_cell(text: str) -> Cell:
    """Parse a cell.

    Raises:
        InvalidNotation: the text is not a cell.
    """
    row, column = split(text, ",", "a cell")
    return Cell(parse_integer(row, "row"), parse_integer(column, "column"))


# --- Positions --------------------------------------------------------------------------------------------------------


def format_state(state: State) -> str:
    """Return the notation of a state."""
    return "\n".join(_lines(state)) + "\n"


def _lines(state: State) -> Iterator[str]:
    yield from format_head(KIND, state.options, state.rng)
    yield format_line(
        "mode",
        format_name(state.mode),
        f"round={state.round}",
        last_round=state.last_round,
        order_met=state.order_met,
    )
    yield format_line("agenda", *map(_step, state.agenda))
    yield format_line("pile", *map(tile_code, state.pile))
    yield format_line("discards", *map(tile_code, state.discards))
    yield format_line("orders", *(Fruit(fruit).letters for fruit in state.orders))
    if state.automa is not None:
        yield format_line(
            "automa",
            juices=state.automa.juices or None,
            preferred=_fruit(state.automa.preferred),
            tiles=_tiles(state.automa.tiles),
            stack=_tiles(state.automa.stack),
        )
    for number, (seat, ask) in enumerate(zip(state.seats, state.asks, strict=True)):
        yield format_line("seat", number, **_seat_fields(seat, Ask(ask)))
        yield format_line("grid", number, Cell(seat.grid.row, seat.grid.column), *_grid(seat.grid))
        for juice in seat.making:
            yield format_line("making", number, *_juice(seat.grid, juice))


def _seat_fields(seat: Seat, ask: Ask) -> dict[str, object]:
    return {
        "ask": format_name(ask) if ask else None,
        "hand": _tiles(seat.hand),
        "passing": _tile(seat.passing),
        "received": _tile(seat.received),
        "juices": seat.juices or None,
        "stack": _tiles(seat.stack),
        "preferred": _fruit(seat.preferred),
        "actions": seat.actions or None,
        "fresh": _tiles(seat.fresh),
        "effects": ",".join(format_name(Complement(effect)) for effect in seat.effects),
        "block": _tile(seat.block),
    }


def _step(step: Step) -> str:
    return format_name(step.phase) + ("" if step.seat is None else f"@{step.seat}")


def _tile(tile: int | None) -> str | None:
    return None if tile is None else tile_code(tile)


def _tiles(tiles: Iterable[int]) -> str:
    return ",".join(map(tile_code, tiles))


def _fruit(fruit: Fruit | None) -> str | None:
    return None if fruit is None else fruit.letters


def _grid(grid: Grid) -> Iterator[str]:
    for index, code in enumerate(grid.cells):
        if index and index % SIDE == 0:
            yield "|"
        if code == EMPTY:
            yield "."
        elif code == MASTER:
            yield "M"
        else:
            yield f"[{tile_code(code)}]" if _bit(index) & grid.blocks else tile_code(code)


def _bit(index: int) -> int:
    return 1 << SIDE * SIDE - 1 - index


def _juice(grid: Grid, juice: Juice) -> Iterator[str]:
    yield juice.fruit.letters
    yield from map(str, cells_of(grid, juice.mask))
    if juice.kept is not None:
        yield from ("keep", tile_code(juice.kept))


def parse_state(text: str) -> State:
    """Parse a position.

    Raises:
        InvalidNotation: the text is not a position of Juices.
    """
    return parse_position(text, _parse_state, format_state)


def _parse_state(text: str) -> State:
    reader = Reader(text, KIND, flags=("last_round", "order_met"))
    options, rng = reader.options(Options), reader.rng()
    head = reader.take("mode")
    agenda, pile, discards, orders = (reader.take(each) for each in ("agenda", "pile", "discards", "orders"))
    automa = reader.take_if("automa")
    seats, asks = [], []
    for line in reader.take_all("seat"):
        grid = _parse_grid(reader.take("grid"))
        making = tuple(_parse_juice(grid, juice) for juice in reader.take_all("making"))
        seats.append(_parse_seat(line, grid, making))
        asks.append(parse_name(Ask, line.fields.get("ask", format_name(Ask.NOTHING)), "ask"))
    reader.end()
    return State(
        options=options,
        mode=parse_name(Mode, head.word(0, "the mode"), "mode"),
        rng=rng,
        round=head.integer("round"),
        agenda=tuple(map(_parse_step, agenda.words)),
        asks=bytes(asks),
        seats=tuple(seats),
        pile=bytes(map(parse_tile, pile.words)),
        discards=bytes(map(parse_tile, discards.words)),
        orders=bytes(look_up(_FRUITS, word, "order") for word in orders.words),
        order_met=head.flag("order_met"),
        last_round=head.flag("last_round"),
        automa=None if automa is None else _parse_automa(automa),
    )


def _parse_step(word: str) -> Step:
    phase, _, seat = word.partition("@")
    return Step(parse_name(Phase, phase, "phase"), parse_integer(seat, "seat") if seat else None)


def _parse_automa(line: Line) -> Automa:
    return Automa(
        tiles=_parse_tiles(line, "tiles"),
        juices=line.integer("juices", 0),
        stack=_parse_tiles(line, "stack"),
        preferred=_parse_fruit(line),
    )


def _parse_seat(line: Line, grid: Grid, making: tuple[Juice, ...]) -> Seat:
    return Seat(
        grid=grid,
        hand=_parse_tiles(line, "hand"),
        passing=_parse_optional_tile(line, "passing"),
        received=_parse_optional_tile(line, "received"),
        juices=line.integer("juices", 0),
        stack=_parse_tiles(line, "stack"),
        preferred=_parse_fruit(line),
        making=making,
        actions=line.integer("actions", 0),
        fresh=_parse_tiles(line, "fresh"),
        effects=bytes(parse_name(Complement, word, "effect") for word in _list(line, "effects")),
        block=_parse_optional_tile(line, "block"),
    )


def _list(line: Line, name: str) -> list[str]:
    return line.fields[name].split(",") if name in line.fields else []


def _parse_tiles(line: Line, name: str) -> bytes:
    return bytes(map(parse_tile, _list(line, name)))


def _parse_optional_tile(line: Line, name: str) -> int | None:
    return parse_tile(line.fields[name]) if name in line.fields else None


def _parse_fruit(line: Line) -> Fruit | None:
    return look_up(_FRUITS, line.fields["preferred"], "preferred") if "preferred" in line.fields else None


def _parse_grid(line: Line) -> Grid:
    begin = parse_cell(line.word(1, "the cell where the grid begins"))
    words = [word for word in line.words[2:] if word != "|"]
    if len(words) != SIDE * SIDE:
        raise InvalidNotation(f"a grid must have {SIDE * SIDE} cells, not {len(words)}")
    cells, blocks = bytearray(), 0
    for index, word in enumerate(words):
        if word in (".", "M"):
            cells.append(EMPTY if word == "." else MASTER)
        else:
            cells.append(parse_tile(word.strip("[]")))
            blocks |= _bit(index) if word.startswith("[") else 0
    return Grid(begin.row, begin.column, bytes(cells), blocks)


def _parse_juice(grid: Grid, line: Line) -> Juice:
    fruit, words = look_up(_FRUITS, line.word(1, "the fruit"), "fruit"), line.words[2:]
    kept = parse_tile(words[-1]) if "keep" in words else None
    mask = 0
    for word in words[: words.index("keep")] if "keep" in words else words:
        cell = parse_cell(word)
        row, column = cell.row - grid.row, cell.column - grid.column
        if not (0 <= row < SIDE and 0 <= column < SIDE):
            raise InvalidNotation(f"cell {word} is outside the grid")
        mask |= _bit(row * SIDE + column)
    return Juice(fruit, mask, kept)


# --- Views ------------------------------------------------------------------------------------------------------------


def format_view(view: View) -> str:
    """Return the notation of a view."""
    return "\n".join(_view_lines(view)) + "\n"


def _view_lines(view: View) -> Iterator[str]:
    yield format_line(
        "mode", format_name(view.mode), f"round={view.round}", last_round=view.last_round, order_met=view.order_met
    )
    yield format_line("pile", view.pile_size)
    yield format_line("discards", *map(tile_code, view.discards))
    if view.active_order is not None:
        yield format_line("orders", view.active_order.letters, f"left={view.orders_left}")
    if view.automa is not None:
        yield format_line(
            "automa",
            juices=view.automa.juices or None,
            preferred=_fruit(view.automa.preferred_fruit),
            tiles=_tiles(view.automa.tiles),
            stack=_tiles(view.automa.stack),
        )
    for seat in view.seats:
        yield format_line("seat", seat.seat, **_view_seat(seat))
        yield format_line("grid", seat.seat, *map(_view_cell, seat.grid))
        for juice in seat.making:
            kept = [] if juice.kept is None else ["keep", tile_code(juice.kept)]
            yield format_line("making", seat.seat, juice.fruit.letters, *juice.cells, *kept)


def _view_seat(seat: SeatView) -> dict[str, Any]:
    hidden = seat.tiles_in_hand - len(seat.hand)
    return {
        "ask": format_name(seat.asked) if seat.asked else None,
        "hand": ",".join([*map(tile_code, seat.hand), *([f"{hidden}*{HIDDEN}"] if hidden else [])]),
        "keeps": _tile(seat.keeps),
        "juices": seat.juices or None,
        "stack": _tiles(seat.stack),
        "preferred": _fruit(seat.preferred_fruit),
        "actions": seat.block_actions or None,
        "effects": ",".join(map(format_name, seat.complements)),
        "block": _tile(seat.block),
    }


def _view_cell(shown: GridCell) -> str:
    if shown.tile is None:
        return f"M@{shown.cell}"
    tile = tile_code(shown.tile)
    return f"[{tile}]@{shown.cell}" if shown.content is Content.BLOCK else f"{tile}@{shown.cell}"
