import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

import { toMove, toOptions } from "../src/game-messages.js";
import type { Reason } from "../src/errors.js";
import { SodaFountainError } from "../src/errors.js";
import { failureFromCode, parseFailure, toError } from "../src/failures.js";
import { ErrorReason } from "../src/gen/sodafountain/v1/errors_pb.js";
import type { Move } from "../src/gen/sodafountain/v1/game_pb.js";
import { LegalMoveSchema, MoveSchema, OptionsSchema } from "../src/gen/sodafountain/v1/game_pb.js";
import { JuicesMoveSchema, JuicesOptionsSchema } from "../src/gen/sodafountain/v1/juices_pb.js";
import { GAME, serviceError, createClient } from "./fakes.js";

/** Make a call that fails with `response`; return what the client throws. */
async function catchError(response: Error): Promise<SodaFountainError> {
  const { client, channel } = createClient();
  channel.script.push(response);
  try {
    await client.seat(GAME, "t").apply({ game: { case: "juices", value: {} } });
  } catch (error) {
    assert.ok(error instanceof SodaFountainError);
    return error;
  }
  throw new Error("the call did not fail");
}

for (const reason of Object.keys(ErrorReason).filter((name) => Number.isNaN(Number(name)) && name !== "UNSPECIFIED")) {
  test(`the reason ${reason} of the service is reported`, async () => {
    const error = await catchError(serviceError(Code.FailedPrecondition, reason));
    assert.deepEqual(
      [error.reason, error.code, error.message],
      [reason, "FAILED_PRECONDITION", `Rejected: ${reason}.`],
    );
  });
}

for (const reason of ["BRAND_NEW", "UNSPECIFIED", "1", "toString"]) {
  test(`the unknown reason ${reason} is reported as UNKNOWN with the service's message`, async () => {
    const error = await catchError(serviceError(Code.OutOfRange, reason));
    assert.deepEqual([error.reason, error.code, error.message], ["UNKNOWN", "OUT_OF_RANGE", `Rejected: ${reason}.`]);
    assert.deepEqual(error.metadata, { version: "7" });
  });
}

test("an error has field violations, retry delay and request id", async () => {
  const error = await catchError(
    serviceError(Code.InvalidArgument, "MALFORMED", 1.25, [["seat_count", "From 2 to 4."]]),
  );
  assert.deepEqual(error.fieldViolations, [{ field: "seat_count", description: "From 2 to 4." }]);
  assert.equal(error.retryDelayMs, 1250);
  assert.match(error.requestId ?? "", /^[0-9a-f-]{36}$/);
});

test("the reason of another domain is not a reason of the service", async () => {
  const foreign = serviceError(Code.NotFound, "GAME_NOT_FOUND", undefined, [], "elsewhere");
  const error = await catchError(foreign);
  assert.deepEqual([error.reason, error.code, error.metadata], ["UNKNOWN", "NOT_FOUND", {}]);
});

test("malformed error details are ignored", async () => {
  const broken = serviceError(Code.NotFound, "GAME_NOT_FOUND");
  broken.details = [{ type: "google.rpc.ErrorInfo", value: new Uint8Array([0x0a, 0xff]) }];
  const error = await catchError(broken);
  assert.deepEqual([error.reason, error.code], ["UNKNOWN", "NOT_FOUND"]);
});

for (const [code, reason, message] of [
  [Code.Unimplemented, "UNIMPLEMENTED", "The server at somewhere:1 does not offer ApplyMove (because)."],
  [Code.ResourceExhausted, "LIMIT", "ApplyMove hit a limit at somewhere:1 (because)."],
  [Code.DeadlineExceeded, "DEADLINE_EXCEEDED", "somewhere:1 did not answer ApplyMove within 5 s."],
  [Code.Internal, "UNKNOWN", "ApplyMove failed at somewhere:1 with INTERNAL (because)."],
] as const) {
  test(`${Code[code]} without a reason of the service is ${reason}`, async () => {
    const error = await catchError(new ConnectError("because.", code));
    assert.deepEqual([error.reason, error.message], [reason, message]);
  });
}

test("errors of cancelled and timed-out calls name the server, and TLS if it was used", () => {
  const call = { target: "somewhere:1", tls: true, rpc: "NewGame", timeoutMs: 2500, requestId: undefined };
  const cancelled = toError(failureFromCode("CANCELLED", "shutting down."), call);
  const late = toError(failureFromCode("DEADLINE_EXCEEDED", ""), call);
  assert.deepEqual(
    [cancelled.reason, cancelled.message],
    ["UNREACHABLE", "The server at somewhere:1 cancelled NewGame (shutting down)."],
  );
  assert.deepEqual(
    [late.reason, late.message],
    ["DEADLINE_EXCEEDED", "somewhere:1 did not answer NewGame over TLS within 2.5 s."],
  );
});

for (const [reset, code] of [
  ["REFUSED_STREAM", "UNAVAILABLE"],
  ["CANCEL", "UNAVAILABLE"],
  ["ENHANCE_YOUR_CALM", "RESOURCE_EXHAUSTED"],
  ["PROTOCOL_ERROR", "INTERNAL"],
] as const) {
  test(`a stream that Node reports as reset with ${reset} is ${code}`, () => {
    const error = new Error(`Stream closed with error code NGHTTP2_${reset}`);
    assert.equal(parseFailure(Object.assign(error, { code: "ERR_HTTP2_STREAM_ERROR" }), false).code, code);
  });
}

test("a switch narrows the type Reason", () => {
  const advice = (reason: Reason): string => {
    switch (reason) {
      case "STALE_ETAG":
        return "choose again";
      // @ts-expect-error -- no such reason
      case "STALE_ETAGS":
        return "never";
      default: {
        const rest: Exclude<Reason, "STALE_ETAG"> = reason;
        return rest;
      }
    }
  };
  assert.equal(advice("STALE_ETAG"), "choose again");
});

test("printing an object never shows a token, an API key or a request id", async () => {
  const { client, channel } = createClient({ apiKey: "a-secret-key" });
  channel.script.push({
    state: { gameId: GAME },
    hostToken: "a-secret-token",
    seatTokens: ["a-secret-token-too"],
    spectatorToken: "a-secret-token-also",
  });
  const game = await client.newGame({ game: { case: "juices", value: {} } }, { seats: 1 });
  const id = "0a8f1b5e-2f0e-4d62-9c63-58f3c7d5a111";
  channel.script.push(serviceError(Code.Internal, "INTERNAL"));
  const error = await game.host
    .apply(0, { game: { case: "juices", value: {} } }, { requestId: id })
    .catch((e: unknown) => e);
  assert.equal((error as SodaFountainError).requestId, id);
  const seat = client.seat(GAME, "a-secret-token");
  const spectator = client.spectator(GAME, { token: "a-secret-token" });
  for (const value of [client, game, game.host, seat, seat.watch(), spectator, error]) {
    const everything = { depth: Infinity, showHidden: true, getters: true };
    const inspected = [inspect(value), inspect(value, everything), inspect({ in: [value] }, everything)];
    for (const shown of [...inspected, String(value), JSON.stringify(value)]) {
      assert.doesNotMatch(shown, /secret|0a8f1b5e/);
    }
  }
  assert.match(inspect(error), /^SodaFountainError: Rejected: INTERNAL\.\n {4}at .*reason: 'INTERNAL'/s);
  assert.match(inspect(game), new RegExp(`^Game \\{.*id: '${GAME}'`, "s"));
  assert.equal(inspect({ game }, { depth: 0 }), "{ game: [Game] }");
  assert.equal(String(seat), `Seat ? of game ${GAME}`);
});

test("the message of a game is wrapped in Options or Move", () => {
  const own = create(JuicesOptionsSchema, { copies: 2 });
  assert.deepEqual(toOptions(own), create(OptionsSchema, { game: { case: "juices", value: own } }));
  const options = toOptions(own);
  assert.equal(toOptions(options), options);
  const move = toMove(create(JuicesMoveSchema));
  assert.equal(move.game.case, "juices");
  assert.equal(toMove(create(LegalMoveSchema, { move })), move);
});

for (const wrong of [
  {},
  [],
  { game: { case: "chess", value: {} } },
  { game: { case: "toString", value: {} } },
  { game: "juices" },
  create(MoveSchema),
  create(LegalMoveSchema, { move: {} }),
]) {
  test(`${JSON.stringify(wrong)} is rejected as options and as a move`, async () => {
    const { client, channel } = createClient();
    await assert.rejects(client.seat(GAME, "t").apply(wrong as never), TypeError);
    await assert.rejects(client.newGame(wrong as never, { seats: 2 }), TypeError);
    assert.deepEqual(channel.calls, []);
  });
}

test("a move of a game that this release does not know is sent unchanged", async () => {
  const { client, channel } = createClient();
  const bytes = new Uint8Array([0xfa, 0x01, 0x00]); // field 31, empty
  const legal = create(LegalMoveSchema, { move: fromBinary(MoveSchema, bytes) });
  channel.script.push({});
  await client.seat(GAME, "t").apply(legal);
  assert.deepEqual(toBinary(MoveSchema, channel.calls[0]?.request["move"] as Move), bytes);
});

test("a value that is not a move throws a TypeError", () => {
  for (const wrong of [create(JuicesOptionsSchema), create(LegalMoveSchema), "juices", null, undefined]) {
    assert.throws(() => toMove(wrong as never), TypeError);
  }
});
