/**
 * Signs records, so that only Landfall can write one.
 * @module
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** What the key of the signatures is for, so that it is no key of anything else. Frozen. */
export const SIGNING_PURPOSE = "landfall.dev/load-balancer";

/**
 * Signs texts with HMAC-SHA256, and checks signatures.
 *
 * Users who may edit a Service can copy a signature that was there. Only a process with the key can make one.
 */
export class RecordSigner {
  readonly #key: Uint8Array;

  /** @param key The same in each process of the cluster. @default {a random one: no known signature is valid} */
  constructor(key: Uint8Array = randomBytes(32)) {
    this.#key = key;
  }

  /** The signature of a text, in Base64 for URLs. */
  sign(text: string): string {
    return this.#compute(text).toString("base64url");
  }

  /** Whether a signature was made from exactly this text, with this key. */
  isValid(signature: string, text: string): boolean {
    const given = Buffer.from(signature, "base64url");
    const computed = this.#compute(text);
    return given.length === computed.length && timingSafeEqual(given, computed);
  }

  /** Whether this signs with a key. */
  has(key: Uint8Array): boolean {
    return key.length === this.#key.length && timingSafeEqual(key, this.#key);
  }

  #compute(text: string): Buffer {
    return createHmac("sha256", this.#key).update(text).digest();
  }
}
