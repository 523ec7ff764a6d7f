/** The version of this package; a test compares it with package.json. */
export const VERSION = "0.1.0";

/** The user agent of the client. */
export const USER_AGENT = `sodafountain-typescript/${VERSION}`;
