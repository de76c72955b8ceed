/**
 * MAC addresses of interfaces: from a hash, so that a machine gets the same ones after a restart. Pure.
 * @module
 */
import { createHash } from "node:crypto";
import type { MachineMac } from "../../../cloud/capabilities/machine_power.ts";

/** What a MAC address is for. It always stays the same for the same interface. */
export interface MacOwner {
  /** UID of the Vino. */
  readonly uid: string;
  /** Name of the machine. */
  readonly machine: string;
  /** Name of the interface. */
  readonly interface: string;
}

/** What a MAC address must be like. */
interface MacOptions {
  /** Six pairs of digits. The pairs up to the last one that is not zero are kept. @default {no pair} */
  readonly prefix?: string;
  /** Addresses of other interfaces, in lower case. */
  readonly taken: Pick<ReadonlySet<string>, "has" | "size">;
}

const PAIRS = 6;
/** The first pair of an address that no manufacturer gives out, and that is for one machine. */
const LOCAL = 0x02;
const MULTICAST = 0x01;

/**
 * Chooses the MAC address of an interface: the kept pairs, then those of the hash, or the next free address after it.
 * Without a kept pair, it has the bit of local addresses; a prefix is used as it is.
 *
 * @returns In lower case; `undefined` if all addresses with this prefix are taken
 */
export function toMac(owner: MacOwner, { prefix, taken }: MacOptions): string | undefined {
  const kept = toKeptPairs(prefix);
  const hash = toHash(owner);
  // One bit is for multicast, the other one is set: without a prefix, the first pair has six free bits.
  const bits = kept.length === 0 ? BigInt(8 * PAIRS - 2) : BigInt(8 * (PAIRS - kept.length));
  const count = 1n << bits;
  const tries = BigInt(taken.size) + 1n;
  for (let step = 0n; step < count && step < tries; step += 1n) {
    const mac = format(kept, (hash + step) % count);
    if (!taken.has(mac)) return mac;
  }
  return undefined;
}

/** Whether only few addresses have this prefix, so that two interfaces may want the same one. */
export function isNarrow(prefix: string | undefined): boolean {
  return toKeptPairs(prefix).length > 0;
}

/** Whether an address can come from a network with this prefix. @param mac In lower case */
export function hasPrefix(mac: string, prefix: string | undefined): boolean {
  const pairs = mac.split(":").map((pair) => Number.parseInt(pair, 16));
  return toKeptPairs(prefix).every((pair, at) => pairs[at] === pair);
}

/** The pairs that a prefix keeps: all but the zeros at its end. */
function toKeptPairs(prefix: string | undefined): number[] {
  const pairs = prefix?.split(":").map((pair) => Number.parseInt(pair, 16)) ?? [];
  return pairs.slice(0, pairs.findLastIndex((pair) => pair !== 0) + 1);
}

function toHash({ uid, machine, interface: name }: MacOwner): bigint {
  const digest = createHash("sha256")
    .update(JSON.stringify([uid, machine, name]))
    .digest("hex");
  return BigInt(`0x${digest.slice(0, 2 * PAIRS)}`);
}

function format(kept: readonly number[], rest: bigint): string {
  const free = Array.from({ length: PAIRS - kept.length }, (_, at) =>
    Number((rest >> BigInt(8 * (PAIRS - kept.length - 1 - at))) & 0xffn),
  );
  const pairs =
    kept.length > 0
      ? [...kept, ...free]
      : free.map((pair, at) => (at === 0 ? toLocal(pair) : pair));
  return pairs.map((pair) => pair.toString(16).padStart(2, "0")).join(":");
}

/** The first of the pairs has its six bits at the bottom. */
function toLocal(pair: number): number {
  return ((pair << 2) | LOCAL) & 0xff & ~MULTICAST;
}

/** Reads the MAC addresses that a cloud shows. @throws {CloudError} if it does not show all of the Vino's pool */
export type ReadMacs = () => Promise<readonly MachineMac[]>;

/** MAC addresses that exist. */
export interface SeenMacs {
  /** All of them. */
  readonly all: ReadonlySet<string>;
  /** That of an interface of one of our machines. @param device Its place, from 0 on */
  find(machine: string, device: number): string | undefined;
}

/** Sorts what a cloud shows. An address that two interfaces have is that of no machine. */
export function toSeenMacs(macs: readonly MachineMac[]): SeenMacs {
  const all = new Set<string>();
  const twice = new Set<string>();
  const own = new Map<string, string>();
  for (const { mac, machine } of macs) {
    if (all.has(mac)) twice.add(mac);
    all.add(mac);
    if (machine !== undefined) own.set(toKey(machine.name, machine.device), mac);
  }
  return {
    all,
    find: (machine, device) => {
      const mac = own.get(toKey(machine, device));
      return mac === undefined || twice.has(mac) ? undefined : mac;
    },
  };
}

function toKey(machine: string, device: number): string {
  return `${machine} ${device}`;
}
