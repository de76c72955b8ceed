/**
 * The Secrets of the management controllers of machines: which user and password each accepts. Secrets are read one by
 * one, never listed.
 * @module
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../../core/clock.ts";
import { forEachAtOnce } from "../../../core/concurrency.ts";
import { type KubeClient, readIfPresent } from "../../../kube/api/client.ts";
import { SECRETS } from "../../../kube/kinds/secret.ts";
import type { MachineCredentials } from "../../../cloud/capabilities/machine_management.ts";
import { findCredentials } from "./host_credentials.ts";

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
}

interface Known {
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
/** A Secret is not read more often than this because of passwords that are wrong. */
const MISS_MS = 30_000;
const READS_AT_ONCE = 8;

/** Reads the Secrets. It keeps hashes of passwords, not the passwords. */
export class SecretCache {
  readonly #client: SecretCacheOptions["client"];
  readonly #clock: Clock;
  readonly #entries = new Map<string, Known>();
  readonly #salt = randomBytes(32);

  constructor({ client, clock }: SecretCacheOptions) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Finds the machines that have this user and password. Compares with all, each in the same time.
   *
   * @param askedId The machine that a client asks for, if it names one: its Secret is read again before it is left out
   * @throws {KubeError} if a Secret cannot be read
   */
  async findMachines(
    machines: readonly ManagedMachine[],
    credentials: MachineCredentials,
    signal: AbortSignal,
    askedId?: string,
  ): Promise<readonly string[]> {
    this.#forgetOthers(machines);
    const digest = this.#digest(credentials);
    await this.#readOlder(machines, Infinity, signal);
    const found = machines.filter((one) => this.#has(one, digest));
    // Those are asked again now and then; the others only because a password may be new.
    if (found.length > 0) await this.#readOlder(found, GOOD_MS, signal);
    else await this.#readOlder(machines, MISS_MS, signal);
    const asked = machines.find(({ id }) => id === askedId);
    if (asked && !this.#has(asked, digest)) await this.#read(asked, signal);
    return machines.filter((one) => this.#has(one, digest)).map(({ id }) => id);
  }

  async #read({ id, namespace, secretName }: ManagedMachine, signal: AbortSignal): Promise<void> {
    const path = { namespace, name: secretName };
    const credentials = findCredentials(await readIfPresent(this.#client, SECRETS, path, signal));
    const readMs = this.#clock.monotonic();
    this.#entries.set(id, { readMs, ...(credentials && { digest: this.#digest(credentials) }) });
  }

  async #readOlder(
    machines: readonly ManagedMachine[],
    ageMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const earliestMs = this.#clock.monotonic() - ageMs;
    const due = machines.filter(
      ({ id }) => (this.#entries.get(id)?.readMs ?? -Infinity) <= earliestMs,
    );
    await forEachAtOnce(due, { atOnce: READS_AT_ONCE, signal }, async (machine, both) => {
      await this.#read(machine, both);
    });
  }

  #has({ id }: ManagedMachine, digest: Buffer): boolean {
    const own = this.#entries.get(id)?.digest;
    return own !== undefined && timingSafeEqual(own, digest);
  }

  #forgetOthers(machines: readonly ManagedMachine[]): void {
    const ids = new Set(machines.map(({ id }) => id));
    for (const id of this.#entries.keys()) if (!ids.has(id)) this.#entries.delete(id);
  }

  #digest({ username, password }: MachineCredentials): Buffer {
    return createHmac("sha256", this.#salt)
      .update(JSON.stringify([username, password]))
      .digest();
  }
}
