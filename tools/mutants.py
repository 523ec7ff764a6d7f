"""Breaks the code of each rule in turn and demands that a test of that very rule fails.

`python -m tools.mutants [ID …]` works on copies of the tree. It fails when a mutant survives, when the text that a
mutation replaces is not in the code any more, or when a rule of docs/rules has no mutation.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from rich.console import Console
from rich.table import Table

from tools.mutations import juices

ROOT: Final = Path(__file__).parent.parent
COPIED: Final = (
    "engine",
    "docs/rules",
    "tests/__init__.py",
    "tests/conftest.py",
    "tests/engine",
    "tests/support",
    "pyproject.toml",
)
AT_ONCE: Final = 2
FAILED_TESTS: Final = 1
"""Pytest's exit code when tests ran and some failed; any other but 0 means that they did not run."""


class Mutant(NamedTuple):
    """Breaks `rule` by putting `new` in the place of `old` in `file`, where it stands exactly once."""

    rule: str
    file: str
    old: str
    new: str


COMPONENTS, RULES, SCORING, STATE, VIEW = (
    f"engine/soda_jerk/{room}.py" for room in ("components", "rules", "scoring", "state", "view")
)

MUTANTS: Final = (
    # Components and set-up
    Mutant("SJ-C1", RULES, "taps = tuple(Flavor)\n", "taps = tuple(Flavor)[:4]\n"),
    Mutant("SJ-C1", VIEW, 'B_SIDES[flavor].text if advanced else ""', "B_SIDES[flavor].text"),
    Mutant("SJ-C1", VIEW, "Tap(flavor, flavor in effects,", "Tap(flavor, flavor not in effects,"),
    Mutant("SJ-C2", STATE, "= (3, 3, 3)", "= (4, 3, 2)"),
    Mutant("SJ-C2", RULES, " or min(copies) < 0", ""),
    Mutant("SJ-C2", RULES, "sum(copies) != CARDS_PER_FLAVOR", "sum(copies) < CARDS_PER_FLAVOR"),
    Mutant("SJ-C2", RULES, "state.options.copies_per_value", "(3, 3, 3)"),
    Mutant("SJ-C3", RULES, "(SWITCHEROO,) if seat_count == 2 else ()", "(SWITCHEROO,)"),
    Mutant("SJ-C3", RULES, "(SWITCHEROO,) if seat_count == 2 else ()", "()"),
    Mutant("SJ-S1", RULES, "if seat_count not in SEATS:", "if seat_count < SEATS[0]:"),
    Mutant("SJ-S1", COMPONENTS, "range(2, 5)", "range(3, 5)"),
    Mutant("SJ-S2", COMPONENTS, "{2: 13, 3: 13, 4: 10}", "{2: 13, 3: 13, 4: 11}"),
    Mutant("SJ-S2", COMPONENTS, "{2: 13, 3: 13, 4: 10}", "{2: 12, 3: 13, 4: 10}"),
    Mutant("SJ-S2", RULES, "deck[seat * dealt : (seat + 1) * dealt]", "deck[seat : seat + dealt]"),
    Mutant("SJ-S2", RULES, "deck, rng = shuffle(rng, ", "deck, rng = (lambda rng, deck: (deck, rng))(rng, "),
    Mutant(
        "SJ-S3", RULES, "_given_or_drawn(options.first_seat, rng, range(seat_count))", "choice(rng, range(seat_count))"
    ),
    Mutant(
        "SJ-S3", RULES, "_given_or_drawn(options.first_seat, rng, range(seat_count))", "options.first_seat or 0, rng"
    ),
    Mutant("SJ-S3", RULES, "0 <= options.first_seat < seat_count", "0 <= options.first_seat <= seat_count"),
    Mutant("SJ-S3", RULES, "0 <= options.first_seat < seat_count", "options.first_seat < seat_count"),
    Mutant("SJ-S4", RULES, "_given_or_drawn(options.removed_flavor, rng, taps)", "choice(rng, taps)"),
    Mutant(
        "SJ-S4", RULES, "_given_or_drawn(options.removed_flavor, rng, taps)", "options.removed_flavor or taps[0], rng"
    ),
    Mutant("SJ-S4", RULES, "options.removed_flavor is not None and seat_count != 2", "seat_count > 4"),
    Mutant("SJ-S4", RULES, "flavor_deck(state.taps, ", "flavor_deck(tuple(Flavor), "),
    Mutant("SJ-S4", RULES, "if seat_count == 2 else ()", "if seat_count == 2 and not state.finished else ()"),
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
    Mutant("SJ-E2", RULES, "flips_in_a_row=0,\n        hands=hands", "hands=hands"),
    Mutant("SJ-E2", RULES, "return ended, (result,)", "return ended, (result, result)"),
    Mutant("SJ-E2", RULES, "return started, (result, *events)", "return started, (result, result, *events)"),
    Mutant("SJ-E3", RULES, "(flips and all(", "(not flips and all("),
    Mutant("SJ-E3", RULES, "(flips and all(", "(all("),
    Mutant("SJ-E3", RULES, "(flips and all(", "(flips and any("),
    # Scoring
    Mutant("SJ-P1", SCORING, "counts.append(-(", "counts.append(("),
    Mutant("SJ-P1", SCORING, "for packed in pile]", "for packed in pile if packed >= 64]"),
    Mutant("SJ-P1", RULES, "tuple(revealed(pile) for pile in state.piles)", "state.piles"),
    Mutant("SJ-P1", VIEW, "if over or seat == viewer else", "if seat == viewer else"),
    Mutant("SJ-P1", VIEW, "tuple(_hand(seat, hand) for", "tuple(Hand(seat, len(hand), ()) for"),
    Mutant(
        "SJ-P1",
        RULES,
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
        "for flavor, count in kept(hand).items())",
        "for flavor, count in kept(hand).items()) - hand.count(SWITCHEROO)",
    ),
    Mutant("SJ-P4", SCORING, "counts.append(card.value * effect.own_weight)", "counts.append(effect.own_weight)"),
    Mutant("SJ-P4", SCORING, "card.value if effect.others_value is None", "1 if effect.others_value is None"),
    # Three rounds
    Mutant("SJ-G1", COMPONENTS, "ROUNDS: Final = 3", "ROUNDS: Final = 2"),
    Mutant("SJ-G1", RULES, "        rng=rng,\n        effects=effects", "        effects=effects"),
    Mutant(
        "SJ-G1",
        RULES,
        "(*deck[seat * dealt : (seat + 1) * dealt], *switcheroo)",
        "(*deck[seat * dealt : (seat + 1) * dealt],)",
    ),
    Mutant("SJ-G2", RULES, "if total == min(totals)]", "if total == max(totals)]"),
    Mutant("SJ-G2", RULES, "choice(ended.rng, lowest) if len(lowest) > 1", "(lowest[0], ended.rng) if len(lowest) > 1"),
    Mutant("SJ-G2", RULES, "totals = _totals(ended)", "totals = list(finished.points)"),
    Mutant("SJ-G3", RULES, "if total == max(totals)) if final", "if total == min(totals)) if final"),
    Mutant("SJ-G3", RULES, "if total == max(totals)) if final", "if total == max(totals))[:1] if final"),
    Mutant("SJ-G3", RULES, "1 + sum(other > total", "1 + sum(other >= total"),
    Mutant("SJ-G3", RULES, "if final else ()  # SJ-G3", ""),
    # Advanced play
    Mutant("SJ-A1", COMPONENTS, "{1: 1, 2: 2, 3: len(Flavor)}", "{1: 1, 2: 1, 3: len(Flavor)}"),
    Mutant("SJ-A1", COMPONENTS, "{1: 1, 2: 2, 3: len(Flavor)}", "{1: 1, 2: 2, 3: 1}"),
    Mutant("SJ-A1", RULES, "sorted((*state.effects, *drawn", "sorted((*drawn"),
    Mutant(
        "SJ-A1", RULES, "drawn, rng = shuffle(state.rng, ", "drawn, rng = (lambda rng, taps: (taps, rng))(state.rng, "
    ),
    Mutant("SJ-A1", RULES, "if not state.options.advanced:", "if state.finished and not state.options.advanced:"),
    Mutant("SJ-A1", VIEW, "_tap(flavor, finished.effects, advanced", "_tap(flavor, (), advanced"),
    Mutant(
        "SJ-A1",
        VIEW,
        "_tap(flavor, effects, advanced, _cards(pile, viewer))",
        "_tap(flavor, (), advanced, _cards(pile, viewer))",
    ),
    Mutant("SJ-A2", COMPONENTS, "own_weight=2,", ""),
    Mutant("SJ-A2", COMPONENTS, "others_value=1,", ""),
    Mutant("SJ-A2", COMPONENTS, "face_up=True,", ""),
    Mutant("SJ-A2", COMPONENTS, "sign=-1,", ""),
    Mutant("SJ-A2", COMPONENTS, "last_weight=2,", ""),
    Mutant("SJ-A2", COMPONENTS, "{self.name} (house effect)", "{self.name}"),
    Mutant("SJ-A2", VIEW, " House effects apply", " Effects apply"),
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
    *(Mutant(*mutation) for mutation in juices.MUTATIONS),
)


class Copy:
    """A copy of the tree, in which one mutant at a time is tried."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in COPIED:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(ROOT / name, target)

    def test(self, *arguments: str) -> tuple[int, str]:
        """Runs pytest on the copy and returns its exit code and what it printed."""
        # No compiled files: they would outlive a mutant of the same length that is tried within the same second.
        environment = {**os.environ, "PYTHONPATH": str(self._folder), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *arguments, "tests/engine"]
        run = subprocess.run(  # noqa: S603 - our own command
            command, cwd=self._folder, env=environment, capture_output=True, text=True, check=False
        )
        return run.returncode, run.stdout + run.stderr

    def try_text(self, file: str, text: str, *arguments: str) -> tuple[int, str]:
        """Runs pytest while a file has another text."""
        path = self._folder / file
        before = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        try:
            return self.test(*arguments)
        finally:
            path.write_text(before, encoding="utf-8")

    def check(self) -> str:
        """Makes sure that the unbroken copy passes, and that it is the copy that is tested; returns what is wrong."""
        code, printed = self.test()
        if code != 0:
            return f"The tests fail before anything is broken.\n{printed}"
        code, printed = self.try_text("engine/__init__.py", 'raise ImportError("this is the copy")\n')
        if code == 0 or "this is the copy" not in printed:
            return f"The tests import another engine than the copy.\n{printed}"
        return ""


def verdict(copy: Copy, mutant: Mutant) -> str:
    """Tries a mutant: "killed", or what is wrong."""
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        return f"{mutant.file} has this text {text.count(mutant.old)} times"
    code, printed = copy.try_text(mutant.file, text.replace(mutant.old, mutant.new), "--rule", mutant.rule)
    if code == FAILED_TESTS:
        return "killed"
    return "SURVIVED" if code == 0 else f"the tests did not run: {printed.strip().splitlines()[-1]}"


def defined_rules() -> set[str]:
    """Lists the ids of the rules."""
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs/rules").glob("*.md"))
    return set(re.findall(r"\*\*([A-Z]{2}-[A-Z]+\d+)\*\*", pages))


def main() -> int:
    """Tries the mutants and prints what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rules", nargs="*", metavar="ID", help="only the mutants of these rules")
    wanted = set(parser.parse_args().rules) or defined_rules()
    mutants = [mutant for mutant in MUTANTS if mutant.rule in wanted]
    console = Console(highlight=False)

    with TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as threads:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(AT_ONCE):
            copies.put(Copy(Path(folder) / str(number)))
        copy = copies.get()
        if problem := copy.check():
            console.print(problem, markup=False)
            return 1
        copies.put(copy)

        def attempt(mutant: Mutant) -> str:
            copy = copies.get()
            try:
                return verdict(copy, mutant)
            finally:
                copies.put(copy)

        verdicts = []
        for done, (mutant, result) in enumerate(zip(mutants, threads.map(attempt, mutants), strict=True), start=1):
            verdicts.append(result)
            console.print(
                f"{done:3}/{len(mutants)}  {mutant.rule:6}  {result:9}  {mutant.old.strip()!r}",
                markup=False,
                soft_wrap=True,
            )

    table = Table("rule", "mutants", "killed")
    for rule in sorted(wanted):
        results = [result for mutant, result in zip(mutants, verdicts, strict=True) if mutant.rule == rule]
        table.add_row(rule, str(len(results)) if results else "NONE", str(results.count("killed")))
    console.print(table)
    missing = wanted - {mutant.rule for mutant in mutants}
    killed = verdicts.count("killed")
    console.print(f"{killed} of {len(mutants)} mutants killed; {len(missing)} rules without a mutant.")
    return 0 if killed == len(mutants) and not missing else 1


if __name__ == "__main__":
    sys.exit(main())
