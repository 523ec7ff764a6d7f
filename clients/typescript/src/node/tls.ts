import type { SecureContext } from "node:tls";
import { createSecureContext } from "node:tls";

/** How to use TLS, where the public certificate authorities are not to be trusted, or the server wants to know its client. */
export interface TlsOptions {
  /** The certificates of the authorities to trust, and of no others, in PEM; the public ones if left out. */
  readonly ca?: string | Uint8Array | undefined;
  /** The client's own certificate with its chain, in PEM, where the server asks for one. */
  readonly cert?: string | Uint8Array | undefined;
  /** The private key of that certificate, in PEM. A secret. */
  readonly key?: string | Uint8Array | undefined;
}

/**
 * Reads certificates and keys.
 *
 * @throws TypeError where one cannot be read.
 */
export function secureContext({ ca, cert, key }: TlsOptions): SecureContext {
  if (ca !== undefined && !text(ca).includes("-----BEGIN CERTIFICATE-----")) {
    throw new TypeError("tls.ca has no certificate in PEM in it");
  }
  const required = Object.entries({ ca, cert, key }).flatMap(([name, pem]) =>
    pem === undefined ? [] : [[name, text(pem)] as const],
  );
  try {
    return createSecureContext(Object.fromEntries(required));
  } catch (cause) {
    throw new TypeError(`tls cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function text(pem: string | Uint8Array): string {
  return typeof pem === "string" ? pem : Buffer.from(pem).toString("latin1");
}
