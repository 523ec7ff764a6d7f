"""The calls that the recorder receives, and their description in scenarios.yaml without values that are random."""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from google.protobuf import json_format
from google.protobuf.message import Message

CallDescription: TypeAlias = dict[str, Any]  # Any: JSON
"""A call as scenarios.yaml describes it."""

_ETAG: Final = re.compile(r"(\d+)-[0-9a-f]{16}")
_RESUME_TOKEN: Final = re.compile(r"w(\d+)-[0-9a-f]{16}")
_BEARER: Final = "Bearer "


@dataclass(kw_only=True)
class RecordedCall:
    """A call that arrived.

    Attributes:
        rpc: the name of the RPC.
        request: the request message.
        metadata: the request metadata.
        deadline: the remaining seconds on arrival; None without a deadline.
        answer: how it ended: OK, the reason of an error, a status code without a reason, or the kind of injected fault.
        reply: the reply message; None for streams and failed calls.
    """

    rpc: str
    request: Message
    metadata: Mapping[str, str | bytes]
    deadline: float | None
    answer: str = "OK"
    reply: Message | None = None


@dataclass
class Placeholders:
    """Names for random values that are equal in every run: `game`, `seat 0`, `id 1`.

    Attributes:
        tokens: the placeholder of each token.
        games: the ids of the created games, in order.
        ids: the request ids, in order of arrival.
    """

    tokens: dict[str, str] = field(default_factory=dict)
    games: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)

    def add(self, call: RecordedCall) -> None:
        """Add the tokens and the id of a new game."""
        if call.rpc == "NewGame" and call.reply is not None:
            created: Any = call.reply
            if created.state.game_id in self.games:
                return
            self.games.append(created.state.game_id)
            game = self.game(created.state.game_id).removeprefix("game")
            self.tokens[created.host_token] = f"host{game}"
            self.tokens[created.spectator_token] = f"spectator{game}"
            self.tokens |= {token: f"seat {seat}{game}" for seat, token in enumerate(created.seat_tokens)}

    def game(self, game_id: str) -> str:
        """Return the placeholder of a game id; an unknown id stays as it is."""
        if game_id not in self.games:
            return game_id
        number = self.games.index(game_id) + 1
        return "game" if number == 1 else f"game {number}"

    def request_id(self, request_id: str) -> str:
        """Return the placeholder of a request id; an id that is not a UUID of version 4 stays as it is."""
        try:
            valid = uuid.UUID(request_id).version == 4
        except ValueError:
            valid = False
        if not valid:
            return request_id
        if request_id not in self.ids:
            self.ids.append(request_id)
        return f"id {self.ids.index(request_id) + 1}"

    def caller(self, metadata: Mapping[str, str | bytes]) -> str:
        """Return the placeholder of the caller's token; empty without a token."""
        shown = str(metadata.get("authorization", ""))
        if not shown.startswith(_BEARER):
            return shown
        return self.tokens.get(shown.removeprefix(_BEARER), "unknown token")


def describe(call: RecordedCall, placeholders: Placeholders) -> CallDescription:
    """Describe a call; defaults (no token, no API key, no deadline, the answer OK) are omitted."""
    placeholders.add(call)
    request = json_format.MessageToDict(call.request)
    if "gameId" in request:
        request["gameId"] = placeholders.game(request["gameId"])
    if "requestId" in request:
        request["requestId"] = placeholders.request_id(request["requestId"])
    if found := _ETAG.fullmatch(request.get("etag", "")):
        request["etag"] = f"of {found[1]}"
    if found := _RESUME_TOKEN.fullmatch(request.get("resumeToken", "")):
        request["resumeToken"] = f"after {found[1]}"
    description: CallDescription = {"rpc": call.rpc}
    if caller := placeholders.caller(call.metadata):
        description["as"] = caller
    if "x-api-key" in call.metadata:
        description["api_key"] = call.metadata["x-api-key"]
    if call.deadline is not None:
        description["deadline"] = call.deadline
    description["request"] = request
    if call.answer != "OK":
        description["answer"] = call.answer
    return description
