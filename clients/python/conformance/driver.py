"""Run a plan of the conformance suite with the Python library; see clients/conformance/README.md.

`driver.py sync PLAN` uses the sync client, `driver.py asyncio PLAN` the asyncio client.
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
from sodafountain.v1.game_pb2 import VISIBILITY_PRIVATE, GameState, GameStatus, Move, Options, Visibility

# Steps and outcomes are JSON. The objects belong to the sync or the asyncio client.
Json: TypeAlias = dict[str, Any]
ClientObject: TypeAlias = Any


class Driver:
    """Runs the steps of one scenario with its own client."""

    def __init__(self, client: ClientObject) -> None:
        self._client = client
        self._game: ClientObject = None
        self._spectators: dict[str, ClientObject] = {}
        self._listed_moves: dict[int, Any] = {}
        self._watches: dict[str, ClientObject] = {}
        self._watch_callers: dict[str, ClientObject] = {}
        self._resume_tokens: dict[str, str] = {}
        self._awaiting: list[int] = []
        self._last_request_id: str | None = None

    async def step(self, step: Json) -> Json:
        """Run a step and return its outcome."""
        try:
            do: Callable[[Json], Awaitable[Json]] = getattr(self, f"_{step['do']}")
            return await do(step)
        except sodafountain.SodaFountainError as error:
            if error.request_id is not None:
                self._last_request_id = error.request_id
            return {"error": error_outcome(error)}
        except (TypeError, ValueError) as error:
            return {"error": argument_outcome(error)}

    async def close(self) -> None:
        """Close the client."""
        await resolve(self._client.close())

    async def _new_game(self, step: Json) -> Json:
        options = json_format.ParseDict(step["options"], Options())
        arguments = self._arguments(step, "sealed", "timeout")
        if "seed" in step:
            arguments["seed"] = base64.b64decode(step["seed"])
        if "visibility" in step:
            arguments["visibility"] = Visibility.Value(step["visibility"])
        self._game = await resolve(self._client.new_game(options, step["seats"], **arguments))
        self._record_awaiting(self._game.state)
        return {**summary(self._game.state), "seats": len(self._game.seats)}

    async def _game_kinds(self, _step: Json) -> Json:
        return {"kinds": [kind.title for kind in await resolve(self._client.game_kinds())]}

    async def _state(self, step: Json) -> Json:
        caller = self._caller(step)
        state = await resolve(caller.state(*seat_of(step), **self._arguments(step, "legal_moves")))
        self._listed_moves[id(caller)] = state.legal_moves
        self._record_awaiting(state)
        viewer = state.viewer_seat if state.HasField("viewer_seat") else None
        return {**summary(state), "viewer": viewer, "moves": len(state.legal_moves)}

    async def _legal_moves(self, step: Json) -> Json:
        caller = self._caller(step)
        legal = await resolve(caller.legal_moves(*seat_of(step)))
        self._listed_moves[id(caller)] = legal.moves
        return {**summary(legal), "moves": len(legal.moves), "prompt": legal.prompt}

    async def _apply(self, step: Json) -> Json:
        caller, move = self._caller(step), step["move"]
        chosen = self._listed_moves[id(caller)][move] if isinstance(move, int) else json_format.ParseDict(move, Move())
        arguments = self._arguments(step, "etag", "legal_moves", "timeout")
        response = await resolve(caller.apply(*seat_of(step), chosen, **arguments))
        self._listed_moves[id(caller)] = response.state.legal_moves
        self._record_awaiting(response.state)
        move_outcome = {
            "committed": response.committed_version,
            "repeated": response.repeated_request,
            "events": len(response.events),
        }
        return {**summary(response.state), **move_outcome}

    async def _score(self, step: Json) -> Json:
        score = await resolve(self._caller(step).score())
        return {"version": score.version, "finished": score.finished, "note": score.note}

    async def _history(self, step: Json) -> Json:
        history = await resolve(self._caller(step).history(*seat_of(step)))
        return {
            "entries": len(history.entries),
            "moves": sum(entry.HasField("move") for entry in history.entries),
            "seats": history.seat_count,
            "status": GameStatus.Name(history.status),
        }

    async def _delete(self, step: Json) -> Json:
        await resolve(self._caller(step).delete())
        return {}

    async def _play(self, _step: Json) -> Json:
        moves, version = 0, 0
        while self._awaiting:
            seat = self._game.seats[self._awaiting[0]]
            legal = await resolve(seat.legal_moves())
            response = await resolve(seat.apply(legal.moves[0]))
            self._record_awaiting(response.state)
            moves, version = moves + 1, response.state.version
        return {"moves": moves, "version": version}

    async def _watch(self, step: Json) -> Json:
        arguments = self._arguments(step, "legal_moves", "idle_timeout")
        if "resume" in step:
            arguments["resume_token"] = self._resume_tokens[step["resume"]]
        caller = self._caller(step)
        self._watches[step["name"]], self._watch_callers[step["name"]] = (
            caller.watch(*seat_of(step), **arguments),
            caller,
        )
        return {}

    async def _next(self, step: Json) -> Json:
        updates: list[Json] = []
        watch = as_async(self._watches[step["watch"]])
        for _ in range(step["count"]):
            try:
                update = await anext(watch)
            except StopAsyncIteration:
                return {"updates": updates, "over": True}
            self._resume_tokens[step["watch"]] = update.resume_token
            self._listed_moves[id(self._watch_callers[step["watch"]])] = update.state.legal_moves
            moves = len(update.state.legal_moves)
            version, events = update.state.version, len(update.events)
            updates.append({"version": version, "events": events, "snapshot": update.is_snapshot, "moves": moves})
        return {"updates": updates, "over": False}

    async def _close(self, step: Json) -> Json:
        await resolve(self._watches[step["watch"]].close())
        return {}

    async def _close_client(self, _step: Json) -> Json:
        await self.close()
        return {}

    def _caller(self, step: Json) -> ClientObject:
        """Return the object that makes the call: the same one for the same `as` until the next game."""
        caller = step["as"]
        if "token" in step or "game" in step or step.get("without_token"):
            game = step.get("game") or self._game.id
            if caller == "spectator":
                return self._client.spectator(game, step.get("token"))
            return (self._client.host if caller == "host" else self._client.seat)(game, step.get("token", "no-token"))
        if caller == "spectator":
            known = self._spectators.setdefault(
                self._game.id, self._client.spectator(self._game.id, self._spectator_token())
            )
        else:
            known = self._game.host if caller == "host" else self._game.seats[int(caller.removeprefix("seat "))]
        return self._restored(caller, known.commitment) if step.get("restored") else known

    def _restored(self, caller: str, commitment: bytes | None) -> ClientObject:
        """Return another object of the same caller, from what an app saves: game id, token and commitment."""
        game = self._game
        if caller == "spectator":
            return self._client.spectator(game.id, self._spectator_token(), commitment=commitment)
        if caller == "host":
            return self._client.host(game.id, game.host_token, commitment=commitment)
        token = game.seat_tokens[int(caller.removeprefix("seat "))]
        return self._client.seat(game.id, token, commitment=commitment)

    def _spectator_token(self) -> str | None:
        """Return the spectator token if the game is private; a public game needs none."""
        return self._game.spectator_token if self._game.state.visibility == VISIBILITY_PRIVATE else None

    def _arguments(self, step: Json, *names: str) -> Json:
        arguments = {name: step[name] for name in names if name in step}
        if "request_id" in step:
            again = step["request_id"] == "again"
            arguments["request_id"] = self._last_request_id if again else step["request_id"]
        return arguments

    def _record_awaiting(self, state: GameState) -> None:
        self._awaiting = list(state.awaiting_seats)


def summary(about: ClientObject) -> Json:
    """Return the fields that the outcomes about a game share."""
    return {"version": about.version, "awaiting": list(about.awaiting_seats)}


def seat_of(step: Json) -> tuple[int, ...]:
    """Return the seat argument of a host's call; empty for other callers."""
    return (step["seat"],) if "seat" in step else ()


def error_outcome(error: sodafountain.SodaFountainError) -> Json:
    """Return the outcome of an error. Its class, on which programs switch, gives the reason."""
    parts = re.findall("[A-Z][a-z]*", type(error).__name__)
    reason = {
        "SODA_FOUNTAIN_ERROR": "UNKNOWN",
        "MALFORMED_REQUEST": "MALFORMED",
        "LIMIT_EXCEEDED": "LIMIT",
        "INTERNAL_ERROR": "INTERNAL",
    }
    name = "_".join(parts).upper()
    return {
        "reason": reason.get(name, name),
        "message": str(error),
        "metadata": error.metadata,
        "fields": [violation.field for violation in error.field_violations],
        "request_id": error.request_id is not None,
    }


def argument_outcome(error: Exception) -> Json:
    """Return the outcome of an argument that the library rejects before any call."""
    return {"reason": "ARGUMENT", "message": str(error), "metadata": {}, "fields": [], "request_id": False}


async def resolve(value: ClientObject) -> ClientObject:
    """Return the result of a sync call, or await the result of an asyncio call."""
    return await value if inspect.isawaitable(value) else value


def as_async(watch: ClientObject) -> AsyncIterator[ClientObject]:
    """Return a watch of either client as an async iterator."""
    if hasattr(watch, "__anext__"):
        return watch  # type: ignore[no-any-return] # a watch of the asyncio client

    async def iterated() -> AsyncIterator[ClientObject]:
        for update in watch:
            yield update

    return iterated()


def connect(module: ClientObject, settings: Json) -> ClientObject:
    """Create a client."""
    arguments: Json = {name: settings[name] for name in ("timeout", "api_key", "allow_insecure") if name in settings}
    if "tls" in settings:
        authority, key, certificate = (
            Path(settings[name]).read_bytes() if name in settings else None for name in ("tls", "key", "certificate")
        )
        arguments["tls"] = grpc.ssl_channel_credentials(authority, key, certificate)
    return module.connect(settings["target"], **arguments)


async def run_plan(module: ClientObject, plan: Json) -> None:
    """Run all scenarios of the plan and print the outcomes."""
    for scenario in plan["scenarios"]:
        driver, connect_error = None, None
        try:
            driver = Driver(connect(module, scenario["connect"]))
        except sodafountain.SodaFountainError as error:
            connect_error = error_outcome(error)
        except (TypeError, ValueError) as error:
            connect_error = argument_outcome(error)
        for number, step in enumerate(scenario["steps"]):
            outcome = await driver.step(step) if driver else {"error": connect_error}
            print(json.dumps({"scenario": scenario["name"], "step": number, "outcome": outcome}), flush=True)
        if driver:
            await driver.close()


if __name__ == "__main__":
    client_name, plan_path = sys.argv[1:]
    client_module = sodafountain if client_name == "sync" else sodafountain.aio
    with suppress(KeyboardInterrupt):
        asyncio.run(run_plan(client_module, json.loads(Path(plan_path).read_text("utf-8"))))
