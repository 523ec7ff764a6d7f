/** Plays a game of any kind by chance, for all its seats. It knows no game: the service tells what is legal. */

import { parseArgs } from "node:util";

import type { Client } from "@sodafountain/client";
import { connect } from "@sodafountain/client";
import { fromJsonString, OptionsSchema } from "@sodafountain/client/v1";

const USAGE = `Usage: bot [--target localhost:50051] [--kind soda_jerk] [--options '{"advanced": true}'] [--seats 2] [--seed 7]

  --target   where the service is
  --kind     which game (the first that is offered)
  --options  its options as JSON
  --seats    how many seats (as few as the game takes)
  --seed     makes the bot choose alike among the same moves (by chance)`;

const text = { type: "string" } as const;
const flags = { target: text, kind: text, options: text, seats: text, seed: text, help: { type: "boolean" } } as const;

/** Draws one of several: alike for the same seed (the generator is mulberry32). */
function seededChoice(seed: number): <T>(several: readonly T[]) => T {
  return (several) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), seed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const [one] = several.slice(((mixed ^ (mixed >>> 14)) >>> 0) % several.length);
    if (one === undefined) {
      throw new RangeError("there is nothing to choose from");
    }
    return one;
  };
}

/** Makes a game and plays it to its end. */
async function play(client: Client, args: Partial<Record<keyof typeof flags, string | boolean>>): Promise<void> {
  const ids = new Map(OptionsSchema.fields.map((field) => [field.localName, field.name]));
  const kinds = new Map((await client.gameKinds()).map((info) => [ids.get(info.presets[0]?.game.case ?? ""), info]));
  const name = args.kind ?? [...kinds.keys()][0];
  const info = kinds.get(String(name));
  if (info === undefined) {
    throw new RangeError(`--kind must be one of ${[...kinds.keys()].join(", ")}, not ${name}`);
  }
  const options = fromJsonString(OptionsSchema, `{"${name}": ${args.options ?? "{}"}}`);
  const game = await client.newGame(options, { seats: Number(args.seats ?? info.minSeats) });

  const choose = seededChoice(Number(args.seed ?? Math.random() * 2 ** 32));
  let { awaitingSeats } = game.state;
  while (awaitingSeats.length > 0) {
    const seat = choose(game.seats.filter((_, number) => awaitingSeats.includes(number)));
    const move = choose((await seat.legalMoves()).moves);
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
  const { values } = parseArgs({ options: flags });
  if (values.help === true) {
    console.log(USAGE);
  } else {
    const client = connect(values.target);
    await play(client, values).finally(() => {
      client.close();
    });
  }
} catch (error) {
  console.error(`bot: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
