/**
 * Private keys in the format of OpenSSH (PROTOCOL.key), without a passphrase: writes new ones, and reads the public
 * part of existing ones.
 * @module
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { SshReader, toSshString, toUint32 } from "./ssh_wire.ts";

const MAGIC = "openssh-key-v1\0";
const TYPE = "ssh-ed25519";
const NONE = "none";
/** The private part is filled up to a multiple of this. */
const BLOCK_BYTES = 8;
const LINE_LENGTH = 70;
const BEGIN = "-----BEGIN OPENSSH PRIVATE KEY-----";
const END = "-----END OPENSSH PRIVATE KEY-----";
/** Where the seed begins in PKCS #8 of an Ed25519 key, and the key in SPKI: both have a fixed length. */
const SEED_AT = 16;
const KEY_AT = 12;

/** Makes a new Ed25519 key. @param comment Written into the key; no secret */
export function createOpensshKey(comment: string): string {
  const pair = generateKeyPairSync("ed25519");
  const seed = pair.privateKey.export({ type: "pkcs8", format: "der" }).subarray(SEED_AT);
  const key = pair.publicKey.export({ type: "spki", format: "der" }).subarray(KEY_AT);
  // Equal numbers tell a program that it decrypted the key.
  const check = randomBytes(4);
  const secret = Buffer.concat([
    check,
    check,
    toSshString(TYPE),
    toSshString(key),
    toSshString(Buffer.concat([seed, key])),
    toSshString(comment),
  ]);
  const missing = (BLOCK_BYTES - (secret.length % BLOCK_BYTES)) % BLOCK_BYTES;
  const fill = Uint8Array.from({ length: missing }, (_, at) => at + 1);
  const whole = Buffer.concat([
    Buffer.from(MAGIC, "latin1"),
    toSshString(NONE),
    toSshString(NONE),
    toSshString(""),
    toUint32(1),
    toSshString(Buffer.concat([toSshString(TYPE), toSshString(key)])),
    toSshString(Buffer.concat([secret, fill])),
  ]);
  const lines = whole.toString("base64").match(new RegExp(`.{1,${LINE_LENGTH}}`, "g")) ?? [];
  return `${[BEGIN, ...lines, END].join("\n")}\n`;
}

/**
 * Reads the public part of a private key.
 *
 * @returns `ssh-ed25519 AAAA…`; `undefined` if this is not an Ed25519 key without a passphrase
 */
export function findPublicKey(text: string): string | undefined {
  const [first, ...lines] = text.trim().split(/\r?\n/);
  if (first !== BEGIN || lines.pop() !== END) return undefined;
  const reader = new SshReader(Buffer.from(lines.join(""), "base64"));
  if (reader.readBytes(MAGIC.length)?.toString("latin1") !== MAGIC) return undefined;
  const [cipher, derivation] = [reader.readString(), reader.readString()];
  if (cipher?.toString() !== NONE || derivation?.toString() !== NONE) return undefined;
  reader.readString();
  if (reader.readUint32() !== 1) return undefined;
  const key = reader.readString();
  if (key === undefined) return undefined;
  const inner = new SshReader(key);
  const isEd25519 = inner.readString()?.toString() === TYPE && inner.readString()?.length === 32;
  return isEd25519 && inner.isAtEnd ? `${TYPE} ${key.toString("base64")}` : undefined;
}
