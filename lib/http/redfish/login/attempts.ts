/**
 * Limits how often one client may guess a password.
 * @module
 */
import { createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../../../core/clock.ts";
import { RateBudget } from "../../../core/concurrency.ts";
import { parseCidr, parseIp } from "../../../core/net/ip.ts";
import { remember } from "../../../core/maps.ts";
import type { MachineCredentials } from "../../../cloud/capabilities/machine_management.ts";

/**
 * More than all hosts behind one address ask for with a password that is about to change. Below it a client that is
 * right is let in among others that are wrong, also by a process that does not know it yet.
 */
const LIMITS = { max: 100, perSecond: 10 } as const;
const CLIENTS_MAX = 4_096;
const GOOD_MAX = 8_192;
/** A client can have as many addresses of IPv6 as it likes, with so many bits in common. */
const COMMON_BITS = 64;

/**
 * Failed attempts by the address of the client and the user name. After too many, only credentials are looked at that
 * were right before from there: a client that guesses locks out no other.
 */
export class Attempts {
  readonly #clock: Clock;
  readonly #budgets = new Map<string, RateBudget>();
  /** Hashes, so that no password stays in memory. */
  readonly #good = new Map<string, true>();
  readonly #salt = randomBytes(32);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Whether these credentials may be looked at.
   *
   * @param system The machine that is asked for: what is wrong for one that is gone stays right for another
   */
  mayTry(address: string, { username, password }: MachineCredentials, system = ""): boolean {
    const client = toClient(address);
    if (this.#good.has(this.#toHash(client, username, password, system))) return true;
    return this.#budgets.get(this.#toHash(client, username))?.hasRoom ?? true;
  }

  /** Notes whether the credentials were right. */
  note(
    address: string,
    { username, password }: MachineCredentials,
    isRight: boolean,
    system = "",
  ): void {
    const client = toClient(address);
    const hash = this.#toHash(client, username, password, system);
    if (isRight) {
      remember(this.#good, hash, true, GOOD_MAX);
      return;
    }
    this.#good.delete(hash);
    const key = this.#toHash(client, username);
    const budget = this.#budgets.get(key) ?? new RateBudget(this.#clock, LIMITS);
    budget.spend();
    remember(this.#budgets, key, budget, CLIENTS_MAX);
  }

  #toHash(...parts: readonly string[]): string {
    return createHmac("sha256", this.#salt).update(JSON.stringify(parts)).digest("base64");
  }
}

function toClient(address: string): string {
  const ip = parseIp(address);
  if (ip === undefined) return address;
  if (ip.family === 4) return ip.text;
  return String(parseCidr(`${ip.text}/${COMMON_BITS}`)?.first);
}
