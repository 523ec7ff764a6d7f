"""Drives curl, as somebody would who has no library: every call is one command line, and its JSON is read from stdout.

What libraries do by themselves is done here by hand, with curl's own means where it has any: `--retry` for what passes,
`--max-time` for deadlines, a second command where a stream was cut.
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
_WORDS: Final = {"GAME_DELETED": "was deleted", "GAME_EXPIRED": "has expired"}


class Refused(Exception):
    """A call failed; `error` is what the suite wants told."""

    def __init__(self, reason: str, message: str, *, request_id: str = "", details: list[Json] | None = None) -> None:
        super().__init__(message)
        self.request_id = request_id
        found = details or []
        self.error: Json = {
            "reason": reason,
            "message": message,
            "metadata": next((detail["metadata"] for detail in found if "reason" in detail), {}),
            "fields": [wrong["field"] for detail in found for wrong in detail.get("fieldViolations", [])],
            "request_id": bool(request_id),
        }


@dataclass
class Caller:
    """Who calls: what a shell script would keep in variables."""

    game: str
    token: str | None
    listed: list[Json] = field(default_factory=list)
    # By seat, as in the calls: the version that was seen last, and the etag of the decision that was open then, if any.
    decisions: dict[int | None, tuple[int, str]] = field(default_factory=dict)

    def decision(self, seat: int | None) -> tuple[int, str]:
        """What was seen last of a seat's decision."""
        return self.decisions.get(seat, (0, ""))


@dataclass
class Watching:
    """A watch: the command that runs, and what it was told last."""

    caller: Caller
    query: Json
    resume_token: str
    patience: float
    process: "subprocess.Popen[str] | None" = None
    finished: bool = False


class Driver:
    """Does the steps of one scenario."""

    def __init__(self, connect: Json, answer: Path) -> None:
        # Where curl writes an answer: of several tries, the last.
        self._answer = str(answer)
        self._url: str = connect["target"]
        self._key: str | None = connect.get("api_key")
        self._timeout: float = connect.get("timeout", 5.0)
        self._callers: dict[str, Caller] = {}
        self._watches: dict[str, Watching] = {}
        self._awaiting: list[int] = []
        self._last_request_id = ""

    def step(self, step: Json) -> Json:
        """Does a step; returns its outcome."""
        do: Callable[[Json], Json] = getattr(self, f"_{step['do']}")
        try:
            return do(step)
        except Refused as refused:
            self._last_request_id = refused.request_id or self._last_request_id
            return {"error": refused.error}

    def close(self) -> None:
        """Ends every stream."""
        for watching in self._watches.values():
            end(watching)

    def _new_game(self, step: Json) -> Json:
        body: Json = {
            "options": step["options"],
            "seatCount": step["seats"],
            "requestId": self._request_id(step),
            **{name: step[name] for name in ("seed", "sealed") if name in step},
        }
        headers = [] if self._key is None else [f"x-api-key: {self._key}"]
        made = self._curl("/v1/games", headers, body, step, rpc="NewGame")
        game = made["state"]["gameId"]
        self._callers = {f"seat {seat}": Caller(game, token) for seat, token in enumerate(made["seatTokens"])}
        self._callers |= {"host": Caller(game, made["hostToken"]), "spectator": Caller(game, None)}
        self._awaiting = made["state"]["awaitingSeats"]
        return {**shown(made["state"]), "seats": len(made["seatTokens"])}

    def _game_kinds(self, step: Json) -> Json:
        listed = self._curl("/v1/gameKinds", [], None, step, rpc="ListGameKinds")
        return {"kinds": [kind["title"] for kind in listed["gameKinds"]]}

    def _state(self, step: Json) -> Json:
        caller = self._who(step)
        state = self._get(caller, "", step, rpc="GetGame", includeLegalMoves=step.get("legal_moves"))["state"]
        self._seen(caller, step.get("seat"), state)
        return {**shown(state), "viewer": state.get("viewerSeat"), "moves": len(state["legalMoves"])}

    def _legal_moves(self, step: Json) -> Json:
        caller = self._who(step)
        legal = self._get(caller, ":legalMoves", step, rpc="LegalMoves")
        caller.listed = legal["moves"]
        caller.decisions[step.get("seat")] = int(legal["version"]), legal["etag"] if legal["moves"] else ""
        return {**shown(legal), "moves": len(legal["moves"]), "prompt": legal["prompt"]}

    def _apply(self, step: Json) -> Json:
        caller, move, seat = self._who(step), step["move"], step.get("seat")
        body: Json = {
            "move": caller.listed[move]["move"] if isinstance(move, int) else move,
            "etag": step.get("etag", caller.decision(seat)[1]),
            "requestId": self._request_id(step),
            **({} if seat is None else {"seat": seat}),
            **({"includeLegalMoves": True} if step.get("legal_moves") else {}),
        }
        answer = self._curl(f"/v1/games/{caller.game}:applyMove", bearer(caller), body, step, rpc="ApplyMove")
        state = answer["state"]
        self._seen(caller, seat, state)
        made = {"committed": int(answer["committedVersion"]), "repeated": answer["repeatedRequest"]}
        return {**shown(state), **made, "events": len(answer["events"])}

    def _score(self, step: Json) -> Json:
        score = self._get(self._who(step), ":score", step, rpc="Score")
        return {"version": int(score["version"]), "final": score["final"], "note": score["note"]}

    def _history(self, step: Json) -> Json:
        history = self._get(self._who(step), ":history", step, rpc="GetHistory")
        return {"entries": len(history["entries"]), "seats": history["seatCount"]}

    def _delete(self, step: Json) -> Json:
        caller = self._who(step)
        self._curl(f"/v1/games/{caller.game}", bearer(caller), None, step, rpc="DeleteGame", more=["-X", "DELETE"])
        return {}

    def _play(self, _step: Json) -> Json:
        moves, version = 0, 0
        while self._awaiting:
            who = f"seat {self._awaiting[0]}"
            self._legal_moves({"as": who})
            version = self._apply({"as": who, "move": 0})["version"]
            moves += 1
        return {"moves": moves, "version": version}

    def _watch(self, step: Json) -> Json:
        query = {"seat": step.get("seat"), "includeLegalMoves": step.get("legal_moves")}
        resume_token = self._watches[step["resume"]].resume_token if "resume" in step else ""
        self._watches[step["name"]] = Watching(self._who(step), query, resume_token, step.get("patience", 60.0))
        return {}

    def _next(self, step: Json) -> Json:
        watching = self._watches[step["watch"]]
        updates: list[Json] = []
        for _ in range(step["count"]):
            if (update := self._update(watching)) is None:
                return {"updates": updates, "over": True}
            updates.append(update)
        return {"updates": updates, "over": False}

    def _close(self, step: Json) -> Json:
        end(self._watches[step["watch"]])
        return {}

    def _update(self, watching: Watching) -> Json | None:
        """The next update; a stream that ends before the game is begun again where it was."""
        until = time.monotonic() + watching.patience
        while not watching.finished:
            if watching.process is None:
                watching.process = self._stream(watching)
            assert watching.process.stdout is not None
            line = watching.process.stdout.readline()
            message: Json = json.loads(line) if line.strip() else {}
            match message:
                case {"end": {"reason": "WATCH_END_REASON_FINISHED"}}:
                    watching.finished = True
                case {"end": {"reason": reason}} if reason in _ENDS:
                    raise Refused(_ENDS[reason], f"Game {watching.caller.game} {_WORDS[_ENDS[reason]]}.")
                case {"snapshot": state} | {"update": {"state": state}}:
                    events = message.get("update", {}).get("events", [])
                    watching.resume_token = message["resumeToken"]
                    seat = watching.query["seat"]
                    if "snapshot" in message or int(state["version"]) >= watching.caller.decision(seat)[0]:
                        self._seen(watching.caller, seat, state)
                    told = {"version": int(state["version"]), "events": len(events), "snapshot": "snapshot" in message}
                    return {**told, "moves": len(state["legalMoves"])}
                case {"heartbeat": _}:
                    watching.resume_token = message["resumeToken"]
                case {"code": code} if message["details"]:
                    raise self._refused(message, code, "")
                case _:
                    status = end(watching)
                    if time.monotonic() + _PAUSE > until:
                        raise self._unreachable(status, "WatchGame", watching.patience, "")
                    time.sleep(_PAUSE)
        end(watching)
        return None

    def _stream(self, watching: Watching) -> "subprocess.Popen[str]":
        query = {**watching.query, "resumeToken": watching.resume_token or None}
        command = ["curl", "-sN", f"{self._url}/v1/games/{watching.caller.game}:watch{asked(query)}"]
        for header in bearer(watching.caller):
            command += ["-H", header]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")  # noqa: S603 - ours

    def _get(self, caller: Caller, verb: str, step: Json, *, rpc: str, **query: Any) -> Json:
        query = {"seat": step.get("seat"), **query}
        return self._curl(f"/v1/games/{caller.game}{verb}{asked(query)}", bearer(caller), None, step, rpc=rpc)

    def _curl(
        self, path: str, headers: list[str], body: Json | None, step: Json, *, rpc: str, more: list[str] | None = None
    ) -> Json:
        """One command line; the JSON that it prints.

        Raises:
            Refused: the call failed.
        """
        timeout = step.get("timeout", self._timeout)
        request_id = (body or {}).get("requestId", "")
        command = ["curl", "-s", "-o", self._answer, "-w", "%{http_code}", "--max-time", str(timeout)]
        command += ["--retry", "4", "--retry-delay", "1", f"{self._url}{path}", *(more or [])]
        for header in headers:
            command += ["-H", header]
        if body is not None:
            command += ["-d", json.dumps(body)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - ours
        if done.returncode:
            raise self._unreachable(done.returncode, rpc, timeout, request_id)
        answer: Json = json.loads(Path(self._answer).read_text(encoding="utf-8"))
        if int(done.stdout) >= _HTTP_ERROR:
            raise self._refused(answer, answer["code"], request_id)
        return answer

    def _refused(self, status: Json, code: int, request_id: str) -> Refused:
        details = status["details"]
        reasons = [detail["reason"] for detail in details if "reason" in detail]
        if not reasons:
            message = f"Cannot reach a Soda Fountain service at {self._url} ({status['message'].rstrip('.')})."
            return Refused("UNREACHABLE" if code == _UNAVAILABLE else "UNKNOWN", message, request_id=request_id)
        return Refused(reasons[0], status["message"], request_id=request_id, details=details)

    def _unreachable(self, exit_status: int, rpc: str, timeout: float, request_id: str) -> Refused:
        if exit_status == _TIMED_OUT:
            message = f"{self._url} did not answer {rpc} within {timeout:g} s."
            return Refused("DEADLINE_EXCEEDED", message, request_id=request_id)
        cause = "connection refused" if exit_status in _CANNOT_CONNECT else f"curl's exit status is {exit_status}"
        message = f"Cannot reach a Soda Fountain service at {self._url} ({cause})."
        return Refused("UNREACHABLE", message, request_id=request_id)

    def _request_id(self, step: Json) -> str:
        given: str = step.get("request_id", "")
        return self._last_request_id if given == "again" else given or str(uuid.uuid4())

    def _who(self, step: Json) -> Caller:
        if "token" not in step and "game" not in step:
            return self._callers[step["as"]]
        game = step.get("game") or self._callers["host"].game
        return Caller(game, None if step["as"] == "spectator" else step.get("token", "no-token"))

    def _seen(self, caller: Caller, seat: int | None, state: Json) -> None:
        self._awaiting = state["awaitingSeats"]
        caller.listed, (_, etag) = state["legalMoves"], caller.decision(seat)
        if "viewerSeat" in state:
            etag = state["etag"] if state["viewerSeat"] in state["awaitingSeats"] else ""
        caller.decisions[seat] = int(state["version"]), etag


def shown(about: Json) -> Json:
    """What every answer about a game tells."""
    return {"version": int(about["version"]), "awaiting": about["awaitingSeats"]}


def bearer(caller: Caller) -> list[str]:
    """The header that shows a token."""
    return [] if caller.token is None else [f"Authorization: Bearer {caller.token}"]


def asked(query: Json) -> str:
    """The query string of what is set."""
    given = [f"{name}={json.dumps(value).strip(chr(34))}" for name, value in query.items() if value is not None]
    return f"?{'&'.join(given)}" if given else ""


def end(watching: Watching) -> int:
    """Ends the command of a watch; returns its exit status."""
    process, watching.process = watching.process, None
    if process is None:
        return 0
    process.terminate()
    with process:
        return process.wait()


def main() -> None:
    """Goes through the plan."""
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for scenario in plan["scenarios"]:
        driver = Driver(scenario["connect"], Path(sys.argv[1]).with_name("answer.json"))
        for number, step in enumerate(scenario["steps"]):
            line = {"scenario": scenario["name"], "step": number, "outcome": driver.step(step)}
            print(json.dumps(line), flush=True)
        driver.close()


if __name__ == "__main__":
    main()
