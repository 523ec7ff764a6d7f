/** The exports that every entry point of the package has. */

export type { Client, ClientOptions, NewGameOptions, SpectatorOptions, ViewerOptions } from "./client.js";
export { SodaFountainError } from "./errors.js";
export type { FieldViolation, Reason, ServiceReason, StatusCode } from "./errors.js";
export type { GameMove, GameOptions } from "./game-messages.js";
export type { ApplyOptions, ApplyResult, StateOptions } from "./game-session.js";
export type { Game } from "./game.js";
export type { CallOptions } from "./rpc-client.js";
export { VERSION } from "./version.js";
export type { Host, Seat, SeatSelection, Spectator, Viewer } from "./viewers.js";
export type { Update, Watch, WatchOptions } from "./watch.js";
