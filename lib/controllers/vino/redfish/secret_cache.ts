/**
 * The Secrets of the management controllers of machines: which user and password each accepts. Secrets are read one by
 * one, never listed.
 * @module
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../../core/clock.ts";
import { forEachAtOnce, RateBudget } from "../../../core/concurrency.ts";
import { remember } from "../../../core/maps.ts";
import { type KubeClient, readIfPresent } from "../../../kube/api/client.ts";
import { SECRETS } from "../../../kube/kinds/secret.ts";
import type { MachineCredentials } from "../../../cloud/capabilities/machine_management.ts";
import { toCredentialsName } from "../hosts/names.ts";
import { findCredentials, trimCredentials } from "./host_credentials.ts";

/** A machine that has a management controller. */
export interface ManagedMachine {
  /** The cloud's ID. */
  readonly id: string;
  /** Its name in the cloud. */
  readonly name: string;
  readonly namespace: string;
  /** Name of the Secret with the keys `username` and `password`. */
  readonly secretName: string;
  /** Name of the Secret with its boot override, if it ever had one. */
  readonly overrideName: string;
  readonly vino: { readonly name: string; readonly uid: string };
  /** Whether metal3 installs it, so that nothing on its disks needs the firmware of the template. */
  readonly isInstalled: boolean;
}

/** What is kept about a machine is kept by this: several Vinos may name the same ID, and only one is right. */
export function toMachineKey({ id, name }: Pick<ManagedMachine, "id" | "name">): string {
  return `${id} ${name}`;
}

interface Known {
  /** Absent: no client has access. */
  readonly username?: string;
  /** Of user and password. Absent: no client has access. */
  readonly digest?: Buffer;
  readonly readMs: number;
}

/** What a {@linkcode SecretCache} needs. */
interface SecretCacheOptions {
  readonly client: Pick<KubeClient, "read">;
  readonly clock: Clock;
}

/** How long a password that was changed may still be accepted. */
const GOOD_MS = 300_000;
/** A client that names no machine makes Landfall read a Secret not more often than this. */
const MISS_MS = 2_000;
/** So many Secrets may be read because of passwords that are wrong, of all clients together. */
const MISSES = { max: 300, perSecond: 20 } as const;
const READS_AT_ONCE = 8;
const EXPECTED_MAX = 10_000;

/** Reads the Secrets. It keeps hashes of passwords, not the passwords. */
export class SecretCache {
  readonly #client: SecretCacheOptions["client"];
  readonly #clock: Clock;
  readonly #misses: RateBudget;
  /** By the keys of machines, as what is expected. */
  readonly #entries = new Map<string, Known>();
  /** What the Secrets of machines will have, if it is not there yet. */
  readonly #expected = new Map<string, Buffer>();
  readonly #salt = randomBytes(32);

  constructor({ client, clock }: SecretCacheOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#misses = new RateBudget(clock, MISSES);
  }

  /** Says what Landfall is about to write in the Secret of a machine. */
  expect(machine: Pick<ManagedMachine, "id" | "name">, credentials: MachineCredentials): void {
    remember(this.#expected, toMachineKey(machine), this.#digest(credentials), EXPECTED_MAX);
  }

  /**
   * Finds the machines that have this user and password. Compares with all, each in the same time.
   *
   * A guess costs few requests: only Secrets are read again that could have become right.
   *
   * @param askedId The machine that a client asks for, if it names one: only that one is looked at
   * @throws {KubeError} if a Secret cannot be read
   */
  async findMachines(
    machines: readonly ManagedMachine[],
    credentials: MachineCredentials,
    signal: AbortSignal,
    askedId?: string,
  ): Promise<readonly ManagedMachine[]> {
    this.#forgetOthers(machines);
    const digest = this.#digest(credentials);
    const asked = machines.filter(({ id }) => askedId === undefined || id === askedId);
    // Landfall itself changes them, so that no client with the new password is ever refused.
    const isNew = (one: ManagedMachine): boolean =>
      isSame(this.#expected.get(toMachineKey(one)), digest);
    const unread = asked.filter(
      (one) => !this.#entries.has(toMachineKey(one)) || (isNew(one) && !this.#has(one, digest)),
    );
    await this.#readAll(unread, signal);
    const found = asked.filter((one) => this.#has(one, digest));
    const again =
      found.length > 0
        ? found.filter((one) => this.#isOlder(one, GOOD_MS))
        : this.#pickMissed(asked, credentials, askedId);
    await this.#readAll(again, signal);
    return asked.filter((one) => this.#has(one, digest));
  }

  /** The machines whose Secrets another program may have changed to what a client gives. */
  #pickMissed(
    machines: readonly ManagedMachine[],
    { username }: MachineCredentials,
    askedId: string | undefined,
  ): readonly ManagedMachine[] {
    const own = toCredentialsName(username);
    const missed = machines.filter((one) => {
      if (one.id === askedId) return true;
      const { username: known = username } = this.#entries.get(toMachineKey(one)) ?? {};
      return (one.secretName === own || known === username) && this.#isOlder(one, MISS_MS);
    });
    return missed.filter(() => {
      const { hasRoom } = this.#misses;
      if (hasRoom) this.#misses.spend();
      return hasRoom;
    });
  }

  async #readAll(machines: readonly ManagedMachine[], signal: AbortSignal): Promise<void> {
    await forEachAtOnce(machines, { atOnce: READS_AT_ONCE, signal }, async (machine, both) => {
      const { namespace, secretName: name } = machine;
      const secret = await readIfPresent(this.#client, SECRETS, { namespace, name }, both);
      const found = findCredentials(secret);
      const known = found && { username: found.username, digest: this.#digest(found) };
      this.#entries.set(toMachineKey(machine), { readMs: this.#clock.monotonic(), ...known });
    });
  }

  #isOlder(machine: ManagedMachine, ageMs: number): boolean {
    return (
      (this.#entries.get(toMachineKey(machine))?.readMs ?? -Infinity) <=
      this.#clock.monotonic() - ageMs
    );
  }

  #has(machine: ManagedMachine, digest: Buffer): boolean {
    return isSame(this.#entries.get(toMachineKey(machine))?.digest, digest);
  }

  #forgetOthers(machines: readonly ManagedMachine[]): void {
    const keys = new Set(machines.map(toMachineKey));
    for (const key of this.#entries.keys()) if (!keys.has(key)) this.#entries.delete(key);
  }

  /** Without blanks around them: metal3 sends them so. */
  #digest(credentials: MachineCredentials): Buffer {
    const { username, password } = trimCredentials(credentials);
    return createHmac("sha256", this.#salt)
      .update(JSON.stringify([username, password]))
      .digest();
  }
}

function isSame(own: Buffer | undefined, digest: Buffer): boolean {
  return own !== undefined && timingSafeEqual(own, digest);
}
