/**
 * Limits how often one client may guess a password.
 * @module
 */
import { createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../../../core/clock.ts";
import { parseCidr, parseIp } from "../../../core/net/ip.ts";
import { remember } from "../../../core/maps.ts";
import { RefusalBudget } from "../../review_cache.ts";
import type { MachineCredentials } from "../../../cloud/capabilities/machine_management.ts";

/** A person mistypes a few times; a program with a wrong password asks about once a minute. */
const LIMITS = { max: 10, perSecond: 0.1 } as const;
/** All clients together, so that many addresses do not help. */
const LIMITS_OF_ALL = { max: 200, perSecond: 20 } as const;
const ADDRESSES_MAX = 1_024;
const GOOD_MAX = 2_048;
/** A client can have as many addresses of IPv6 as it likes, with so many bits in common. */
const COMMON_BITS = 64;

/**
 * Failed attempts by the address of the client. After too many, only credentials are looked at that were right before:
 * a client with a wrong password does not lock out another one behind the same address.
 */
export class Attempts {
  readonly #clock: Clock;
  readonly #all: RefusalBudget;
  readonly #budgets = new Map<string, RefusalBudget>();
  /** Hashes, so that no password stays in memory. */
  readonly #good = new Map<string, true>();
  readonly #salt = randomBytes(32);

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#all = new RefusalBudget(clock, LIMITS_OF_ALL);
  }

  /** Whether these credentials may be looked at. */
  mayTry(address: string, credentials: MachineCredentials): boolean {
    if (this.#good.has(this.#toHash(credentials))) return true;
    return this.#all.hasRoom && (this.#budgets.get(toClient(address))?.hasRoom ?? true);
  }

  /** Notes whether the credentials were right. */
  note(address: string, credentials: MachineCredentials, isRight: boolean): void {
    const hash = this.#toHash(credentials);
    if (isRight) {
      remember(this.#good, hash, true, GOOD_MAX);
      return;
    }
    this.#good.delete(hash);
    const client = toClient(address);
    const budget = this.#budgets.get(client) ?? new RefusalBudget(this.#clock, LIMITS);
    budget.spend();
    this.#all.spend();
    remember(this.#budgets, client, budget, ADDRESSES_MAX);
  }

  #toHash({ username, password }: MachineCredentials): string {
    const text = JSON.stringify([username, password]);
    return createHmac("sha256", this.#salt).update(text).digest("base64");
  }
}

function toClient(address: string): string {
  const ip = parseIp(address);
  if (ip === undefined) return address;
  if (ip.family === 4) return ip.text;
  return String(parseCidr(`${ip.text}/${COMMON_BITS}`)?.first);
}
