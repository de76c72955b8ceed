/**
 * The data types of SSH on the wire (RFC 4251, section 5), as far as keys need them.
 * @module
 */

const LENGTH_BYTES = 4;

/** Bytes or text with their length in front. */
export function toSshString(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([toUint32(bytes.length), bytes]);
}

/** A number of 32 bits, the highest byte first. */
export function toUint32(value: number): Buffer {
  const bytes = Buffer.alloc(LENGTH_BYTES);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Reads values one after the other. Every method returns `undefined` if the bytes end before the value does. */
export class SshReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes);
  }

  /** Whether every byte was read. */
  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  readUint32(): number | undefined {
    return this.readBytes(LENGTH_BYTES)?.readUInt32BE();
  }

  readString(): Buffer | undefined {
    const length = this.readUint32();
    return length === undefined ? undefined : this.readBytes(length);
  }

  readBytes(length: number): Buffer | undefined {
    const end = this.#at + length;
    if (end > this.#bytes.length) return undefined;
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }
}
