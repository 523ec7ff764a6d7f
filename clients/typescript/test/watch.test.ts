import assert from "node:assert/strict";
import { test } from "node:test";

import { Code, ConnectError } from "@connectrpc/connect";

import { RpcClient } from "../src/rpc-client.js";
import { GameSession } from "../src/game-session.js";
import { GameStatus } from "../src/gen/sodafountain/v1/game_pb.js";
import { Seat } from "../src/viewers.js";
import type { WatchOptions } from "../src/watch.js";
import {
  GAME,
  ScriptedChannel,
  FakeClock,
  serviceError,
  createClient,
  flush,
  nextUpdate,
  scriptStreams,
  snapshot,
} from "./fakes.js";

const BROKEN = new ConnectError("broken", Code.Unavailable);
const HEARTBEAT = { resumeToken: "after a heartbeat", item: { case: "heartbeat", value: {} } } as const;

function createWatch(options: WatchOptions = {}) {
  const fakes = createClient();
  return { ...fakes, watch: fakes.client.seat(GAME, "token").watch(options) };
}

test("a watch sends nothing before the first update is awaited", async () => {
  const { channel, watch, client, clock } = createWatch();
  await flush();
  assert.deepEqual(channel.calls, []);
  watch.close();
  assert.deepEqual(await watch.next(), { done: true, value: undefined });
  client.close();
  assert.deepEqual(clock.pendingTimers, []);
});

test("leaving the loop closes the stream", async () => {
  const { channel, watch, clock } = createWatch();
  const [stream] = scriptStreams(channel, 1);
  stream?.send(snapshot(1), snapshot(2));
  for await (const { state } of watch) {
    assert.equal(state.version, 1n);
    break;
  }
  assert.equal(stream?.signal?.aborted, true);
  assert.equal(watch.closed, true);
  assert.deepEqual(clock.pendingTimers, []);
});

test("an error in the loop closes the stream", async () => {
  const { channel, watch } = createWatch();
  const [stream] = scriptStreams(channel, 1);
  stream?.send(snapshot(1));
  await assert.rejects(async () => {
    for await (const { isSnapshot } of watch) {
      throw new Error(`mine: ${isSnapshot}`);
    }
  }, /mine: true/);
  assert.equal(stream?.signal?.aborted, true);
});

test("`await using` closes the stream", async () => {
  const { channel, watch } = createWatch();
  const [stream] = scriptStreams(channel, 1);
  stream?.send(snapshot(1));
  {
    await using used = watch;
    await used.next();
  }
  assert.equal(stream?.signal?.aborted, true);
});

test("closing a watch ends it while an update is awaited", async () => {
  const { channel, watch, clock } = createWatch();
  const [stream] = scriptStreams(channel, 1);
  const next = watch.next();
  await flush();
  watch.close();
  assert.deepEqual(await next, { done: true, value: undefined });
  assert.equal(stream?.signal?.aborted, true);
  assert.deepEqual(clock.pendingTimers, []);
});

test("closing the client ends its watches, including those between streams", async () => {
  const { channel, client, watch, clock } = createWatch();
  const other = client.spectator(GAME).watch();
  scriptStreams(channel, 1);
  channel.script.push(BROKEN);
  const closed = { reason: "CLIENT_CLOSED", message: "The watch ended because this client was closed." };
  const failures = [watch, other].map((each) => assert.rejects(each.next(), closed));
  await flush();
  client.close();
  await Promise.all(failures);
  await assert.rejects(client.spectator(GAME).watch().next(), closed);
  assert.deepEqual(await watch.next(), { done: true, value: undefined });
  assert.deepEqual(clock.pendingTimers, []);
});

test("a watch whose signal is aborted throws the reason of the signal", async () => {
  const controller = new AbortController();
  const { channel, watch } = createWatch({ signal: controller.signal });
  const [stream] = scriptStreams(channel, 1);
  const failure = assert.rejects(watch.next(), /enough/);
  await flush();
  controller.abort(new Error("enough"));
  await failure;
  assert.equal(stream?.signal?.aborted, true);
});

test("a broken stream is resumed after the last message, which may be a heartbeat", async () => {
  const { channel, watch, clock } = createWatch();
  const [one, two] = scriptStreams(channel, 2);
  one?.send(snapshot(1));
  await nextUpdate(watch);
  one?.send(HEARTBEAT, BROKEN);
  two?.send(snapshot(2));
  const update = nextUpdate(watch);
  await clock.advance(100);
  assert.equal((await update).state.version, 2n);
  assert.deepEqual(
    channel.calls.map(({ request }) => request["resumeToken"]),
    ["", "after a heartbeat"],
  );
});

test("the backoff grows from 0.1 to 5 seconds and is reset by a message", async () => {
  const { channel, watch, clock } = createWatch({ idleTimeoutMs: Infinity });
  channel.script.push(...Array<Error>(8).fill(BROKEN));
  const [stream] = scriptStreams(channel, 1);
  const update = nextUpdate(watch);
  const backoffs: number[] = [];
  for (let tries = 0; tries < 8; tries++) {
    await flush();
    backoffs.push(...clock.pendingTimers);
    await clock.advance(clock.pendingTimers[0] ?? 0);
  }
  assert.deepEqual(backoffs, [75, 150, 300, 600, 1200, 2400, 3750, 3750]);
  stream?.send(snapshot(1), BROKEN);
  await update;
  channel.script.push(BROKEN);
  void watch.next().catch(() => undefined);
  await flush();
  assert.deepEqual(clock.pendingTimers, [75]);
  watch.close();
});

test("a stream without a message for 45 seconds is replaced", async () => {
  const { channel, watch, clock } = createWatch();
  const [one, two] = scriptStreams(channel, 2);
  const update = nextUpdate(watch);
  await clock.advance(44_000);
  one?.send(HEARTBEAT);
  await clock.advance(44_000);
  assert.equal(channel.calls.length, 1);
  two?.send(snapshot(3));
  await clock.advance(1100);
  assert.equal((await update).state.version, 3n);
  assert.equal(one?.signal?.aborted, true);
  assert.equal(channel.connectionChecks, 1);
});

test("a watch gives up after a minute without a message", async () => {
  const { channel, watch, clock } = createWatch();
  scriptStreams(channel, 2);
  const failure = assert.rejects(watch.next(), {
    reason: "UNREACHABLE",
    code: "UNAVAILABLE",
    message: `No message about game ${GAME} arrived for 60 s: the service or the connection to it is not responding.`,
  });
  await clock.advance(60_000);
  await failure;
  assert.equal(channel.calls.length, 2);
  assert.deepEqual(clock.pendingTimers, []);
});

for (const [what, messages, failure] of [
  ["the earlier error", [], { reason: "STORE_UNAVAILABLE" }],
  ["a timeout, if a heartbeat arrived since", [HEARTBEAT], { message: /^No message about game/ }],
] as const) {
  test(`an idle timeout after an error throws ${what}`, async () => {
    const { channel, watch, clock } = createWatch({ idleTimeoutMs: 1000 });
    channel.script.push(serviceError(Code.Unavailable, "STORE_UNAVAILABLE"));
    const [stream] = scriptStreams(channel, 1);
    stream?.send(...messages);
    const ended = assert.rejects(watch.next(), failure);
    await clock.advance(100);
    await clock.advance(1000);
    await ended;
  });
}

test("the retry delay of an earlier error does not apply after a timeout", async () => {
  const { channel, watch, clock } = createWatch({ idleTimeoutMs: 120_000 });
  channel.script.push(serviceError(Code.Unavailable, "STORE_UNAVAILABLE", 7));
  scriptStreams(channel, 3);
  const ended = assert.rejects(watch.next(), { reason: "STORE_UNAVAILABLE", retryDelayMs: 7000 });
  await flush();
  assert.deepEqual(clock.pendingTimers, [7000]);
  await clock.advance(7000);
  for (const backoffMs of [150, 300]) {
    await clock.advance(45_000);
    assert.deepEqual(clock.pendingTimers, [backoffMs]);
    await clock.advance(backoffMs);
  }
  await clock.advance(45_000);
  await ended;
});

test("the time that the caller takes does not count towards the idle timeout", async () => {
  const { channel, watch, clock } = createWatch({ idleTimeoutMs: 1000 });
  const [stream] = scriptStreams(channel, 1);
  stream?.send(snapshot(1));
  await nextUpdate(watch);
  await clock.advance(100_000);
  stream?.send(snapshot(2));
  assert.equal((await nextUpdate(watch)).state.version, 2n);
  watch.close();
});

test("the retry delay of the service is used if it is within the idle timeout", async () => {
  const { channel, watch, clock } = createWatch({ idleTimeoutMs: 5000 });
  channel.script.push(
    serviceError(Code.Unavailable, "STORE_UNAVAILABLE", 2.5),
    serviceError(Code.Unavailable, "DRAINING", 2.5),
  );
  const failure = assert.rejects(watch.next(), { reason: "DRAINING", retryDelayMs: 2500 });
  await flush();
  assert.deepEqual(clock.pendingTimers, [2500]);
  await clock.advance(2500);
  await failure;
});

for (const reason of ["STORE_UNAVAILABLE", "UNCONFIRMED", "DRAINING", "UPGRADING", "LIMIT"]) {
  test(`a watch is retried after the reason ${reason}`, async () => {
    const { channel, watch, clock } = createWatch();
    channel.script.push(serviceError(Code.Unavailable, reason));
    const [stream] = scriptStreams(channel, 1);
    stream?.send(snapshot(1));
    const update = nextUpdate(watch);
    await clock.advance(75);
    assert.equal((await update).state.version, 1n);
    watch.close();
  });
}

for (const [what, error] of [
  ["a permanent reason", serviceError(Code.Unavailable, "WRONG_SEAT")],
  ["a permanent status code", new ConnectError("no", Code.NotFound)],
  ["an unknown reason with a permanent code", serviceError(Code.PermissionDenied, "BRAND_NEW")],
] as const) {
  test(`${what} ends a watch without a retry`, async () => {
    const { channel, watch } = createWatch();
    channel.script.push(error);
    await assert.rejects(watch.next(), { name: "SodaFountainError" });
    assert.equal(channel.calls.length, 1);
  });
}

test("a watch of a finished game ends, even if its stream breaks", async () => {
  const { channel, watch } = createWatch();
  const [stream] = scriptStreams(channel, 1);
  stream?.send(snapshot(9, { status: GameStatus.FINISHED }), BROKEN);
  const versions: bigint[] = [];
  for await (const { state } of watch) {
    versions.push(state.version);
  }
  assert.deepEqual(versions, [9n]);
});

test("updates that are awaited concurrently arrive in order", async () => {
  const { channel, watch } = createWatch();
  const [stream] = scriptStreams(channel, 1);
  const both = Promise.all([nextUpdate(watch), nextUpdate(watch)]);
  await flush();
  stream?.send(snapshot(1), snapshot(2));
  assert.deepEqual(
    (await both).map(({ state }) => state.version),
    [1n, 2n],
  );
  watch.close();
});

test("a closed or aborted watch is no longer in flight", async () => {
  const channel = new ScriptedChannel();
  const rpc = new RpcClient(channel, 5000, new FakeClock());
  const seat = new Seat(new GameSession(rpc, GAME, { secret: "token" }));
  const controller = new AbortController();
  for (let watches = 0; watches < 300; watches++) {
    const [stream] = scriptStreams(channel, 1);
    stream?.send(snapshot(1));
    const watch = seat.watch({ signal: controller.signal });
    await watch.next();
    assert.equal(rpc.inFlight, 1);
    if (watches < 299) {
      watch.close();
    } else {
      controller.abort();
    }
    assert.equal(rpc.inFlight, 0);
  }
  await assert.rejects(seat.state({ signal: controller.signal }), { name: "AbortError" });
  const aborted = rpc.track(controller.signal);
  assert.equal(aborted.reason, "aborted");
  assert.equal(rpc.inFlight, 0);
});

test("nothing is in flight in a closed client", async () => {
  const channel = new ScriptedChannel();
  const rpc = new RpcClient(channel, 5000, new FakeClock());
  const [stream] = scriptStreams(channel, 1);
  stream?.send(snapshot(1));
  await new Seat(new GameSession(rpc, GAME, { secret: "token" })).watch().next();
  rpc.close();
  assert.equal(rpc.inFlight, 0);
});
