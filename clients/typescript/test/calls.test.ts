import assert from "node:assert/strict";
import { test } from "node:test";

import { Code, ConnectError } from "@connectrpc/connect";

import { Visibility } from "../src/gen/sodafountain/v1/game_pb.js";
import { GAME, never, serviceError, createClient, flush } from "./fakes.js";

const UNAVAILABLE = serviceError(Code.Unavailable, "STORE_UNAVAILABLE");
const JUICES = { game: { case: "juices", value: {} } } as const;
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("a call is retried four times with exponential backoff", async () => {
  const { client, channel, clock } = createClient();
  const times: number[] = [];
  const unavailable = (): never => {
    times.push(clock.time);
    throw UNAVAILABLE;
  };
  channel.script.push(...Array<typeof unavailable>(5).fill(unavailable));
  const failure = assert.rejects(client.gameKinds(), { reason: "STORE_UNAVAILABLE", metadata: { version: "7" } });
  await clock.advance(3000);
  await failure;
  assert.deepEqual(times, [0, 200, 600, 1400, 3000]);
});

test("every retry sends the remaining time until the deadline", async () => {
  const { client, channel, clock } = createClient({ timeoutMs: 2000 });
  channel.script.push(UNAVAILABLE, UNAVAILABLE, { gameKinds: [] });
  const done = client.gameKinds();
  await clock.advance(600);
  await done;
  assert.deepEqual(
    channel.calls.map(({ headers }) => headers.get("grpc-timeout")),
    ["2000m", "1800m", "1400m"],
  );
});

test("every retry sends the same move, even if the caller changes its message", async () => {
  const { client, channel, clock } = createClient();
  const move = { game: { case: "juices", value: {} } } as { game: { case: string } };
  channel.script.push(() => {
    move.game.case = "sodaJerk";
    throw UNAVAILABLE;
  }, {});
  const done = client.seat(GAME, "t").apply(move as never);
  await clock.advance(200);
  await done;
  assert.match(String(channel.calls[0]?.request["requestId"]), UUID_V4);
  assert.deepEqual(channel.calls[0]?.request, channel.calls[1]?.request);
});

test("the deadline ends the delay before a retry", async () => {
  const { client, channel, clock } = createClient();
  channel.script.push(UNAVAILABLE, UNAVAILABLE);
  const failure = assert.rejects(client.newGame(JUICES, { seats: 2, timeoutMs: 400 }), (error: never) => {
    const { reason, message, requestId } = error as { reason: string; message: string; requestId: string };
    assert.deepEqual([reason, message], ["DEADLINE_EXCEEDED", "somewhere:1 did not answer NewGame within 0.4 s."]);
    assert.match(requestId, UUID_V4);
    return true;
  });
  await clock.advance(400);
  await failure;
  assert.equal(channel.calls.length, 2);
});

test("a slow call and an expired deadline check the connection", async () => {
  const { client, channel, clock } = createClient();
  channel.script.push(never);
  const failure = assert.rejects(client.gameKinds(), { reason: "DEADLINE_EXCEEDED" });
  await clock.advance(2000);
  assert.equal(channel.connectionChecks, 1);
  await clock.advance(3000);
  await failure;
  assert.equal(channel.connectionChecks, 2);
  assert.deepEqual(clock.pendingTimers, []);
});

for (const code of Object.values(Code).filter((code) => typeof code === "number")) {
  const isRetried = code === Code.Unavailable || code === Code.Canceled;
  test(`${Code[code]} is ${isRetried ? "" : "not "}retried`, async () => {
    const { client, channel, clock } = createClient();
    channel.script.push(new ConnectError("no", code), { gameKinds: [] });
    const done = client.gameKinds();
    await (isRetried ? Promise.all([clock.advance(200), done]) : assert.rejects(done));
    assert.equal(channel.calls.length, isRetried ? 2 : 1);
  });
}

test("an aborted call rejects with the reason of its signal and is not retried", async () => {
  const { client, channel, clock } = createClient();
  const controller = new AbortController();
  channel.script.push(never);
  const failure = assert.rejects(client.gameKinds({ signal: controller.signal }), /changed my mind/);
  await flush();
  controller.abort(new Error("changed my mind"));
  await failure;
  assert.equal(channel.calls[0]?.signal.aborted, true);
  assert.equal(channel.calls.length, 1);
  assert.deepEqual(clock.pendingTimers, []);
});

test("a call aborted before it starts or before a retry is not sent", async () => {
  const { client, channel } = createClient();
  const controller = new AbortController();
  channel.script.push(UNAVAILABLE);
  const failure = assert.rejects(client.gameKinds({ signal: controller.signal }), { name: "AbortError" });
  await flush();
  controller.abort();
  await failure;
  await assert.rejects(client.gameKinds({ signal: controller.signal }), { name: "AbortError" });
  assert.equal(channel.calls.length, 1);
});

test("closing the client cancels calls and retries, and rejects later calls", async () => {
  const { client, channel, clock } = createClient();
  channel.script.push(never, UNAVAILABLE);
  const closed = {
    reason: "CLIENT_CLOSED",
    message: "This client was closed before somewhere:1 answered NewGame.",
  };
  const failures = [1, 2].map(() => assert.rejects(client.newGame(JUICES, { seats: 2 }), closed));
  await flush();
  client.close();
  await Promise.all(failures);
  await assert.rejects(client.gameKinds(), { reason: "CLIENT_CLOSED", message: "This client is closed." });
  assert.equal(channel.closed, true);
  assert.deepEqual(clock.pendingTimers, []);
});

test("`using` closes the client", () => {
  const { client } = createClient();
  {
    using used = client;
    assert.equal(used.closed, false);
  }
  assert.equal(client.closed, true);
});

test("concurrent calls have separate deadlines and request ids", async () => {
  const { client, channel, clock } = createClient();
  channel.script.push(never, never, {});
  const seat = client.seat(GAME, "t");
  const slow = [300, 600].map((timeoutMs) =>
    assert.rejects(seat.apply(JUICES as never, { timeoutMs }), { reason: "DEADLINE_EXCEEDED" }),
  );
  await seat.apply(JUICES);
  await clock.advance(600);
  await Promise.all(slow);
  assert.equal(new Set(channel.calls.map(({ request }) => request["requestId"])).size, 3);
});

test("a new game is public unless its visibility is set", async () => {
  const { client, channel } = createClient();
  channel.script.push({ hostToken: "h" }, { hostToken: "h" });
  await client.newGame(JUICES, { seats: 2 });
  await client.newGame(JUICES, { seats: 2, visibility: Visibility.PRIVATE });
  assert.deepEqual(
    channel.calls.map(({ request }) => request["visibility"]),
    [Visibility.UNSPECIFIED, Visibility.PRIVATE],
  );
});

test("a new game has a spectator token, which a spectator may send", async () => {
  const { client, channel } = createClient();
  channel.script.push({ state: { gameId: GAME }, hostToken: "h", spectatorToken: "watcher" }, {}, {});
  const { id, spectatorToken } = await client.newGame(JUICES, { seats: 2 });
  await client.spectator(id, { token: spectatorToken }).state();
  await client.spectator(id).state();
  assert.deepEqual(
    channel.calls.slice(1).map(({ headers }) => headers.get("authorization")),
    ["Bearer watcher", null],
  );
});

test("a host reads the history of a seat or of a spectator, on every page", async () => {
  const { client, channel } = createClient();
  channel.script.push({ nextPageToken: "p" }, {}, {});
  const host = client.host(GAME, "t");
  await host.history({ seat: 1 });
  await host.history();
  assert.deepEqual(
    channel.calls.map(({ request }) => request["seat"]),
    [1, 1, undefined],
  );
});

test("all pages are combined", async () => {
  const { client, channel } = createClient();
  channel.script.push(
    { entries: [{ version: 1n }, { version: 2n }], seatCount: 2, nextPageToken: "p" },
    { entries: [{ version: 3n }], seatCount: 2 },
    { gameKinds: [{ title: "A" }], nextPageToken: "q" },
    { gameKinds: [{ title: "B" }] },
  );
  const history = await client.spectator(GAME).history();
  assert.deepEqual(
    history.entries.map(({ version }) => version),
    [1n, 2n, 3n],
  );
  assert.equal(history.nextPageToken, "");
  assert.deepEqual(
    (await client.gameKinds()).map(({ title }) => title),
    ["A", "B"],
  );
  assert.deepEqual(
    channel.calls.map(({ request }) => request["pageToken"]),
    ["", "p", "", "q"],
  );
});
