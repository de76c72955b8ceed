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
  /** Keys that were in use before: what was signed with them is still valid. The newest first. */
  readonly #earlier: readonly Uint8Array[];

  /**
   * @param key The same in each process of the cluster. @default {a random one: no known signature is valid}
   * @param earlier See {@linkcode withKey}. @default {none}
   */
  constructor(key: Uint8Array = randomBytes(32), earlier: readonly Uint8Array[] = []) {
    this.#key = key;
    this.#earlier = earlier;
  }

  /** Signs with another key from now on. The keys of CloudStack may change while a record is open. */
  withKey(key: Uint8Array): RecordSigner {
    if (isSame(key, this.#key)) return this;
    const earlier = [this.#key, ...this.#earlier].slice(0, EARLIER_MAX);
    return new RecordSigner(key, earlier);
  }

  /** The signature of a text, in Base64 for URLs. */
  sign(text: string): string {
    return compute(this.#key, text).toString("base64url");
  }

  /** Whether a signature was made from exactly this text, with this key or an earlier one. */
  isValid(signature: string, text: string): boolean {
    const given = Buffer.from(signature, "base64url");
    return [this.#key, ...this.#earlier].some((key) => isSame(given, compute(key, text)));
  }
}

/** A record is open for minutes, and keys change rarely. */
const EARLIER_MAX = 4;

function compute(key: Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
