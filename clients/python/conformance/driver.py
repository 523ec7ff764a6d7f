"""Drives the Python library through the plan of the conformance suite; see clients/conformance/README.md.

`driver.py sync PLAN` drives the ordinary client and `driver.py asyncio PLAN` the other.
"""

import asyncio
import base64
import inspect
import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import grpc
from google.protobuf import json_format

import sodafountain
import sodafountain.aio
from sodafountain.v1.game_pb2 import GameState, Move, Options

# What is given to a library and what it answers is JSON, and its objects are of the sync or the asyncio client.
Json: TypeAlias = dict[str, Any]
Thing: TypeAlias = Any


class Driver:
    """Does the steps of one scenario with a client of its own."""

    def __init__(self, client: Thing) -> None:
        self._client = client
        self._game: Thing = None
        self._strangers: dict[str, Thing] = {}
        self._listed: dict[int, Any] = {}
        self._watches: dict[str, Thing] = {}
        self._watchers: dict[str, Thing] = {}
        self._heard: dict[str, str] = {}
        self._awaiting: list[int] = []
        self._last_request_id: str | None = None

    async def step(self, step: Json) -> Json:
        """Does a step; returns its outcome."""
        try:
            do: Callable[[Json], Awaitable[Json]] = getattr(self, f"_{step['do']}")
            return await do(step)
        except sodafountain.SodaFountainError as error:
            if error.request_id is not None:
                self._last_request_id = error.request_id
            return {"error": told(error)}
        except (TypeError, ValueError) as error:
            return {"error": refused(error)}

    async def close(self) -> None:
        """Closes the client."""
        await awaited(self._client.close())

    async def _new_game(self, step: Json) -> Json:
        options = json_format.ParseDict(step["options"], Options())
        given = self._given(step, "sealed", "timeout")
        if "seed" in step:
            given["seed"] = base64.b64decode(step["seed"])
        self._game = await awaited(self._client.new_game(options, step["seats"], **given))
        self._noted(self._game.state)
        return {**shown(self._game.state), "seats": len(self._game.seats)}

    async def _game_kinds(self, _step: Json) -> Json:
        return {"kinds": [kind.title for kind in await awaited(self._client.game_kinds())]}

    async def _state(self, step: Json) -> Json:
        who = self._who(step)
        state = await awaited(who.state(*seat_of(step), **self._given(step, "legal_moves")))
        self._listed[id(who)] = state.legal_moves
        self._noted(state)
        viewer = state.viewer_seat if state.HasField("viewer_seat") else None
        return {**shown(state), "viewer": viewer, "moves": len(state.legal_moves)}

    async def _legal_moves(self, step: Json) -> Json:
        who = self._who(step)
        legal = await awaited(who.legal_moves(*seat_of(step)))
        self._listed[id(who)] = legal.moves
        return {**shown(legal), "moves": len(legal.moves), "prompt": legal.prompt}

    async def _apply(self, step: Json) -> Json:
        who, move = self._who(step), step["move"]
        chosen = self._listed[id(who)][move] if isinstance(move, int) else json_format.ParseDict(move, Move())
        given = self._given(step, "etag", "legal_moves", "timeout")
        answer = await awaited(who.apply(*seat_of(step), chosen, **given))
        self._listed[id(who)] = answer.state.legal_moves
        self._noted(answer.state)
        made = {
            "committed": answer.committed_version,
            "repeated": answer.repeated_request,
            "events": len(answer.events),
        }
        return {**shown(answer.state), **made}

    async def _score(self, step: Json) -> Json:
        score = await awaited(self._who(step).score())
        return {"version": score.version, "final": score.final, "note": score.note}

    async def _history(self, step: Json) -> Json:
        history = await awaited(self._who(step).history())
        return {"entries": len(history.entries), "seats": history.seat_count}

    async def _delete(self, step: Json) -> Json:
        await awaited(self._who(step).delete())
        return {}

    async def _play(self, _step: Json) -> Json:
        moves, version = 0, 0
        while self._awaiting:
            seat = self._game.seats[self._awaiting[0]]
            legal = await awaited(seat.legal_moves())
            answer = await awaited(seat.apply(legal.moves[0]))
            self._noted(answer.state)
            moves, version = moves + 1, answer.state.version
        return {"moves": moves, "version": version}

    async def _watch(self, step: Json) -> Json:
        given = self._given(step, "legal_moves")
        if "idle_timeout" in step:
            given["patience"] = step["idle_timeout"]
        if "resume" in step:
            given["resume_token"] = self._heard[step["resume"]]
        who = self._who(step)
        self._watches[step["name"]], self._watchers[step["name"]] = who.watch(*seat_of(step), **given), who
        return {}

    async def _next(self, step: Json) -> Json:
        updates: list[Json] = []
        watch = as_async(self._watches[step["watch"]])
        for _ in range(step["count"]):
            try:
                update = await anext(watch)
            except StopAsyncIteration:
                return {"updates": updates, "over": True}
            self._heard[step["watch"]] = update.resume_token
            self._listed[id(self._watchers[step["watch"]])] = update.state.legal_moves
            moves = len(update.state.legal_moves)
            told_of = {"version": update.state.version, "events": len(update.events), "snapshot": update.is_snapshot}
            updates.append({**told_of, "moves": moves})
        return {"updates": updates, "over": False}

    async def _close(self, step: Json) -> Json:
        await awaited(self._watches[step["watch"]].close())
        return {}

    async def _close_client(self, _step: Json) -> Json:
        await self.close()
        return {}

    def _who(self, step: Json) -> Thing:
        """The object that the step is about; the same for the same words, as long as the game is the last."""
        caller = step["as"]
        if "token" not in step and "game" not in step:
            if caller == "spectator":
                return self._strangers.setdefault(self._game.id, self._client.spectator(self._game.id))
            return self._game.host if caller == "host" else self._game.seats[int(caller.removeprefix("seat "))]
        game = step.get("game") or self._game.id
        if caller == "spectator":
            return self._client.spectator(game)
        return (self._client.host if caller == "host" else self._client.seat)(game, step.get("token", "no-token"))

    def _given(self, step: Json, *names: str) -> Json:
        given = {name: step[name] for name in names if name in step}
        if "request_id" in step:
            again = step["request_id"] == "again"
            given["request_id"] = self._last_request_id if again else step["request_id"]
        return given

    def _noted(self, state: GameState) -> None:
        self._awaiting = list(state.awaiting_seats)


def shown(about: Thing) -> Json:
    """What every answer about a game tells."""
    return {"version": about.version, "awaiting": list(about.awaiting_seats)}


def seat_of(step: Json) -> tuple[int, ...]:
    """The seat that a host names."""
    return (step["seat"],) if "seat" in step else ()


def told(error: sodafountain.SodaFountainError) -> Json:
    """An error, as the suite wants it told: programs switch on its class, which names its reason."""
    words = re.findall("[A-Z][a-z]*", type(error).__name__)
    reason = {
        "SODA_FOUNTAIN_ERROR": "UNKNOWN",
        "MALFORMED_REQUEST": "MALFORMED",
        "LIMIT_EXCEEDED": "LIMIT",
        "INTERNAL_ERROR": "INTERNAL",
    }
    name = "_".join(words).upper()
    return {
        "reason": reason.get(name, name),
        "message": str(error),
        "metadata": error.metadata,
        "fields": [violation.field for violation in error.field_violations],
        "request_id": error.request_id is not None,
    }


def refused(error: Exception) -> Json:
    """What the library refuses before any call."""
    return {"reason": "ARGUMENT", "message": str(error), "metadata": {}, "fields": [], "request_id": False}


async def awaited(value: Thing) -> Thing:
    """What the sync client returns, or what the asyncio client's answer is once it is there."""
    return await value if inspect.isawaitable(value) else value


def as_async(watch: Thing) -> AsyncIterator[Thing]:
    """A watch of either client, to be awaited."""
    if hasattr(watch, "__anext__"):
        return watch  # type: ignore[no-any-return] # one of the library's own, whatever its type

    async def iterated() -> AsyncIterator[Thing]:
        for update in watch:
            yield update

    return iterated()


def connect(module: Thing, where: Json) -> Thing:
    """Makes a client."""
    given: Json = {name: where[name] for name in ("timeout", "api_key") if name in where}
    if "tls" in where:
        given["tls"] = grpc.ssl_channel_credentials(Path(where["tls"]).read_bytes())
    return module.connect(where["target"], **given)


async def drive(module: Thing, plan: Json) -> None:
    """Goes through the plan."""
    for scenario in plan["scenarios"]:
        driver, refusal = None, None
        try:
            driver = Driver(connect(module, scenario["connect"]))
        except sodafountain.SodaFountainError as error:
            refusal = told(error)
        except (TypeError, ValueError) as error:
            refusal = refused(error)
        for number, step in enumerate(scenario["steps"]):
            outcome = await driver.step(step) if driver else {"error": refusal}
            print(json.dumps({"scenario": scenario["name"], "step": number, "outcome": outcome}), flush=True)
        if driver:
            await driver.close()


if __name__ == "__main__":
    face, file = sys.argv[1:]
    with suppress(KeyboardInterrupt):
        asyncio.run(
            drive(sodafountain if face == "sync" else sodafountain.aio, json.loads(Path(file).read_text("utf-8")))
        )
