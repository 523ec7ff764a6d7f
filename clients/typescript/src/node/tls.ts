import type { SecureContext } from "node:tls";
import { createSecureContext } from "node:tls";

/** TLS with private certificate authorities, or with a client certificate. */
export interface TlsOptions {
  /** The certificates of the only authorities to trust, in PEM. Default: the public ones. */
  readonly ca?: string | Uint8Array | undefined;
  /** The client's certificate with its chain, in PEM, if the server requires one. */
  readonly cert?: string | Uint8Array | undefined;
  /** The private key of that certificate, in PEM. A secret. */
  readonly key?: string | Uint8Array | undefined;
}

/**
 * Parse certificates and keys.
 *
 * @throws TypeError if one is invalid.
 */
export function secureContext({ ca, cert, key }: TlsOptions): SecureContext {
  if (ca !== undefined && !text(ca).includes("-----BEGIN CERTIFICATE-----")) {
    throw new TypeError("tls.ca must contain a certificate in PEM");
  }
  const options = Object.entries({ ca, cert, key }).flatMap(([name, pem]) =>
    pem === undefined ? [] : [[name, text(pem)] as const],
  );
  try {
    return createSecureContext(Object.fromEntries(options));
  } catch (cause) {
    throw new TypeError(
      `tls.ca, tls.cert or tls.key is invalid: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

function text(pem: string | Uint8Array): string {
  return typeof pem === "string" ? pem : Buffer.from(pem).toString("latin1");
}
