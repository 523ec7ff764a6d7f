import assert from "node:assert/strict";
import { test } from "node:test";

import { Code, ConnectError } from "@connectrpc/connect";

import { RpcClient } from "../src/rpc-client.js";
import { GameSession } from "../src/game-session.js";
import { GameStatus } from "../src/gen/sodafountain/v1/game_pb.js";
import { Seat } from "../src/viewers.js";
import type { Update, Watch, WatchOptions } from "../src/watch.js";
import {
  GAME,
  ScriptedChannel,
  ScriptedStream,
  FakeClock,
  serviceError,
  createClient,
  flush,
  snapshot,
} from "./fakes.js";

const BROKEN = new ConnectError("broken", Code.Unavailable);
const HEARTBEAT = { resumeToken: "after a beat", item: { case: "heartbeat", value: {} } } as const;

function watching(options: WatchOptions = {}) {
  const around = createClient();
  return { ...around, watch: around.client.seat(GAME, "token").watch(options) };
}

function streams(channel: ScriptedChannel, count: number): ScriptedStream[] {
  const all = Array.from({ length: count }, () => new ScriptedStream());
  channel.script.push(...all.map(({ answer }) => answer));
  return all;
}

async function first(watch: Watch): Promise<Update> {
  const { value } = await watch.next();
  assert.ok(value);
  return value;
}

test("nothing is asked before the first update is asked for", async () => {
  const { channel, watch, client, clock } = watching();
  await flush();
  assert.deepEqual(channel.calls, []);
  watch.close();
  assert.deepEqual(await watch.next(), { done: true, value: undefined });
  client.close();
  assert.deepEqual(clock.pendingTimers, []);
});

test("leaving the loop closes the stream", async () => {
  const { channel, watch, clock } = watching();
  const [stream] = streams(channel, 1);
  stream?.tell(snapshot(1), snapshot(2));
  for await (const { state } of watch) {
    assert.equal(state.version, 1n);
    break;
  }
  assert.equal(stream?.signal?.aborted, true);
  assert.equal(watch.closed, true);
  assert.deepEqual(clock.pendingTimers, []);
});

test("an error in the loop closes the stream", async () => {
  const { channel, watch } = watching();
  const [stream] = streams(channel, 1);
  stream?.tell(snapshot(1));
  await assert.rejects(async () => {
    for await (const { isSnapshot } of watch) {
      throw new Error(`mine: ${isSnapshot}`);
    }
  }, /mine: true/);
  assert.equal(stream?.signal?.aborted, true);
});

test("`await using` closes the stream", async () => {
  const { channel, watch } = watching();
  const [stream] = streams(channel, 1);
  stream?.tell(snapshot(1));
  {
    await using used = watch;
    await used.next();
  }
  assert.equal(stream?.signal?.aborted, true);
});

test("closing a watch ends it while an update is waited for", async () => {
  const { channel, watch, clock } = watching();
  const [stream] = streams(channel, 1);
  const next = watch.next();
  await flush();
  watch.close();
  assert.deepEqual(await next, { done: true, value: undefined });
  assert.equal(stream?.signal?.aborted, true);
  assert.deepEqual(clock.pendingTimers, []);
});

test("closing the client ends its watches, also those that pause", async () => {
  const { channel, client, watch, clock } = watching();
  const other = client.spectator(GAME).watch();
  streams(channel, 1);
  channel.script.push(BROKEN);
  const closed = { reason: "CLIENT_CLOSED", message: "This client was closed, and its watch with it." };
  const failures = [watch, other].map((each) => assert.rejects(each.next(), closed));
  await flush();
  client.close();
  await Promise.all(failures);
  await assert.rejects(client.spectator(GAME).watch().next(), closed);
  assert.deepEqual(await watch.next(), { done: true, value: undefined });
  assert.deepEqual(clock.pendingTimers, []);
});

test("a signal ends a watch, which throws its reason", async () => {
  const controller = new AbortController();
  const { channel, watch } = watching({ signal: controller.signal });
  const [stream] = streams(channel, 1);
  const failure = assert.rejects(watch.next(), /enough/);
  await flush();
  controller.abort(new Error("enough"));
  await failure;
  assert.equal(stream?.signal?.aborted, true);
});

test("a broken stream is begun again after the last message, which may be a sign of life", async () => {
  const { channel, watch, clock } = watching();
  const [one, two] = streams(channel, 2);
  one?.tell(snapshot(1));
  await first(watch);
  one?.tell(HEARTBEAT, BROKEN);
  two?.tell(snapshot(2));
  const update = first(watch);
  await clock.pass(100);
  assert.equal((await update).state.version, 2n);
  assert.deepEqual(
    channel.calls.map(({ request }) => request["resumeToken"]),
    ["", "after a beat"],
  );
});

test("pauses grow from a tenth of a second to five, and begin anew after a message", async () => {
  const { channel, watch, clock } = watching({ idleTimeoutMs: Infinity });
  channel.script.push(...Array<Error>(8).fill(BROKEN));
  const [stream] = streams(channel, 1);
  const update = first(watch);
  const pauses: number[] = [];
  for (let tries = 0; tries < 8; tries++) {
    await flush();
    pauses.push(...clock.pendingTimers);
    await clock.pass(clock.pendingTimers[0] ?? 0);
  }
  assert.deepEqual(pauses, [75, 150, 300, 600, 1200, 2400, 3750, 3750]);
  stream?.tell(snapshot(1), BROKEN);
  await update;
  channel.script.push(BROKEN);
  void watch.next().catch(() => undefined);
  await flush();
  assert.deepEqual(clock.pendingTimers, [75]);
  watch.close();
});

test("a stream that is silent for 45 seconds is dead, and another begun", async () => {
  const { channel, watch, clock } = watching();
  const [one, two] = streams(channel, 2);
  const update = first(watch);
  await clock.pass(44_000);
  one?.tell(HEARTBEAT);
  await clock.pass(44_000);
  assert.equal(channel.calls.length, 1);
  two?.tell(snapshot(3));
  await clock.pass(1100);
  assert.equal((await update).state.version, 3n);
  assert.equal(one?.signal?.aborted, true);
  assert.equal(channel.connectionChecks, 1);
});

test("patience ends after a minute without a sign of life", async () => {
  const { channel, watch, clock } = watching();
  streams(channel, 2);
  const failure = assert.rejects(watch.next(), {
    reason: "UNREACHABLE",
    code: "UNAVAILABLE",
    message: `Nothing was heard of game ${GAME} for 60 s: the service or the way to it hangs.`,
  });
  await clock.pass(60_000);
  await failure;
  assert.equal(channel.calls.length, 2);
  assert.deepEqual(clock.pendingTimers, []);
});

for (const [what, heard, failure] of [
  ["what was refused", [], { reason: "STORE_UNAVAILABLE" }],
  ["silence, if there was a sign of life since", [HEARTBEAT], { message: /^Nothing was heard/ }],
] as const) {
  test(`timeouts that ends in silence after a serviceError ends with ${what}`, async () => {
    const { channel, watch, clock } = watching({ idleTimeoutMs: 1000 });
    channel.script.push(serviceError(Code.Unavailable, "STORE_UNAVAILABLE"));
    const [stream] = streams(channel, 1);
    stream?.tell(...heard);
    const ended = assert.rejects(watch.next(), failure);
    await clock.pass(100);
    await clock.pass(1000);
    await ended;
  });
}

test("a silence is not waited for as long as a refusal before it suggested", async () => {
  const { channel, watch, clock } = watching({ idleTimeoutMs: 120_000 });
  channel.script.push(serviceError(Code.Unavailable, "STORE_UNAVAILABLE", 7));
  streams(channel, 3);
  const ended = assert.rejects(watch.next(), { reason: "STORE_UNAVAILABLE", retryDelayMs: 7000 });
  await flush();
  assert.deepEqual(clock.pendingTimers, [7000]);
  await clock.pass(7000);
  for (const pauseMs of [150, 300]) {
    await clock.pass(45_000);
    assert.deepEqual(clock.pendingTimers, [pauseMs]);
    await clock.pass(pauseMs);
  }
  await clock.pass(45_000);
  await ended;
});

test("the time that the caller takes is not counted as patience", async () => {
  const { channel, watch, clock } = watching({ idleTimeoutMs: 1000 });
  const [stream] = streams(channel, 1);
  stream?.tell(snapshot(1));
  await first(watch);
  await clock.pass(100_000);
  stream?.tell(snapshot(2));
  assert.equal((await first(watch)).state.version, 2n);
  watch.close();
});

test("the service's own delay is kept to, if patience lasts", async () => {
  const { channel, watch, clock } = watching({ idleTimeoutMs: 5000 });
  channel.script.push(
    serviceError(Code.Unavailable, "STORE_UNAVAILABLE", 2.5),
    serviceError(Code.Unavailable, "DRAINING", 2.5),
  );
  const failure = assert.rejects(watch.next(), { reason: "DRAINING", retryDelayMs: 2500 });
  await flush();
  assert.deepEqual(clock.pendingTimers, [2500]);
  await clock.pass(2500);
  await failure;
});

for (const [what, error] of [
  ["a reason that does not pass", serviceError(Code.Unavailable, "WRONG_SEAT")],
  ["a code that does not pass", new ConnectError("no", Code.NotFound)],
  ["an unknown reason with such a code", serviceError(Code.PermissionDenied, "BRAND_NEW")],
] as const) {
  test(`${what} ends a watch at once`, async () => {
    const { channel, watch } = watching();
    channel.script.push(error);
    await assert.rejects(watch.next(), { name: "SodaFountainError" });
    assert.equal(channel.calls.length, 1);
  });
}

test("a game that is finished has been told, however its stream ends", async () => {
  const { channel, watch } = watching();
  const [stream] = streams(channel, 1);
  stream?.tell(snapshot(9, { status: GameStatus.FINISHED }), BROKEN);
  const versions: bigint[] = [];
  for await (const { state } of watch) {
    versions.push(state.version);
  }
  assert.deepEqual(versions, [9n]);
});

test("updates that are asked for at the same time come in order", async () => {
  const { channel, watch } = watching();
  const [stream] = streams(channel, 1);
  const both = Promise.all([first(watch), first(watch)]);
  await flush();
  stream?.tell(snapshot(1), snapshot(2));
  assert.deepEqual(
    (await both).map(({ state }) => state.version),
    [1n, 2n],
  );
  watch.close();
});

test("a move answers what the watch showed, and so does a seat's number", async () => {
  const { channel, client } = createClient();
  const seat = client.seat(GAME, "token");
  const [stream] = streams(channel, 1);
  stream?.tell(snapshot(4, { viewerSeat: 2, awaitingSeats: [2], etag: "the open one" }));
  const watch = seat.watch();
  await first(watch);
  watch.close();
  channel.script.push({});
  await seat.apply({ game: { case: "juices", value: {} } });
  assert.equal(channel.calls[1]?.request["etag"], "the open one");
  assert.equal(seat.number, 2);
});

test("a watch that is closed by hand, or whose signal is aborted, is no longer under way", async () => {
  const channel = new ScriptedChannel();
  const caller = new RpcClient(channel, 5000, new FakeClock());
  const seat = new Seat(new GameSession(caller, GAME, { secret: "token" }));
  const controller = new AbortController();
  for (let watches = 0; watches < 300; watches++) {
    const [stream] = streams(channel, 1);
    stream?.tell(snapshot(1));
    const watch = seat.watch({ signal: controller.signal });
    await watch.next();
    assert.equal(caller.inFlight, 1);
    if (watches < 299) {
      watch.close();
    } else {
      controller.abort();
    }
    assert.equal(caller.inFlight, 0);
  }
  await assert.rejects(seat.state({ signal: controller.signal }), { name: "AbortError" });
  const late = caller.begin(controller.signal);
  assert.equal(late.why, "cancelled");
  assert.equal(caller.inFlight, 0);
});

test("nothing is under way in a client that is closed", async () => {
  const channel = new ScriptedChannel();
  const caller = new RpcClient(channel, 5000, new FakeClock());
  const [stream] = streams(channel, 1);
  stream?.tell(snapshot(1));
  await new Seat(new GameSession(caller, GAME, { secret: "token" })).watch().next();
  caller.close();
  assert.equal(caller.inFlight, 0);
});

function update(version: number, more: object = {}) {
  const value = { firstVersion: BigInt(version), state: { gameId: GAME, version: BigInt(version), ...more } };
  return { resumeToken: `after ${version}`, item: { case: "update", value } } as const;
}

/** What a seat has open, as a state and as the answer of LegalMoves tell it. */
const open = (etag: string) => ({ viewerSeat: 0, awaitingSeats: [0], etag });
const listed = (version: number, etag: string) => ({ version: BigInt(version), etag, moves: [{}] });

for (const [what, told, etag] of [
  ["an update of an older version", update(3, open("older")), "answered"],
  ["an update of an older version in which the seat was not awaited", update(3, { viewerSeat: 0 }), "answered"],
  ["an update of the same version", update(7, open("same")), "same"],
  ["an update of a newer version", update(8, open("newer")), "newer"],
  ["a snapshot of an older version", snapshot(3, open("restored")), "restored"],
] as const) {
  test(`${what} leaves a seat that was answered version 7 with the decision "${etag}"`, async () => {
    const { channel, client } = createClient();
    const seat = client.seat(GAME, "token");
    const [stream] = streams(channel, 1);
    stream?.tell(snapshot(2, open("first")));
    const watch = seat.watch();
    await first(watch);
    channel.script.push(listed(7, "answered"));
    await seat.legalMoves();
    stream?.tell(told);
    await first(watch);
    watch.close();
    channel.script.push({});
    await seat.apply({ game: { case: "juices", value: {} } });
    assert.equal(channel.calls.at(-1)?.request["etag"], etag);
  });
}

test("a late update is told by the versions of its own seat", async () => {
  const { channel, client } = createClient();
  const host = client.host(GAME, "token");
  channel.script.push(listed(7, "of seat 1"));
  await host.legalMoves(1);
  const [stream] = streams(channel, 1);
  stream?.tell(update(3, open("of seat 0")));
  const watch = host.watch({ seat: 0, resumeToken: "after 2" });
  await first(watch);
  watch.close();
  for (const seat of [0, 1]) {
    channel.script.push({});
    await host.apply(seat, { game: { case: "juices", value: {} } });
    assert.equal(channel.calls.at(-1)?.request["etag"], `of seat ${seat}`);
  }
});

test("an answer is taken whatever its version: the store may have lost its newest changes", async () => {
  const { channel, client } = createClient();
  const seat = client.seat(GAME, "token");
  channel.script.push(listed(7, "lost"), { state: { version: 4n, ...open("restored") } }, {});
  await seat.legalMoves();
  await seat.state();
  await seat.apply({ game: { case: "juices", value: {} } });
  assert.equal(channel.calls.at(-1)?.request["etag"], "restored");
});
