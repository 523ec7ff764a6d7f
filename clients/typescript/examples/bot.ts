/** Plays any game with random moves, for all its seats. It needs no rules: the service lists the legal moves. */

import { parseArgs } from "node:util";

import type { Client } from "@sodafountain/client";
import { connect } from "@sodafountain/client";
import { fromJsonString, OptionsSchema } from "@sodafountain/client/v1";

const USAGE = `Usage: bot [--target localhost:50051] [--tls] [--kind soda_jerk] [--options '{"advanced": true}'] [--seats 2] [--seed 7]

  --target   address of the service
  --kind     game to play (default: the first that the service offers)
  --options  options of the game as JSON
  --seats    number of seats (default: the minimum of the game)
  --seed     seed of the random choices (default: a random seed)
  --tls      use TLS, which a service on another host needs unless there is the flag --allow-insecure`;

const [text, yes] = [{ type: "string" }, { type: "boolean" }] as const;
const texts = { target: text, kind: text, options: text, seats: text, seed: text } as const;
const flags = { ...texts, tls: yes, "allow-insecure": yes, help: yes } as const;

/** Return a function that chooses a random item. The same seed gives the same choices (mulberry32). */
function seededChoice(seed: number): <T>(items: readonly T[]) => T {
  return (items) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), seed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const [item] = items.slice(((mixed ^ (mixed >>> 14)) >>> 0) % items.length);
    if (item === undefined) {
      throw new RangeError("there are no items to choose from");
    }
    return item;
  };
}

/** Create a game and play it to its end. */
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
  for (const { player, total, rank } of result.scores) {
    const name = player?.identity.case === "seat" ? `Seat ${player.identity.value}` : "The automaton";
    console.log(`${name} has ${total} points: place ${rank}`);
  }
  console.log(result.note);
}

try {
  const { values } = parseArgs({ options: flags });
  if (values.help === true) {
    console.log(USAGE);
  } else {
    const client = connect(values.target, { tls: values.tls, allowInsecure: values["allow-insecure"] });
    await play(client, values).finally(() => {
      client.close();
    });
  }
} catch (error) {
  console.error(`bot: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
