import assert from "node:assert/strict";
import { test } from "node:test";

import { GAME, createClient, nextUpdate, scriptStreams, snapshot } from "./fakes.js";

test("an update sets the seat's number and the etag of its next move", async () => {
  const { channel, client } = createClient();
  const seat = client.seat(GAME, "token");
  const [stream] = scriptStreams(channel, 1);
  stream?.send(snapshot(4, { viewerSeat: 2, awaitingSeats: [2], etag: "the open one" }));
  const watch = seat.watch();
  await nextUpdate(watch);
  watch.close();
  channel.script.push({});
  await seat.apply({ game: { case: "juices", value: {} } });
  assert.equal(channel.calls[1]?.request["etag"], "the open one");
  assert.equal(seat.number, 2);
});

function update(version: number, more: object = {}) {
  const value = { firstVersion: BigInt(version), state: { gameId: GAME, version: BigInt(version), ...more } };
  return { resumeToken: `after ${version}`, item: { case: "update", value } } as const;
}

/** The open decision of seat 0, as in a state and as in the response of LegalMoves. */
const open = (etag: string) => ({ viewerSeat: 0, awaitingSeats: [0], etag });
const listed = (version: number, etag: string) => ({ version: BigInt(version), etag, moves: [{}] });

for (const [what, message, etag] of [
  ["an older update", update(3, open("older")), "answered"],
  ["an older update without a decision", update(3, { viewerSeat: 0 }), "answered"],
  ["an update of the same version", update(7, open("same")), "same"],
  ["a newer update", update(8, open("newer")), "newer"],
  ["an older snapshot", snapshot(3, open("restored")), "restored"],
] as const) {
  test(`after a response of version 7, ${what} leaves the etag "${etag}"`, async () => {
    const { channel, client } = createClient();
    const seat = client.seat(GAME, "token");
    const [stream] = scriptStreams(channel, 1);
    stream?.send(snapshot(2, open("first")));
    const watch = seat.watch();
    await nextUpdate(watch);
    channel.script.push(listed(7, "answered"));
    await seat.legalMoves();
    stream?.send(message);
    await nextUpdate(watch);
    watch.close();
    channel.script.push({});
    await seat.apply({ game: { case: "juices", value: {} } });
    assert.equal(channel.calls.at(-1)?.request["etag"], etag);
  });
}

test("a host compares versions for each seat separately", async () => {
  const { channel, client } = createClient();
  const host = client.host(GAME, "token");
  channel.script.push(listed(7, "of seat 1"));
  await host.legalMoves(1);
  const [stream] = scriptStreams(channel, 1);
  stream?.send(update(3, open("of seat 0")));
  const watch = host.watch({ seat: 0, resumeToken: "after 2" });
  await nextUpdate(watch);
  watch.close();
  for (const seat of [0, 1]) {
    channel.script.push({});
    await host.apply(seat, { game: { case: "juices", value: {} } });
    assert.equal(channel.calls.at(-1)?.request["etag"], `of seat ${seat}`);
  }
});

test("a response with an older version replaces the remembered decision", async () => {
  const { channel, client } = createClient();
  const seat = client.seat(GAME, "token");
  channel.script.push(listed(7, "lost"), { state: { version: 4n, ...open("restored") } }, {});
  await seat.legalMoves();
  await seat.state();
  await seat.apply({ game: { case: "juices", value: {} } });
  assert.equal(channel.calls.at(-1)?.request["etag"], "restored");
});
