"""What the recorder notes of a call, told without what differs from run to run: ids, tokens, nonces."""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from google.protobuf import json_format
from google.protobuf.message import Message

Told: TypeAlias = dict[str, Any]  # Any: JSON
"""A call as scenarios.yaml has it."""

_ETAG: Final = re.compile(r"(\d+)-[0-9a-f]{16}")
_RESUME_TOKEN: Final = re.compile(r"w(\d+)-[0-9a-f]{16}")
_BEARER: Final = "Bearer "


@dataclass(kw_only=True)
class Note:
    """A call that arrived.

    Attributes:
        rpc: its name.
        request: its message.
        metadata: what came with it.
        deadline: how many seconds it had left; None where it may take for ever.
        answer: how it ended: OK, the reason of a refusal, a status code without a reason, or the trouble that was made.
        reply: what was answered, if it was no stream and anything was.
    """

    rpc: str
    request: Message
    metadata: Mapping[str, str | bytes]
    deadline: float | None
    answer: str = "OK"
    reply: Message | None = None


@dataclass
class Names:
    """Gives what is drawn by chance a name that is the same in every run: `game`, `seat 0`, `id 1`.

    Attributes:
        tokens: who is meant by a token.
        games: the ids of the games that were made, in order.
        ids: the request ids that arrived, in order.
    """

    tokens: dict[str, str] = field(default_factory=dict)
    games: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)

    def learn(self, note: Note) -> None:
        """Learns the tokens and the id of a new game."""
        if note.rpc == "NewGame" and note.reply is not None:
            made: Any = note.reply
            if made.state.game_id in self.games:
                return
            self.games.append(made.state.game_id)
            game = self.game(made.state.game_id).removeprefix("game")
            self.tokens[made.host_token] = f"host{game}"
            self.tokens |= {token: f"seat {seat}{game}" for seat, token in enumerate(made.seat_tokens)}

    def game(self, game_id: str) -> str:
        """Names a game."""
        if game_id not in self.games:
            return game_id
        number = self.games.index(game_id) + 1
        return "game" if number == 1 else f"game {number}"

    def request_id(self, request_id: str) -> str:
        """Names a request id, by its first coming; one that is no UUID of version 4 stays as it is."""
        try:
            right = uuid.UUID(request_id).version == 4
        except ValueError:
            right = False
        if not right:
            return request_id
        if request_id not in self.ids:
            self.ids.append(request_id)
        return f"id {self.ids.index(request_id) + 1}"

    def caller(self, metadata: Mapping[str, str | bytes]) -> str:
        """Names who calls."""
        shown = str(metadata.get("authorization", ""))
        if not shown:
            return "nobody"
        return self.tokens.get(shown.removeprefix(_BEARER), "a stranger") if shown.startswith(_BEARER) else shown


def told(note: Note, names: Names) -> Told:
    """Tells a call; what is as usual (no key, an answer of OK, nobody calling) is left out."""
    names.learn(note)
    request = json_format.MessageToDict(note.request)
    if "gameId" in request:
        request["gameId"] = names.game(request["gameId"])
    if "requestId" in request:
        request["requestId"] = names.request_id(request["requestId"])
    if found := _ETAG.fullmatch(request.get("etag", "")):
        request["etag"] = f"of {found[1]}"
    if found := _RESUME_TOKEN.fullmatch(request.get("resumeToken", "")):
        request["resumeToken"] = f"after {found[1]}"
    call: Told = {"rpc": note.rpc}
    if (caller := names.caller(note.metadata)) != "nobody":
        call["as"] = caller
    if "x-api-key" in note.metadata:
        call["api_key"] = note.metadata["x-api-key"]
    if note.deadline is not None:
        call["deadline"] = note.deadline
    call["request"] = request
    if note.answer != "OK":
        call["answer"] = note.answer
    return call
