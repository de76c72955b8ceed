/**
 * The Secrets of the management controllers of machines: which user and password each accepts, and its boot override.
 * Secrets are read one by one, never listed.
 * @module
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../../core/clock.ts";
import { forEachAtOnce } from "../../../core/for_each_at_once.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import { isKubeError } from "../../../kube/api/errors.ts";
import { readIfPresent } from "../../../kube/api/read_if_present.ts";
import { type Secret, SECRETS } from "../../../kube/kinds/secret.ts";
import type { MachineCredentials } from "../../../cloud/capabilities/machine_management.ts";
import { findCredentials } from "./host_credentials.ts";
import { formatOverride, type OverrideRecord, parseOverride } from "./override_record.ts";
import { BOOT_OVERRIDE } from "./words.ts";

/** A machine that has a management controller. */
export interface ManagedMachine {
  /** The cloud's ID. */
  readonly id: string;
  /** Its name in the cloud. */
  readonly name: string;
  readonly namespace: string;
  /** Name of the Secret with the keys `username` and `password`. */
  readonly secretName: string;
}

/** What a Secret says. */
export interface CachedSecret {
  /** Absent: there is no override. */
  readonly override?: OverrideRecord;
  /** Absent: the Secret does not exist. */
  readonly resourceVersion?: string;
}

interface Known extends CachedSecret {
  /** Of user and password. Absent: no client has access. */
  readonly digest?: Buffer;
  readonly readMs: number;
}

/** What a {@linkcode SecretCache} needs. */
export interface SecretCacheOptions {
  readonly client: Pick<KubeClient, "read" | "patch">;
  readonly clock: Clock;
}

/** How long a password that was changed may still be accepted. */
const GOOD_MS = 300_000;
/** A Secret is not read more often than this because of passwords that are wrong. */
const MISS_MS = 30_000;
const READS_AT_ONCE = 8;

/** Reads and writes the Secrets. It keeps hashes of passwords, not the passwords. */
export class SecretCache {
  readonly #client: SecretCacheOptions["client"];
  readonly #clock: Clock;
  readonly #entries = new Map<string, Known>();
  readonly #salt = randomBytes(32);

  constructor({ client, clock }: SecretCacheOptions) {
    this.#client = client;
    this.#clock = clock;
  }

  /** What is known of a machine from its last read. */
  find({ id }: Pick<ManagedMachine, "id">): CachedSecret | undefined {
    return this.#entries.get(id);
  }

  /** Reads the Secrets that were never read, and forgets machines that are gone. @throws {KubeError} */
  async learn(machines: readonly ManagedMachine[], signal: AbortSignal): Promise<void> {
    const ids = new Set(machines.map(({ id }) => id));
    for (const id of this.#entries.keys()) if (!ids.has(id)) this.#entries.delete(id);
    await this.#readOlder(machines, Infinity, signal);
  }

  /**
   * Finds the machines that have this user and password. Compares with all, each in the same time.
   *
   * @throws {KubeError} if a Secret cannot be read
   */
  async findMachines(
    machines: readonly ManagedMachine[],
    credentials: MachineCredentials,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const digest = this.#digest(credentials);
    await this.#readOlder(machines, Infinity, signal);
    const found = machines.filter((one) => this.#has(one, digest));
    // Those are asked again now and then; the others only because a password may be new.
    if (found.length > 0) await this.#readOlder(found, GOOD_MS, signal);
    else await this.#readOlder(machines, MISS_MS, signal);
    return machines.filter((one) => this.#has(one, digest)).map(({ id }) => id);
  }

  /** Reads the Secret of a machine now. @throws {KubeError} */
  async read(
    { id, namespace, secretName }: ManagedMachine,
    signal: AbortSignal,
  ): Promise<CachedSecret> {
    const path = { namespace, name: secretName };
    const secret = await readIfPresent(this.#client, SECRETS, path, signal);
    return this.#note(id, secret);
  }

  /**
   * Replaces the boot override. It is durable when this resolves.
   *
   * @param entry As it was read: if the override is another one now, nothing is written
   * @param override `undefined` removes it
   * @throws {KubeError} if it was not written
   */
  async write(
    machine: ManagedMachine,
    entry: CachedSecret,
    override: OverrideRecord | undefined,
    signal: AbortSignal,
  ): Promise<CachedSecret> {
    try {
      return await this.#patch(machine, entry, override, signal);
    } catch (error) {
      if (!isKubeError(error, "conflict")) throw error;
      const newest = await this.read(machine, signal);
      if (toText(newest.override) !== toText(entry.override)) throw error;
      return await this.#patch(machine, newest, override, signal);
    }
  }

  async #patch(
    { id, namespace, secretName }: ManagedMachine,
    { resourceVersion }: CachedSecret,
    override: OverrideRecord | undefined,
    signal: AbortSignal,
  ): Promise<CachedSecret> {
    const annotations = { [BOOT_OVERRIDE]: toText(override) ?? null };
    const body = { metadata: { resourceVersion, annotations } };
    const path = { namespace, name: secretName };
    return this.#note(id, await this.#client.patch(SECRETS, path, { type: "merge", body }, signal));
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
      await this.read(machine, both);
    });
  }

  #has({ id }: ManagedMachine, digest: Buffer): boolean {
    const own = this.#entries.get(id)?.digest;
    return own !== undefined && timingSafeEqual(own, digest);
  }

  #note(id: string, secret: Secret | undefined): CachedSecret {
    const { annotations = {}, resourceVersion } = secret?.metadata ?? {};
    const override = parseOverride(annotations[BOOT_OVERRIDE] ?? "");
    const credentials = findCredentials(secret);
    const digest = credentials && this.#digest(credentials);
    const known: Known = {
      readMs: this.#clock.monotonic(),
      ...(override && { override }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(digest && { digest }),
    };
    this.#entries.set(id, known);
    return known;
  }

  #digest({ username, password }: MachineCredentials): Buffer {
    return createHmac("sha256", this.#salt)
      .update(JSON.stringify([username, password]))
      .digest();
  }
}

function toText(override: OverrideRecord | undefined): string | undefined {
  return override && formatOverride(override);
}
