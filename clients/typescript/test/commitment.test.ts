import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, equals, fromBinary } from "@bufbuild/protobuf";

import { GameStatus, OptionsSchema } from "../src/gen/sodafountain/v1/game_pb.js";
import { GetHistoryResponseSchema } from "../src/gen/sodafountain/v1/game_service_pb.js";
import { COMMITMENT, GAME, createClient, nextUpdate, scriptStreams, snapshot } from "./fakes.js";

type History = MessageInitShape<typeof GetHistoryResponseSchema>;

const OTHER = new Uint8Array(32);
const SEED = Uint8Array.from({ length: 32 }, (_, index) => index);
const SEED_HEX = Buffer.from(SEED).toString("hex");
const OTHER_GAME = "b".repeat(26);
const OPTIONS = 'options {"sodaJerk":{"advanced":true,"copiesPerValue":[3,3,3]}}';
const TEXT = `sodafountain.v1\ngame ${GAME}\nseats 3\n${OPTIONS}\nseed ${SEED_HEX}\n`;
const MOVE = { game: { case: "juices", value: {} } } as const;

const CHANGED = {
  name: "SodaFountainError",
  reason: "COMMITMENT_CHANGED",
  code: "DATA_LOSS",
  message: `The seed commitment of game ${GAME} has changed.`,
  requestId: undefined,
};
const NO_MATCH = { ...CHANGED, message: `The history of game ${GAME} does not match its seed commitment.` };

/** Return a response with a state that has a copy of this commitment. */
function withCommitment(seedCommitment: Uint8Array, more: object = {}): object {
  return { state: { gameId: GAME, version: 1n, seedCommitment: Uint8Array.from(seedCommitment), ...more } };
}

/** Return the history of a finished game, with the commitment to its text. */
function finished(text = TEXT, facts: object = {}): History {
  return {
    gameId: GAME,
    options: { game: { case: "sodaJerk", value: { advanced: true, copiesPerValue: [3, 3, 3] } } },
    seatCount: 3,
    status: GameStatus.FINISHED,
    seedCommitment: createHash("sha256").update(text).digest(),
    seed: SEED,
    commitmentText: text,
    ...facts,
  };
}

/** Return a history with a changed text, and with the commitment to that text. */
function replaced(old: string, by: string): History {
  assert.ok(TEXT.includes(old));
  return finished(TEXT.replace(old, by));
}

test("a seat keeps the commitment of its first state", async () => {
  const { client, channel } = createClient();
  const seat = client.seat(GAME, "t");
  assert.equal(seat.commitment, undefined);
  channel.script.push(withCommitment(COMMITMENT));
  await seat.state();
  assert.deepEqual(seat.commitment, COMMITMENT);
});

test("a state without a commitment is not kept", async () => {
  const { client, channel } = createClient();
  const seat = client.seat(GAME, "t");
  channel.script.push(withCommitment(new Uint8Array()));
  await seat.state();
  assert.equal(seat.commitment, undefined);
});

for (const [what, found] of [
  ["another commitment", OTHER],
  ["a shorter commitment", COMMITMENT.subarray(1)],
  ["no commitment", new Uint8Array()],
] as const) {
  test(`a later state with ${what} is an error`, async () => {
    const { client, channel } = createClient();
    const spectator = client.spectator(GAME);
    channel.script.push(withCommitment(COMMITMENT), withCommitment(found), withCommitment(COMMITMENT));
    await spectator.state();
    await assert.rejects(spectator.state(), CHANGED);
    assert.deepEqual(spectator.commitment, COMMITMENT);
    await spectator.state();
  });
}

test("the error of a move with another commitment has the request id", async () => {
  const { client, channel } = createClient();
  channel.script.push(withCommitment(OTHER));
  const requestId = "0a8f1b5e-2f0e-4d62-9c63-58f3c7d5a111";
  const applied = client.seat(GAME, "t", { commitment: COMMITMENT }).apply(MOVE, { requestId });
  await assert.rejects(applied, { ...CHANGED, requestId });
});

test("a state with another commitment opens no decision", async () => {
  const { client, channel } = createClient();
  const seat = client.seat(GAME, "t", { commitment: COMMITMENT });
  channel.script.push(withCommitment(OTHER, { viewerSeat: 0, awaitingSeats: [0], etag: "wrong" }));
  await assert.rejects(seat.state(), CHANGED);
  channel.script.push(withCommitment(COMMITMENT));
  await seat.apply(MOVE);
  assert.equal(channel.calls.at(-1)?.request["etag"], "");
});

for (const role of ["seat", "host", "spectator"] as const) {
  test(`a ${role} compares its first state with a saved commitment`, async () => {
    const { client, channel } = createClient();
    const restore = (commitment: Uint8Array) =>
      role === "spectator" ? client.spectator(GAME, { commitment }) : client[role](GAME, "t", { commitment });
    const wrong = restore(OTHER);
    assert.deepEqual(wrong.commitment, OTHER);
    channel.script.push(withCommitment(COMMITMENT), withCommitment(COMMITMENT));
    await assert.rejects(wrong.state(), CHANGED);
    await restore(Buffer.from(COMMITMENT)).state();
  });

  test(`a ${role} rejects a commitment that is not 32 bytes`, () => {
    const { client } = createClient();
    for (const [commitment, error] of [
      [
        "ab".repeat(32),
        { name: "TypeError", message: "commitment must be a Uint8Array such as seat.commitment, not string" },
      ],
      [null, TypeError],
      [new Uint8Array(), { name: "RangeError", message: "commitment must have 32 bytes, not 0" }],
      [new Uint8Array(31), RangeError],
    ] as const) {
      const options = { commitment: commitment as Uint8Array };
      const restore = () => (role === "spectator" ? client.spectator(GAME, options) : client[role](GAME, "t", options));
      assert.throws(restore, error);
    }
  });
}

test("changing the bytes outside does not change the commitment that is kept", async () => {
  const { client, channel } = createClient();
  const saved = Uint8Array.from(COMMITMENT);
  const restored = client.seat(GAME, "t", { commitment: saved });
  const seat = client.seat(GAME, "t");
  channel.script.push(withCommitment(COMMITMENT));
  const state = await seat.state();
  for (const bytes of [saved, restored.commitment, state.seedCommitment, seat.commitment]) {
    bytes?.fill(0);
  }
  assert.deepEqual(restored.commitment, COMMITMENT);
  assert.deepEqual(seat.commitment, COMMITMENT);
});

test("the host and the seats of a new game share its commitment", async () => {
  const { client, channel } = createClient();
  channel.script.push({ ...withCommitment(COMMITMENT), hostToken: "h", seatTokens: ["s", "t"] });
  const game = await client.newGame(MOVE, { seats: 2 });
  for (const each of [game, game.host, ...game.seats]) {
    assert.deepEqual(each.commitment, COMMITMENT);
  }
  channel.script.push(withCommitment(OTHER), withCommitment(OTHER));
  await assert.rejects(game.host.state(), CHANGED);
  await assert.rejects(game.seats[1]?.state() ?? Promise.resolve(), CHANGED);
});

/** Return a message with an update. */
function update(version: bigint, more: object) {
  const value = { firstVersion: version, state: { gameId: GAME, version, ...more } };
  return { resumeToken: `after ${version}`, item: { case: "update", value } } as const;
}

const { FINISHED } = GameStatus;
for (const [what, first, second] of [
  ["an update", snapshot(1, { seedCommitment: COMMITMENT }), update(2n, { seedCommitment: OTHER })],
  ["a later snapshot", snapshot(1, { seedCommitment: COMMITMENT }), snapshot(2, { seedCommitment: OTHER })],
  [
    "an update after the last change",
    snapshot(1, { seedCommitment: COMMITMENT, status: FINISHED }),
    update(2n, { seedCommitment: OTHER, status: FINISHED }),
  ],
] as const) {
  test(`a watch fails when the commitment of its snapshot changes in ${what}`, async () => {
    const { client, channel, clock } = createClient();
    const [stream] = scriptStreams(channel, 1);
    stream?.send(first, second);
    const spectator = client.spectator(GAME);
    const watch = spectator.watch();
    assert.equal((await nextUpdate(watch)).state.version, 1n);
    assert.deepEqual(spectator.commitment, COMMITMENT);
    await assert.rejects(watch.next(), CHANGED);
    assert.equal(stream?.signal?.aborted, true);
    assert.equal(channel.calls.length, 1);
    assert.deepEqual(clock.pendingTimers, []);
  });
}

test("a response without a state is an error when a commitment is kept", async () => {
  const { client, channel } = createClient();
  channel.script.push({});
  await assert.rejects(client.spectator(GAME, { commitment: COMMITMENT }).state(), CHANGED);
});

for (const [what, facts] of [
  ["an active game", { status: GameStatus.ACTIVE }],
  ["a sealed game", { sealed: true }],
] as const) {
  test(`the history of ${what} needs only the commitment`, async () => {
    const { client, channel } = createClient();
    const history = finished("", { ...facts, seed: new Uint8Array(), seedCommitment: COMMITMENT });
    channel.script.push(history, history);
    const { seatCount } = await client.seat(GAME, "t", { commitment: COMMITMENT }).history();
    assert.equal(seatCount, 3);
    await assert.rejects(client.seat(GAME, "t", { commitment: OTHER }).history(), CHANGED);
  });
}

test("a history is compared with the commitment of the first state", async () => {
  const { client, channel } = createClient();
  const spectator = client.spectator(GAME);
  channel.script.push(withCommitment(COMMITMENT), finished());
  await spectator.state();
  await assert.rejects(spectator.history(), CHANGED);
});

test("a history at the first look is not kept", async () => {
  const { client, channel } = createClient();
  const spectator = client.spectator(GAME);
  channel.script.push(finished());
  await spectator.history();
  assert.equal(spectator.commitment, undefined);
});

test("the text of a history may be of any length", async () => {
  const { client, channel } = createClient();
  for (let length = 0; length < 130; length++) {
    channel.script.push(finished(`${TEXT}note ${"é".repeat(length)}\n`));
    await client.spectator(GAME).history();
  }
});

test("the facts of a history in pages are those of its first page", async () => {
  const { client, channel } = createClient();
  const entries = [{ version: 1n }];
  channel.script.push(
    finished(TEXT, { entries, nextPageToken: "p" }),
    finished(TEXT, { entries, seatCount: 2, commitmentText: "" }),
  );
  const history = await client.spectator(GAME).history();
  assert.ok(
    equals(
      GetHistoryResponseSchema,
      history,
      create(GetHistoryResponseSchema, finished(TEXT, { entries: [...entries, ...entries] })),
    ),
  );
});

for (const [what, history] of [
  ["another text", finished(TEXT, { commitmentText: `${TEXT}more x\n` })],
  ["no text", finished(TEXT, { commitmentText: "" })],
  ["an empty text", finished("")],
  ["another id in the history", finished(TEXT, { gameId: OTHER_GAME })],
  ["another number of seats", finished(TEXT, { seatCount: 2 })],
  ["another seed", finished(TEXT, { seed: OTHER })],
  ["no seed", finished(TEXT.replace(SEED_HEX, ""), { seed: new Uint8Array() })],
  ["other options", finished(TEXT, { options: { game: { case: "sodaJerk", value: {} } } })],
  ["options without a game", finished(TEXT, { options: {} })],
  ["no options", finished(TEXT, { options: undefined })],
  ["another heading", replaced("sodafountain.v1", "sodafountain.v2")],
  ["another id in the text", replaced(GAME, OTHER_GAME)],
  ["a complete history of another game", finished(TEXT.replace(GAME, OTHER_GAME), { gameId: OTHER_GAME })],
  ["options that are not JSON", replaced("options {", "options {{")],
  ["options of another type", replaced(OPTIONS, "options []")],
  ["options that are null", replaced(OPTIONS, "options null")],
  ["a game of another type", replaced(OPTIONS, 'options {"sodaJerk":1}')],
  ["an option of another type", replaced(OPTIONS, 'options {"sodaJerk":{"advanced":"yes"}}')],
  ["a missing line", replaced("seats 3\n", "")],
  ["a repeated line", replaced("seats 3\n", "seats 2\nseats 3\n")],
  ["no line feed at the end", finished(TEXT.trimEnd())],
  ["other line ends", finished(TEXT.replaceAll("\n", "\r\n"))],
] as const) {
  test(`a finished history with ${what} does not match`, async () => {
    const { client, channel } = createClient();
    channel.script.push(history);
    await assert.rejects(client.spectator(GAME).history(), NO_MATCH);
  });
}

for (const [what, json, options] of [
  ["field", '{"sodaJerk":{"ice":true}}', [0x0a, 2, 0x78, 1]],
  ["enum value", '{"sodaJerk":{"removedFlavor":"FLAVOR_MINT"}}', [0x0a, 2, 0x18, 99]],
  ["kind of game", '{"lemonade":{}}', [0x7a, 0]],
] as const) {
  test(`options with a ${what} of a later release are accepted`, async () => {
    const { client, channel } = createClient();
    const text = `${TEXT.replace(OPTIONS, `options ${json}`)}entropy 00\n`;
    channel.script.push(finished(text, { options: fromBinary(OptionsSchema, Uint8Array.from(options)) }));
    const history = await client.spectator(GAME).history();
    assert.equal(history.commitmentText, text);
  });
}
