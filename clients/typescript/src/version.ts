/** The version of this package; a test holds it to package.json. */
export const VERSION = "0.1.0";

/** What clients are called by in the logs of servers. */
export const USER_AGENT = `sodafountain-typescript/${VERSION}`;
