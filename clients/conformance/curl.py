"""The driver for curl, which shows how to use the service without a library: each call is one curl command.

Libraries do more automatically. This driver uses options of curl where they exist: `--retry` for transient
errors, `--max-time` for timeouts, and another command to resume a stream.
"""

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

Json: TypeAlias = dict[str, Any]  # Any: JSON

_HTTP_ERROR: Final = 400
_UNAVAILABLE: Final = 14
_CANNOT_CONNECT: Final = (6, 7)
_TIMED_OUT: Final = 28
_PAUSE: Final = 0.1
_ENDS: Final = {"WATCH_END_REASON_DELETED": "GAME_DELETED", "WATCH_END_REASON_EXPIRED": "GAME_EXPIRED"}
_TEMPORARY: Final = ("DRAINING", "LIMIT", "STORE_UNAVAILABLE", "UNCONFIRMED", "UPGRADING")
_END_TEXTS: Final = {"GAME_DELETED": "was deleted", "GAME_EXPIRED": "has expired"}


class CallFailed(Exception):
    """A call failed; `error` is the outcome to report."""

    def __init__(self, reason: str, message: str, *, request_id: str = "", details: list[Json] | None = None) -> None:
        super().__init__(message)
        self.request_id = request_id
        found = details or []
        self.error: Json = {
            "reason": reason,
            "message": message,
            "metadata": next((detail["metadata"] for detail in found if "reason" in detail), {}),
            "fields": [violation["field"] for detail in found for violation in detail.get("fieldViolations", [])],
            "request_id": bool(request_id),
        }


@dataclass
class Player:
    """A host, seat or spectator: the values that a shell script would store in variables."""

    game: str
    token: str | None
    listed: list[Json] = field(default_factory=list)
    # By the seat of the calls: the last received version, and the etag of its open decision; empty for none.
    decisions: dict[int | None, tuple[int, str]] = field(default_factory=dict)

    def decision(self, seat: int | None) -> tuple[int, str]:
        """Return the last received version and etag of a seat."""
        return self.decisions.get(seat, (0, ""))


@dataclass
class Watch:
    """A watch: the running command, and the position in the game."""

    player: Player
    query: Json
    resume_token: str
    idle_timeout: float
    process: "subprocess.Popen[str] | None" = None
    finished: bool = False


class Driver:
    """Performs the steps of one scenario."""

    def __init__(self, connect: Json, answer: Path) -> None:
        # The file for curl's answer. If curl retries, it contains the last one.
        self._answer = str(answer)
        self._url: str = connect["target"]
        self._key: str | None = connect.get("api_key")
        self._timeout: float = connect.get("timeout", 5.0)
        self._players: dict[str, Player] = {}
        self._watches: dict[str, Watch] = {}
        self._awaiting: list[int] = []
        self._last_request_id = ""

    def step(self, step: Json) -> Json:
        """Perform a step; return its outcome."""
        do: Callable[[Json], Json] = getattr(self, f"_{step['do']}")
        try:
            return do(step)
        except CallFailed as failure:
            self._last_request_id = failure.request_id or self._last_request_id
            return {"error": failure.error}

    def close(self) -> None:
        """End all streams."""
        for watch in self._watches.values():
            stop(watch)

    def _new_game(self, step: Json) -> Json:
        body: Json = {
            "options": step["options"],
            "seatCount": step["seats"],
            "requestId": self._request_id(step),
            **{name: step[name] for name in ("seed", "sealed", "visibility") if name in step},
        }
        headers = [] if self._key is None else [f"x-api-key: {self._key}"]
        created = self._curl("/v1/games", headers, body, step, rpc="NewGame")
        game = created["state"]["gameId"]
        self._players = {f"seat {seat}": Player(game, token) for seat, token in enumerate(created["seatTokens"])}
        private = created["state"]["visibility"] == "VISIBILITY_PRIVATE"
        spectator = Player(game, created["spectatorToken"] if private else None)
        self._players |= {"host": Player(game, created["hostToken"]), "spectator": spectator}
        self._awaiting = created["state"]["awaitingSeats"]
        return {**common_fields(created["state"]), "seats": len(created["seatTokens"])}

    def _game_kinds(self, step: Json) -> Json:
        listed = self._curl("/v1/gameKinds", [], None, step, rpc="ListGameKinds")
        return {"kinds": [kind["title"] for kind in listed["gameKinds"]]}

    def _state(self, step: Json) -> Json:
        player = self._player(step)
        state = self._get(player, "", step, rpc="GetGame", includeLegalMoves=step.get("legal_moves"))["state"]
        self._remember(player, step.get("seat"), state)
        return {**common_fields(state), "viewer": state.get("viewerSeat"), "moves": len(state["legalMoves"])}

    def _legal_moves(self, step: Json) -> Json:
        player = self._player(step)
        legal = self._get(player, ":legalMoves", step, rpc="LegalMoves")
        player.listed = legal["moves"]
        player.decisions[step.get("seat")] = int(legal["version"]), legal["etag"] if legal["moves"] else ""
        return {**common_fields(legal), "moves": len(legal["moves"]), "prompt": legal["prompt"]}

    def _apply(self, step: Json) -> Json:
        player, move, seat = self._player(step), step["move"], step.get("seat")
        body: Json = {
            "move": player.listed[move]["move"] if isinstance(move, int) else move,
            "etag": step.get("etag", player.decision(seat)[1]),
            "requestId": self._request_id(step),
            **({} if seat is None else {"seat": seat}),
            **({"includeLegalMoves": True} if step.get("legal_moves") else {}),
        }
        answer = self._curl(f"/v1/games/{player.game}:applyMove", authorization(player), body, step, rpc="ApplyMove")
        state = answer["state"]
        self._remember(player, seat, state)
        commit = {"committed": int(answer["committedVersion"]), "repeated": answer["repeatedRequest"]}
        return {**common_fields(state), **commit, "events": len(answer["events"])}

    def _score(self, step: Json) -> Json:
        score = self._get(self._player(step), ":score", step, rpc="Score")
        return {"version": int(score["version"]), "finished": score["finished"], "note": score["note"]}

    def _history(self, step: Json) -> Json:
        history = self._get(self._player(step), ":history", step, rpc="GetHistory")
        entries: list[Json] = history["entries"]
        moves = sum(entry.get("move") is not None for entry in entries)
        return {"entries": len(entries), "moves": moves, "seats": history["seatCount"], "status": history["status"]}

    def _delete(self, step: Json) -> Json:
        player = self._player(step)
        self._curl(
            f"/v1/games/{player.game}", authorization(player), None, step, rpc="DeleteGame", more=["-X", "DELETE"]
        )
        return {}

    def _play(self, _step: Json) -> Json:
        moves, version = 0, 0
        while self._awaiting:
            name = f"seat {self._awaiting[0]}"
            self._legal_moves({"as": name})
            version = self._apply({"as": name, "move": 0})["version"]
            moves += 1
        return {"moves": moves, "version": version}

    def _watch(self, step: Json) -> Json:
        query = {"seat": step.get("seat"), "includeLegalMoves": step.get("legal_moves")}
        resume_token = self._watches[step["resume"]].resume_token if "resume" in step else ""
        self._watches[step["name"]] = Watch(self._player(step), query, resume_token, step.get("idle_timeout", 60.0))
        return {}

    def _next(self, step: Json) -> Json:
        watch = self._watches[step["watch"]]
        updates: list[Json] = []
        for _ in range(step["count"]):
            if (update := self._update(watch)) is None:
                return {"updates": updates, "over": True}
            updates.append(update)
        return {"updates": updates, "over": False}

    def _close(self, step: Json) -> Json:
        stop(self._watches[step["watch"]])
        return {}

    def _update(self, watch: Watch) -> Json | None:
        """Return the next update, or None at the end of the game; resume streams that end early."""
        until = time.monotonic() + watch.idle_timeout
        while not watch.finished:
            if watch.process is None:
                watch.process = self._stream(watch)
            assert watch.process.stdout is not None
            line = watch.process.stdout.readline()
            message: Json = json.loads(line) if line.strip() else {}
            match message:
                case {"end": {"reason": "WATCH_END_REASON_FINISHED"}}:
                    watch.finished = True
                case {"end": {"reason": reason}} if reason in _ENDS:
                    raise CallFailed(_ENDS[reason], f"Game {watch.player.game} {_END_TEXTS[_ENDS[reason]]}.")
                case {"snapshot": state} | {"update": {"state": state}}:
                    events = message.get("update", {}).get("events", [])
                    watch.resume_token = message["resumeToken"]
                    seat = watch.query["seat"]
                    if "snapshot" in message or int(state["version"]) >= watch.player.decision(seat)[0]:
                        self._remember(watch.player, seat, state)
                    update = {
                        "version": int(state["version"]),
                        "events": len(events),
                        "snapshot": "snapshot" in message,
                    }
                    return {**update, "moves": len(state["legalMoves"])}
                case {"heartbeat": _}:
                    watch.resume_token = message["resumeToken"]
                case {"code": code} if message["details"] and not temporary(message):
                    raise self._service_error(message, code, "")
                case _:
                    status = stop(watch)
                    if time.monotonic() + _PAUSE > until:
                        raise self._transport_error(status, "WatchGame", watch.idle_timeout, "")
                    time.sleep(_PAUSE)
        stop(watch)
        return None

    def _stream(self, watch: Watch) -> "subprocess.Popen[str]":
        query = {**watch.query, "resumeToken": watch.resume_token or None}
        command = ["curl", "-sN", f"{self._url}/v1/games/{watch.player.game}:watch{query_string(query)}"]
        for header in authorization(watch.player):
            command += ["-H", header]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")  # noqa: S603 - ours

    def _get(self, player: Player, verb: str, step: Json, *, rpc: str, **query: Any) -> Json:
        query = {"seat": step.get("seat"), **query}
        return self._curl(
            f"/v1/games/{player.game}{verb}{query_string(query)}", authorization(player), None, step, rpc=rpc
        )

    def _curl(
        self, path: str, headers: list[str], body: Json | None, step: Json, *, rpc: str, more: list[str] | None = None
    ) -> Json:
        """Run one curl command; return its answer.

        Raises:
            CallFailed: the call failed.
        """
        timeout = step.get("timeout", self._timeout)
        request_id = (body or {}).get("requestId", "")
        command = ["curl", "-s", "-o", self._answer, "-w", "%{http_code}", "--max-time", str(timeout)]
        command += ["--retry", "4", "--retry-delay", "1", f"{self._url}{path}", *(more or [])]
        for header in headers:
            command += ["-H", header]
        if body is not None:
            command += ["-d", json.dumps(body)]
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - ours
        if result.returncode:
            raise self._transport_error(result.returncode, rpc, timeout, request_id)
        answer: Json = json.loads(Path(self._answer).read_text(encoding="utf-8"))
        if int(result.stdout) >= _HTTP_ERROR:
            raise self._service_error(answer, answer["code"], request_id)
        return answer

    def _service_error(self, status: Json, code: int, request_id: str) -> CallFailed:
        details = status["details"]
        reasons = [detail["reason"] for detail in details if "reason" in detail]
        if not reasons:
            message = f"Cannot reach a Soda Fountain service at {self._url} ({status['message'].rstrip('.')})."
            return CallFailed("UNREACHABLE" if code == _UNAVAILABLE else "UNKNOWN", message, request_id=request_id)
        return CallFailed(reasons[0], status["message"], request_id=request_id, details=details)

    def _transport_error(self, exit_status: int, rpc: str, timeout: float, request_id: str) -> CallFailed:
        if exit_status == _TIMED_OUT:
            message = f"{self._url} did not answer {rpc} within {timeout:g} s."
            return CallFailed("DEADLINE_EXCEEDED", message, request_id=request_id)
        cause = "connection refused" if exit_status in _CANNOT_CONNECT else f"curl exited with status {exit_status}"
        message = f"Cannot reach a Soda Fountain service at {self._url} ({cause})."
        return CallFailed("UNREACHABLE", message, request_id=request_id)

    def _request_id(self, step: Json) -> str:
        request_id: str = step.get("request_id", "")
        return self._last_request_id if request_id == "again" else request_id or str(uuid.uuid4())

    def _player(self, step: Json) -> Player:
        if "token" not in step and "game" not in step and "without_token" not in step:
            return self._players[step["as"]]
        game = step.get("game") or self._players["host"].game
        return Player(game, step.get("token", None if step["as"] == "spectator" else "no-token"))

    def _remember(self, player: Player, seat: int | None, state: Json) -> None:
        self._awaiting = state["awaitingSeats"]
        player.listed, (_, etag) = state["legalMoves"], player.decision(seat)
        if "viewerSeat" in state:
            etag = state["etag"] if state["viewerSeat"] in state["awaitingSeats"] else ""
        player.decisions[seat] = int(state["version"]), etag


def common_fields(about: Json) -> Json:
    """Return the fields that all answers about a game have."""
    return {"version": int(about["version"]), "awaiting": about["awaitingSeats"]}


def authorization(player: Player) -> list[str]:
    """Return the header with the token, if there is one."""
    return [] if player.token is None else [f"Authorization: Bearer {player.token}"]


def temporary(status: Json) -> bool:
    """Return whether another attempt to open a stream may succeed after this error of the service."""
    return any(detail.get("reason") in _TEMPORARY for detail in status["details"])


def query_string(query: Json) -> str:
    """Return the query string of the parameters that are not None."""
    parameters = [f"{name}={json.dumps(value).strip(chr(34))}" for name, value in query.items() if value is not None]
    return f"?{'&'.join(parameters)}" if parameters else ""


def stop(watch: Watch) -> int:
    """Stop the command of a watch; return its exit status."""
    process, watch.process = watch.process, None
    if process is None:
        return 0
    process.terminate()
    with process:
        return process.wait()


def main() -> None:
    """Perform the steps of the plan."""
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for scenario in plan["scenarios"]:
        driver = Driver(scenario["connect"], Path(sys.argv[1]).with_name("answer.json"))
        for number, step in enumerate(scenario["steps"]):
            line = {"scenario": scenario["name"], "step": number, "outcome": driver.step(step)}
            print(json.dumps(line), flush=True)
        driver.close()


if __name__ == "__main__":
    main()
