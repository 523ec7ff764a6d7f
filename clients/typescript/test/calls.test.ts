import assert from "node:assert/strict";
import { test } from "node:test";

import { Code, ConnectError } from "@connectrpc/connect";

import { GAME, never, serviceError, createClient, flush } from "./fakes.js";

const AWAY = serviceError(Code.Unavailable, "STORE_UNAVAILABLE");
const JUICES = { game: { case: "juices", value: {} } } as const;
const ASKED = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("a call is sent again after longer and longer pauses, four times", async () => {
  const { client, channel, clock } = createClient();
  const times: number[] = [];
  const away = (): never => {
    times.push(clock.time);
    throw AWAY;
  };
  channel.script.push(away, away, away, away, away);
  const failure = assert.rejects(client.gameKinds(), { reason: "STORE_UNAVAILABLE", metadata: { version: "7" } });
  await clock.pass(3000);
  await failure;
  assert.deepEqual(times, [0, 200, 600, 1400, 3000]);
});

test("every try has what is left of the deadline", async () => {
  const { client, channel, clock } = createClient({ timeoutMs: 2000 });
  channel.script.push(AWAY, AWAY, { gameKinds: [] });
  const done = client.gameKinds();
  await clock.pass(600);
  await done;
  assert.deepEqual(
    channel.calls.map(({ headers }) => headers.get("grpc-timeout")),
    ["2000m", "1800m", "1400m"],
  );
});

test("a move is the same on every try, whatever becomes of its message", async () => {
  const { client, channel, clock } = createClient();
  const move = { game: { case: "juices", value: {} } } as { game: { case: string } };
  channel.script.push(() => {
    move.game.case = "sodaJerk";
    throw AWAY;
  }, {});
  const done = client.seat(GAME, "t").apply(move as never);
  await clock.pass(200);
  await done;
  assert.match(String(channel.calls[0]?.request["requestId"]), ASKED);
  assert.deepEqual(channel.calls[0]?.request, channel.calls[1]?.request);
});

test("the deadline ends the pause before a retry", async () => {
  const { client, channel, clock } = createClient();
  channel.script.push(AWAY, AWAY);
  const failure = assert.rejects(client.newGame(JUICES, { seats: 2, timeoutMs: 400 }), (error: never) => {
    const { reason, message, requestId } = error as { reason: string; message: string; requestId: string };
    assert.deepEqual([reason, message], ["DEADLINE_EXCEEDED", "somewhere:1 did not answer NewGame within 0.4 s."]);
    assert.match(requestId, ASKED);
    return true;
  });
  await clock.pass(400);
  await failure;
  assert.equal(channel.calls.length, 2);
});

test("the deadline ends a try that nobody answers, and the connection is doubted", async () => {
  const { client, channel, clock } = createClient();
  channel.script.push(never);
  const failure = assert.rejects(client.gameKinds(), { reason: "DEADLINE_EXCEEDED" });
  await clock.pass(2000);
  assert.equal(channel.connectionChecks, 1);
  await clock.pass(3000);
  await failure;
  assert.equal(channel.connectionChecks, 2);
  assert.deepEqual(clock.pendingTimers, []);
});

for (const code of Object.values(Code).filter((code) => typeof code === "number")) {
  const again = code === Code.Unavailable || code === Code.Canceled;
  test(`${Code[code]} is ${again ? "" : "not "}sent again`, async () => {
    const { client, channel, clock } = createClient();
    channel.script.push(new ConnectError("no", code), { gameKinds: [] });
    const done = client.gameKinds();
    await (again ? Promise.all([clock.pass(200), done]) : assert.rejects(done));
    assert.equal(channel.calls.length, again ? 2 : 1);
  });
}

test("a call that its caller cancels rejects with the signal's reason, and is not sent again", async () => {
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

test("a call that is cancelled while it pauses, or before it begins, is not sent", async () => {
  const { client, channel } = createClient();
  const controller = new AbortController();
  channel.script.push(AWAY);
  const failure = assert.rejects(client.gameKinds({ signal: controller.signal }), { name: "AbortError" });
  await flush();
  controller.abort();
  await failure;
  await assert.rejects(client.gameKinds({ signal: controller.signal }), { name: "AbortError" });
  assert.equal(channel.calls.length, 1);
});

test("closing the client ends its calls, also those that pause, and refuses later ones", async () => {
  const { client, channel, clock } = createClient();
  channel.script.push(never, AWAY);
  const under = { reason: "CLIENT_CLOSED", message: "This client was closed before somewhere:1 had answered NewGame." };
  const failures = [1, 2].map(() => assert.rejects(client.newGame(JUICES, { seats: 2 }), under));
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

test("calls at the same time have deadlines and ids of their own", async () => {
  const { client, channel, clock } = createClient();
  channel.script.push(never, never, {});
  const seat = client.seat(GAME, "t");
  const slow = [300, 600].map((timeoutMs) =>
    assert.rejects(seat.apply(JUICES as never, { timeoutMs }), { reason: "DEADLINE_EXCEEDED" }),
  );
  await seat.apply(JUICES);
  await clock.pass(600);
  await Promise.all(slow);
  assert.equal(new Set(channel.calls.map(({ request }) => request["requestId"])).size, 3);
});

test("pages are put together", async () => {
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
