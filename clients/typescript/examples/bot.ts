/** Plays a game of any kind by chance, for all its seats. It knows no game: the service tells what is legal. */

import { parseArgs } from "node:util";

import type { Client } from "@sodafountain/client";
import { connect } from "@sodafountain/client";
import { fromJsonString, OptionsSchema } from "@sodafountain/client/v1";

const USAGE = `Usage: node bot.js [--target localhost:50051] [--kind soda_jerk] [--options '{"advanced": true}'] [--seats 2]

  --target   where the service is
  --kind     which game (the first that is offered)
  --options  its options as JSON
  --seats    how many seats (as few as the game takes)`;

/** One of several, by chance. */
function oneOf<T>(several: readonly T[]): T {
  const one = several[Math.floor(Math.random() * several.length)];
  if (one === undefined) {
    throw new Error("there is nothing to choose from");
  }
  return one;
}

/** Makes a game and plays it to its end. */
async function play(client: Client, kind: string | undefined, options: string, seats: number | undefined) {
  const ids = new Map(OptionsSchema.fields.map((field) => [field.localName, field.name]));
  const kinds = new Map((await client.gameKinds()).map((info) => [ids.get(info.presets[0]?.game.case ?? ""), info]));
  const name = kind ?? [...kinds.keys()][0] ?? "";
  const info = kinds.get(name);
  if (info === undefined) {
    throw new RangeError(`--kind must be one of ${[...kinds.keys()].join(", ")}, not ${name}`);
  }
  const which = fromJsonString(OptionsSchema, `{"${name}": ${options}}`);
  const game = await client.newGame(which, { seats: seats ?? info.minSeats });

  let { awaitingSeats } = game.state;
  while (awaitingSeats.length > 0) {
    const seat = oneOf(game.seats.filter((_, number) => awaitingSeats.includes(number)));
    const move = oneOf((await seat.legalMoves()).moves);
    ({ awaitingSeats } = (await seat.apply(move)).state);
    console.log(`Seat ${seat.number}: ${move.label}`);
  }

  const result = await game.host.score();
  for (const { seat, total, rank } of result.seats) {
    console.log(`Seat ${seat} has ${total} points: place ${rank}`);
  }
  console.log(result.note);
}

try {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: { target: text, kind: text, options: text, seats: text, help: { type: "boolean" } },
  });
  if (values.help === true) {
    console.log(USAGE);
  } else {
    const client = connect(values.target);
    const seats = values.seats === undefined ? undefined : Number(values.seats);
    await play(client, values.kind, values.options ?? "{}", seats).finally(() => {
      client.close();
    });
  }
} catch (error) {
  console.error(`bot: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
