/**
 * What Landfall keeps on a Service while a change of CloudStack is open. Pure. Frozen: what an older version wrote must
 * stay readable.
 *
 * Signed, because everyone who may edit the Service may write anything there. Still only a hint: users can write an old
 * record again, and backups copy it.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { formatTime } from "../../../core/clock.ts";
import { type Fields, isFields, parseFields, parseUuid } from "../../../core/text/values.ts";
import { parseIp } from "../../../core/net/ip.ts";
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Where an address serves: a network, or a VPC whose tiers share it. IDs of CloudStack. */
export type Place = { readonly networkId: string } | { readonly vpcId: string };

/** Whether two places are the same one. */
export function isSamePlace(one: Place, other: Place): boolean {
  return isDeepStrictEqual(one, other);
}

/**
 * How far the clocks of the process that wrote a record, of this process and of CloudStack may differ, in milliseconds.
 */
export const SKEW_MS = 3_600_000;

/** An address that Landfall asked for, or is about to ask for, and has not tagged. */
export interface AskedAddress {
  /** Absent: CloudStack showed no free address to choose from, and has not said yet which one it gave. */
  readonly id?: string;
  readonly ip?: string;
  readonly place: Place;
  /** When it was recorded, in milliseconds since 1970, to the second. */
  readonly atMs: number;
  /** Whether CloudStack showed it as free right before. */
  readonly wasFree: boolean;
}

/** A job that was not over soon. */
export interface OpenJob {
  readonly id: string;
  /** What it does, as the API calls it. */
  readonly command: string;
  /** What it makes, if the server said it. */
  readonly objectId?: string;
}

/** What the annotation says. */
export interface KeptRecord {
  readonly address?: AskedAddress;
  readonly job?: OpenJob;
  /**
   * The IP of an address whose tags name another Service, and that this one uses or used without naming it. Nothing
   * else would say so when its rules are gone.
   */
  readonly shared?: string;
}

const VERSION = 1;
/** In characters, which are bytes here: the text is ASCII. */
const LENGTH_MAX = 1_024;
const COMMAND = /^[A-Za-z]{1,64}$/;

/**
 * Formats a record as the value of the annotation; `undefined` if there is nothing to keep.
 *
 * @param uid Of the Service: a copy of the annotation on another one says nothing
 */
export function formatRecord(
  record: KeptRecord,
  uid: string,
  signer: RecordSigner,
): string | undefined {
  if (Object.keys(record).length === 0) return undefined;
  const content = toContent(record, uid);
  return JSON.stringify({ ...content, signature: signer.sign(JSON.stringify(content)) });
}

/**
 * Reads the value of the annotation.
 *
 * @returns `undefined` for all that Landfall would not write on the Service with this UID
 */
export function parseRecord(
  text: string | undefined,
  uid: string,
  signer: RecordSigner,
): KeptRecord | undefined {
  const read = readRecord(text, uid, signer);
  return read?.isSigned === true ? read.record : undefined;
}

/**
 * The address that a record names which Landfall did not write, or wrote with other keys.
 *
 * @returns `undefined` if it names none, or Landfall wrote it
 */
export function findUnsigned(
  text: string | undefined,
  uid: string,
  signer: RecordSigner,
): AskedAddress | undefined {
  const read = readRecord(text, uid, signer);
  return read?.isSigned === false ? read.record.address : undefined;
}

/** A record without a job that is over; `undefined` if nothing else is in it. */
export function withoutJobs(
  record: KeptRecord | undefined,
  endedJobs: ReadonlySet<string>,
): KeptRecord | undefined {
  if (record?.job === undefined || !endedJobs.has(record.job.id)) return record;
  const { job: _ended, ...others } = record;
  return Object.keys(others).length === 0 ? undefined : others;
}

interface ReadRecord {
  readonly record: KeptRecord;
  readonly isSigned: boolean;
}

const NONE: KeptRecord = {};

function readRecord(
  text: string | undefined,
  uid: string,
  signer: RecordSigner,
): ReadRecord | undefined {
  if (text === undefined || text.length > LENGTH_MAX) return undefined;
  const fields = parseFields(text);
  if (fields?.["v"] !== VERSION || fields["uid"] !== uid) return undefined;
  const address = fields["address"] === undefined ? NONE : parseAddress(fields["address"]);
  const job = fields["job"] === undefined ? NONE : parseJob(fields["job"]);
  const shared = parseOptional(fields["shared"], (one) => parseIp(one)?.text);
  if (address === undefined || job === undefined || shared === NOT_READABLE) return undefined;
  const record = { ...address, ...job, ...(shared !== undefined && { shared }) };
  if (Object.keys(record).length === 0) return undefined;
  const signature = fields["signature"];
  const content = JSON.stringify(toContent(record, uid));
  return {
    record,
    isSigned: typeof signature === "string" && signer.isValid(signature, content),
  };
}

/** What is signed. The order of its fields counts. */
function toContent({ address, job, shared }: KeptRecord, uid: string): object {
  return {
    v: VERSION,
    uid,
    ...(address && { address: formatAddress(address) }),
    ...(job && { job: { id: job.id, command: job.command, object: job.objectId } }),
    ...(shared !== undefined && { shared }),
  };
}

function formatAddress({ id, ip, place, atMs, wasFree }: AskedAddress): object {
  const where = "vpcId" in place ? { vpc: place.vpcId } : { network: place.networkId };
  return { id, ip, ...where, at: formatTime(atMs), free: wasFree };
}

function parseAddress(value: unknown): KeptRecord | undefined {
  if (!isFields(value)) return undefined;
  const id = parseOptional(value["id"], parseUuid);
  const ip = parseOptional(value["ip"], (text) => parseIp(text)?.text);
  const place = parsePlace(value);
  const atMs = parseTime(value["at"]);
  const wasFree = value["free"];
  if (id === NOT_READABLE || ip === NOT_READABLE || place === undefined) return undefined;
  if (atMs === undefined || typeof wasFree !== "boolean") return undefined;
  return { address: { ...(id && { id }), ...(ip && { ip }), place, atMs, wasFree } };
}

function parsePlace({ network, vpc }: Fields): Place | undefined {
  const networkId = parseOptional(network, parseUuid);
  const vpcId = parseOptional(vpc, parseUuid);
  if (networkId === NOT_READABLE || vpcId === NOT_READABLE) return undefined;
  if (networkId !== undefined && vpcId !== undefined) return undefined;
  if (networkId !== undefined) return { networkId };
  return vpcId === undefined ? undefined : { vpcId };
}

function parseJob(value: unknown): KeptRecord | undefined {
  if (!isFields(value)) return undefined;
  const id = parseOptional(value["id"], parseUuid);
  const objectId = parseOptional(value["object"], parseUuid);
  const command = value["command"];
  if (id === undefined || id === NOT_READABLE || objectId === NOT_READABLE) return undefined;
  if (typeof command !== "string" || !COMMAND.test(command)) return undefined;
  return { job: { id, command, ...(objectId && { objectId }) } };
}

const NOT_READABLE = Symbol("not readable");

/** A field that may be absent: `undefined` if it is. */
function parseOptional(
  value: unknown,
  parse: (text: string) => string | undefined,
): string | undefined | typeof NOT_READABLE {
  if (value === undefined) return undefined;
  return typeof value === "string" ? (parse(value) ?? NOT_READABLE) : NOT_READABLE;
}

function parseTime(value: unknown): number | undefined {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value))
    return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}

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
