"""Mutants of Soda Jerk, rule by rule."""

from typing import Final

from tools.mutants.mutant import Mutant

COMPONENTS, EVENTS, RULES, SCORING, SETUP, STATE, TEXTS, VIEW = (
    f"engine/soda_jerk/{module}.py"
    for module in ("components", "events", "rules", "scoring", "setup", "state", "texts", "view")
)
SHARED_SCORING: Final = "engine/scoring.py"

MUTANTS: Final = (
    # Components and set-up
    Mutant("SJ-C1", SETUP, "taps = tuple(Flavor)\n", "taps = tuple(Flavor)[:4]\n"),
    Mutant("SJ-C1", EVENTS, 'B_SIDES[flavor].text if advanced else ""', "B_SIDES[flavor].text"),
    Mutant("SJ-C1", EVENTS, "Tap(flavor, flavor in effects,", "Tap(flavor, flavor not in effects,"),
    Mutant("SJ-C2", STATE, "= (3, 3, 3)", "= (4, 3, 2)"),
    Mutant("SJ-C2", SETUP, " or min(copies) < 0", ""),
    Mutant("SJ-C2", SETUP, "sum(copies) != CARDS_PER_FLAVOR", "sum(copies) < CARDS_PER_FLAVOR"),
    Mutant("SJ-C2", SETUP, "state.options.copies_per_value", "(3, 3, 3)"),
    Mutant("SJ-C3", SETUP, "(SWITCHEROO,) if seat_count == 2 else ()", "(SWITCHEROO,)"),
    Mutant("SJ-C3", SETUP, "(SWITCHEROO,) if seat_count == 2 else ()", "()"),
    Mutant("SJ-S1", SETUP, "if seat_count not in SEATS:", "if seat_count < SEATS[0]:"),
    Mutant("SJ-S1", COMPONENTS, "range(2, 5)", "range(3, 5)"),
    Mutant("SJ-S2", COMPONENTS, "{2: 13, 3: 13, 4: 10}", "{2: 13, 3: 13, 4: 11}"),
    Mutant("SJ-S2", COMPONENTS, "{2: 13, 3: 13, 4: 10}", "{2: 12, 3: 13, 4: 10}"),
    Mutant("SJ-S2", SETUP, "deck[seat * dealt : (seat + 1) * dealt]", "deck[seat : seat + dealt]"),
    Mutant("SJ-S2", SETUP, "deck, rng = shuffle(rng, ", "deck, rng = (lambda rng, deck: (deck, rng))(rng, "),
    Mutant(
        "SJ-S3", SETUP, "_given_or_drawn(options.first_seat, rng, range(seat_count))", "choice(rng, range(seat_count))"
    ),
    Mutant(
        "SJ-S3", SETUP, "_given_or_drawn(options.first_seat, rng, range(seat_count))", "options.first_seat or 0, rng"
    ),
    Mutant("SJ-S3", SETUP, "0 <= options.first_seat < seat_count", "0 <= options.first_seat <= seat_count"),
    Mutant("SJ-S3", SETUP, "0 <= options.first_seat < seat_count", "options.first_seat < seat_count"),
    Mutant("SJ-S4", SETUP, "_given_or_drawn(options.removed_flavor, rng, taps)", "choice(rng, taps)"),
    Mutant(
        "SJ-S4", SETUP, "_given_or_drawn(options.removed_flavor, rng, taps)", "options.removed_flavor or taps[0], rng"
    ),
    Mutant("SJ-S4", SETUP, "options.removed_flavor is not None and seat_count != 2", "seat_count > 4"),
    Mutant("SJ-S4", SETUP, "flavor_deck(state.taps, ", "flavor_deck(tuple(Flavor), "),
    Mutant("SJ-S4", SETUP, "if seat_count == 2 else ()", "if seat_count == 2 and not state.finished else ()"),
    # Turns
    Mutant("SJ-T1", RULES, "(state.seat + 1) % seat_count", "(state.seat - 1) % seat_count"),
    Mutant("SJ-T1", RULES, "if seat != state.seat:", "if seat < 0:"),
    Mutant("SJ-T1", RULES, "if seat != state.seat or", "if"),
    Mutant("SJ-T2", RULES, "code is None or code not in hand", "code is None"),
    Mutant("SJ-T2", RULES, "hand[:at] + hand[at + 1 :]", "hand"),
    Mutant("SJ-T2", RULES, "move.tap not in state.taps:  # SJ-T2", "move.tap not in Flavor:"),
    Mutant("SJ-T2", RULES, "dict.fromkeys(state.hands[seat])", "state.hands[seat]"),
    Mutant("SJ-T2", RULES, "dict.fromkeys(state.hands[seat])", "dict.fromkeys(state.hands[seat].strip(b'\\x0f'))"),
    Mutant("SJ-T2", RULES, "pile + bytes((packed,))", "bytes((packed,)) + pile"),
    Mutant("SJ-T2", RULES, "face_up = move.tap in state.effects and", "face_up = move.tap in state.effects or not"),
    Mutant("SJ-T3", RULES, "if not pile]", "]"),
    Mutant("SJ-T3", RULES, "if first_turn and pile:", "if first_turn and not hand:"),
    Mutant("SJ-T3", RULES, "if _first_turn(state, seat):  # SJ-T3\n        return []", "if False:\n        return []"),
    Mutant("SJ-T3", RULES, "if _first_turn(state, seat):  # SJ-T3\n        raise", "if False:\n        raise"),
    Mutant("SJ-T3", RULES, "FULL_HAND[len(state.hands)]", "FULL_HAND[len(state.hands)] and state.round == 1"),
    Mutant("SJ-T4", RULES, "if packed < FACE_UP  # SJ-T4", "if packed >= 0"),
    Mutant("SJ-T4", RULES, "if packed < FACE_UP  # SJ-T4", "if packed >> 4 == seat"),
    Mutant("SJ-T4", RULES, "if packed >= FACE_UP:  # SJ-T4", "if packed < 0:"),
    Mutant("SJ-T4", RULES, "not 1 <= move.position", "not 0 <= move.position"),
    Mutant("SJ-T4", RULES, "move.position <= len(pile)", "move.position <= max(2, len(pile) + 1)"),
    Mutant("SJ-T4", RULES, "packed |= FACE_UP", "packed |= 0"),
    Mutant("SJ-T4", RULES, "move.tap not in state.taps:  # SJ-T4", "move.tap not in Flavor:"),
    Mutant("SJ-T5", VIEW, "packed >= FACE_UP or packed >> SEAT_SHIFT == viewer", "packed >= 0"),
    Mutant("SJ-T5", VIEW, "packed >= FACE_UP or packed >> SEAT_SHIFT == viewer", "packed >= FACE_UP"),
    Mutant("SJ-T5", VIEW, "packed >= FACE_UP or packed >> SEAT_SHIFT == viewer", "packed >> SEAT_SHIFT == viewer"),
    Mutant("SJ-T5", VIEW, "if over or seat == viewer else", "if over or viewer is not None else"),
    Mutant("SJ-T5", VIEW, "if over or seat == viewer else", "if over else"),
    Mutant("SJ-T5", VIEW, "else Hand(seat, len(hand), ())", "else Hand(seat, 0, ())"),
    Mutant(
        "SJ-T5", VIEW, "not event.card.face_up and event.seat != viewer", "not event.card.face_up and viewer is None"
    ),
    Mutant("SJ-T5", VIEW, "not event.card.face_up and event.seat != viewer", "not event.card.face_up"),
    Mutant(
        "SJ-T5",
        VIEW,
        "PlacedCard(placed.position, placed.seat, placed.face_up, None)",
        "PlacedCard(placed.position, 0, False, None)",
    ),
    # The end of a round
    Mutant("SJ-E1", COMPONENTS, "LAST_CARDS: Final = 3", "LAST_CARDS: Final = 2"),
    Mutant("SJ-E1", COMPONENTS, "LAST_CARDS: Final = 3", "LAST_CARDS: Final = 4"),
    Mutant("SJ-E1", RULES, "len(state.hands[seat]) <= LAST_CARDS", "len(state.hands[state.seat]) <= LAST_CARDS"),
    Mutant(
        "SJ-E1", RULES, "len(state.hands[seat]) <= LAST_CARDS", "len(state.hands[seat].strip(b'\\x0f')) <= LAST_CARDS"
    ),
    Mutant("SJ-E2", RULES, "flips == seat_count", "flips == 3"),
    Mutant("SJ-E2", RULES, "flips == seat_count", "flips > seat_count"),
    Mutant("SJ-E2", RULES, "flips_in_a_row=0,  # SJ-E2", ""),
    Mutant("SJ-E2", SETUP, "flips_in_a_row=0,\n        hands=hands", "hands=hands"),
    Mutant("SJ-E2", RULES, "return ended, (result,)", "return ended, (result, result)"),
    Mutant("SJ-E2", RULES, "return started, (result, *events)", "return started, (result, result, *events)"),
    Mutant("SJ-E3", RULES, "(flips and all(", "(not flips and all("),
    Mutant("SJ-E3", RULES, "(flips and all(", "(all("),
    Mutant("SJ-E3", RULES, "(flips and all(", "(flips and any("),
    # Scoring
    Mutant("SJ-P1", SCORING, "counts.append(-(", "counts.append(("),
    Mutant("SJ-P1", SCORING, "for packed in pile]", "for packed in pile if packed >= 64]"),
    Mutant("SJ-P1", SCORING, "tuple(revealed(pile) for pile in state.piles)", "state.piles"),
    Mutant("SJ-P1", VIEW, "if over or seat == viewer else", "if seat == viewer else"),
    Mutant("SJ-P1", EVENTS, "tuple(open_hand(seat, hand) for", "tuple(Hand(seat, len(hand), ()) for"),
    Mutant(
        "SJ-P1",
        SCORING,
        "        hands=state.hands,\n        points",
        "        hands=(*state.hands[:-1], b'\\x00'),\n        points",
    ),
    Mutant("SJ-P2", SCORING, "codes.count(SWITCHEROO) % 2", "codes.count(SWITCHEROO)"),
    Mutant("SJ-P2", SCORING, "(-1 if codes.count(SWITCHEROO) % 2 else 1)", "1"),
    Mutant("SJ-P3", SCORING, "sum(count * worth[flavor]", "sum(worth[flavor]"),
    Mutant("SJ-P3", SCORING, "sum(count * worth[flavor]", "sum(count * max(0, worth[flavor])"),
    Mutant(
        "SJ-P3",
        SCORING,
        "for flavor, count in flavor_counts(hand).items())",
        "for flavor, count in flavor_counts(hand).items()) - hand.count(SWITCHEROO)",
    ),
    Mutant("SJ-P4", SCORING, "counts.append(card.value * effect.own_weight)", "counts.append(effect.own_weight)"),
    Mutant("SJ-P4", SCORING, "card.value if effect.others_value is None", "1 if effect.others_value is None"),
    # Three rounds
    Mutant("SJ-G1", COMPONENTS, "ROUNDS: Final = 3", "ROUNDS: Final = 2"),
    Mutant("SJ-G1", SETUP, "        rng=rng,\n        effects=effects", "        effects=effects"),
    Mutant(
        "SJ-G1",
        SETUP,
        "(*deck[seat * dealt : (seat + 1) * dealt], *switcheroo)",
        "(*deck[seat * dealt : (seat + 1) * dealt],)",
    ),
    Mutant("SJ-G2", RULES, "if total == min(points)]", "if total == max(points)]"),
    Mutant("SJ-G2", RULES, "choice(ended.rng, lowest) if len(lowest) > 1", "(lowest[0], ended.rng) if len(lowest) > 1"),
    Mutant("SJ-G2", RULES, "points = totals(ended)", "points = list(finished.points)"),
    Mutant("SJ-G3", SHARED_SCORING, "if score.rank == 1)", "if score.rank == max(other.rank for other in scores))"),
    Mutant("SJ-G3", SCORING, "leaders(seats) if final", "leaders(seats)[:1] if final"),
    Mutant("SJ-G3", SHARED_SCORING, "sum(other > standing", "sum(other >= standing"),
    Mutant("SJ-G3", SCORING, "if final else ()  # SJ-G3", ""),
    # Advanced play
    Mutant("SJ-A1", COMPONENTS, "{1: 1, 2: 2, 3: len(Flavor)}", "{1: 1, 2: 1, 3: len(Flavor)}"),
    Mutant("SJ-A1", COMPONENTS, "{1: 1, 2: 2, 3: len(Flavor)}", "{1: 1, 2: 2, 3: 1}"),
    Mutant("SJ-A1", SETUP, "sorted((*state.effects, *drawn", "sorted((*drawn"),
    Mutant(
        "SJ-A1", SETUP, "drawn, rng = shuffle(state.rng, ", "drawn, rng = (lambda rng, taps: (taps, rng))(state.rng, "
    ),
    Mutant("SJ-A1", SETUP, "if not state.options.advanced:", "if state.finished and not state.options.advanced:"),
    Mutant("SJ-A1", EVENTS, "                finished.effects,\n", "                (),\n"),
    Mutant(
        "SJ-A1",
        VIEW,
        "tap_with(flavor, effects, advanced, _cards(pile, viewer))",
        "tap_with(flavor, (), advanced, _cards(pile, viewer))",
    ),
    Mutant("SJ-A2", COMPONENTS, "own_weight=2,", ""),
    Mutant("SJ-A2", COMPONENTS, "others_value=1,", ""),
    Mutant("SJ-A2", COMPONENTS, "face_up=True,", ""),
    Mutant("SJ-A2", COMPONENTS, "sign=-1,", ""),
    Mutant("SJ-A2", COMPONENTS, "last_weight=2,", ""),
    Mutant("SJ-A2", COMPONENTS, "{self.name} (house effect)", "{self.name}"),
    Mutant("SJ-A2", TEXTS, " House effects apply", " Effects apply"),
    Mutant("SJ-A2", RULES, " and not first_turn\n", "\n"),
    Mutant("SJ-A2", RULES, "face_up = move.tap in state.effects and", "face_up = bool(state.effects) and"),
    Mutant("SJ-A2", RULES, "B_SIDES[move.tap].face_up and", "True and"),
    Mutant("SJ-A2", SCORING, "B_SIDES[tap] if effect_active else A_SIDE", "B_SIDES[tap]"),
    Mutant("SJ-A2", SCORING, "    if counts:\n", "    if counts and codes[-1] != SWITCHEROO:\n"),
    Mutant("SJ-A2", SCORING, "counts[-1] *=", "counts[0] *="),
    Mutant("SJ-A3", SCORING, "return sum(counts) *", "return sum(counts) * effect.own_weight *"),
    Mutant("SJ-A3", SCORING, "return sum(counts) * effect.sign", "return sum(counts) * effect.last_weight"),
    Mutant(
        "SJ-A3",
        SCORING,
        "(-1 if codes.count(SWITCHEROO) % 2 else 1)",
        "(-1 if codes.count(SWITCHEROO) % 2 and not effect.name else 1)",
    ),
)
