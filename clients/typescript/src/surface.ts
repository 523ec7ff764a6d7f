/** What every entrance of the package has. */

export type { CallOptions } from "./caller.js";
export type { Client, ClientOptions, NewGameOptions } from "./client.js";
export type { GameMove, GameOptions } from "./envelopes.js";
export { SodaFountainError } from "./errors.js";
export type { FieldViolation, Reason, ServiceReason, StatusCode } from "./errors.js";
export type { ApplyOptions, MadeMove, StateOptions } from "./game-caller.js";
export type { Game } from "./game.js";
export type { Host, Seat, SeatChoice, Spectator, Viewer } from "./seats.js";
export { VERSION } from "./version.js";
export type { Update, Watch, WatchOptions } from "./watch.js";
