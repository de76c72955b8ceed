/**
 * Where boot overrides are written down: a Secret for each machine that ever had one. It is not the Secret with the
 * credentials: metal3 watches that one, and registers a host again after each write.
 * @module
 */
import { forEachAtOnce } from "../../../core/concurrency.ts";
import { shortenName } from "../../../core/text/label.ts";
import { type KubeClient, readIfPresent } from "../../../kube/api/client.ts";
import { isKubeError } from "../../../kube/api/errors.ts";
import { VINO_UID } from "../../../kube/kinds/bare_metal_host.ts";
import { type Secret, SECRETS } from "../../../kube/kinds/secret.ts";
import { MACHINE_ID, VINO_NAME } from "../hosts/words.ts";
import { VINOES } from "../resource/vino.ts";
import { type ManagedMachine, toMachineKey } from "./credentials.ts";
import { BOOT_OVERRIDE } from "./words.ts";
import { parseFields } from "../../../core/text/values.ts";
import type { BootDevice } from "../../../cloud/capabilities/machine_power.ts";

/** What is written down about a machine. */
export interface StoredOverride {
  /** Absent: there is no override. */
  readonly override?: OverrideRecord;
  /** Absent: the Secret does not exist. */
  readonly resourceVersion?: string;
}

/** Client of the API server, as an {@linkcode OverrideStore} uses it. */
export type OverrideClient = Pick<KubeClient, "read" | "create" | "patch">;

const READS_AT_ONCE = 8;
/** The Secret was made, changed or removed since it was read. */
const OVERTAKEN = ["conflict", "alreadyExists", "notFound"] as const;

/** Reads and writes them, and remembers what it saw last. Only the process that leads may write. */
export class OverrideStore {
  readonly #client: OverrideClient;
  readonly #entries = new Map<string, StoredOverride>();

  constructor({ client }: { readonly client: OverrideClient }) {
    this.#client = client;
  }

  /** What is known of a machine from its last read. */
  find(machine: Pick<ManagedMachine, "id" | "name">): StoredOverride | undefined {
    return this.#entries.get(toMachineKey(machine));
  }

  /** Reads what was never read, and forgets machines that are gone. @throws {KubeError} */
  async learn(machines: readonly ManagedMachine[], signal: AbortSignal): Promise<void> {
    const keys = new Set(machines.map(toMachineKey));
    for (const key of this.#entries.keys()) if (!keys.has(key)) this.#entries.delete(key);
    const unknown = machines.filter((one) => !this.#entries.has(toMachineKey(one)));
    await forEachAtOnce(unknown, { atOnce: READS_AT_ONCE, signal }, async (machine, both) => {
      await this.read(machine, both);
    });
  }

  /** Reads what is written about a machine now. @throws {KubeError} */
  async read(machine: ManagedMachine, signal: AbortSignal): Promise<StoredOverride> {
    const { namespace, overrideName: name } = machine;
    return this.#note(
      machine,
      await readIfPresent(this.#client, SECRETS, { namespace, name }, signal),
    );
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
    entry: StoredOverride,
    override: OverrideRecord | undefined,
    signal: AbortSignal,
  ): Promise<StoredOverride> {
    try {
      return await this.#put(machine, entry, override, signal);
    } catch (error) {
      if (!OVERTAKEN.some((kind) => isKubeError(error, kind))) throw error;
      const newest = await this.read(machine, signal);
      if (toText(newest.override) !== toText(entry.override)) throw error;
      return await this.#put(machine, newest, override, signal);
    }
  }

  async #put(
    machine: ManagedMachine,
    { resourceVersion }: StoredOverride,
    override: OverrideRecord | undefined,
    signal: AbortSignal,
  ): Promise<StoredOverride> {
    const { id, namespace, overrideName: name } = machine;
    if (resourceVersion !== undefined) {
      const annotations = { [MACHINE_ID]: id, [BOOT_OVERRIDE]: toText(override) ?? null };
      const body = { metadata: { resourceVersion, annotations } };
      const patch = { type: "merge", body } as const;
      const written = await this.#client.patch(SECRETS, { namespace, name }, patch, signal);
      return this.#note(machine, written);
    }
    if (override === undefined) return this.#note(machine, undefined);
    const body = toSecret(machine, override);
    return this.#note(machine, await this.#client.create(SECRETS, { namespace }, body, signal));
  }

  #note(machine: ManagedMachine, secret: Secret | undefined): StoredOverride {
    const entry = secret === undefined ? {} : toStored(machine, secret);
    this.#entries.set(toMachineKey(machine), entry);
    return entry;
  }
}

/** A Secret of something else has no override for us; a record about the machine that was here before is none. */
function toStored({ id, vino }: ManagedMachine, { metadata }: Secret): StoredOverride {
  const { annotations = {}, labels = {}, resourceVersion } = metadata;
  if (labels[VINO_UID] !== vino.uid || resourceVersion === undefined) return {};
  const text = annotations[MACHINE_ID] === id ? annotations[BOOT_OVERRIDE] : undefined;
  const override = parseOverride(text ?? "");
  return override ? { resourceVersion, override } : { resourceVersion };
}

/** It belongs to the Vino, and not to its BareMetalHost: an order must be given back also after that is gone. */
function toSecret(
  { id, namespace, overrideName, vino }: ManagedMachine,
  override: OverrideRecord,
): object {
  const { apiVersion, kind } = VINOES;
  const metadata = {
    name: overrideName,
    namespace,
    labels: { [VINO_UID]: vino.uid, [VINO_NAME]: shortenName(vino.name) },
    annotations: { [MACHINE_ID]: id, [BOOT_OVERRIDE]: formatOverride(override) },
    ownerReferences: [{ apiVersion, kind, ...vino }],
  };
  return { apiVersion: SECRETS.apiVersion, kind: SECRETS.kind, metadata, type: "Opaque" };
}

function toText(override: OverrideRecord | undefined): string | undefined {
  return override && formatOverride(override);
}

/** An override that was asked for. */
export interface OverrideRecord {
  /** `never`: it is being undone. */
  readonly duration: "once" | "always" | "never";
  readonly device: BootDevice;
  /** The order before it, which comes back after it. */
  readonly before: readonly BootDevice[];
  /** How the machine was when it had its new order. Absent: it may not have it yet. */
  readonly since?: Since;
}

/** How a machine was. */
export interface Since {
  readonly isRunning: boolean;
  /** When it was started last, in milliseconds of the cloud's clock; absent: not known. */
  readonly startedAtMs?: number;
}

const DURATIONS = ["once", "always", "never"] as const;
const DEVICES = ["disk", "network", "cd"] as const;

/** Writes a record down. */
export function formatOverride(record: OverrideRecord): string {
  return JSON.stringify(record);
}

/** Reads a record. @returns `undefined` if it is not one of ours */
export function parseOverride(text: string): OverrideRecord | undefined {
  const { duration, device, before, since } = parseFields(text) ?? {};
  const known = DURATIONS.find((one) => one === duration);
  const target = DEVICES.find((one) => one === device);
  const order = Array.isArray(before)
    ? before.map((one) => DEVICES.find((own) => own === one))
    : [];
  if (known === undefined || target === undefined || order.length === 0) return undefined;
  if (!order.every((one) => one !== undefined)) return undefined;
  const record = { duration: known, device: target, before: order };
  const noted = since === undefined ? undefined : parseSince(since);
  return noted ? { ...record, since: noted } : record;
}

/** The order while the override holds: its device first, the others behind it in their order. */
export function toOverrideOrder({
  device,
  before,
}: Pick<OverrideRecord, "device" | "before">): readonly BootDevice[] {
  return [device, ...before.filter((one) => one !== device)];
}

/** Whether two orders are the same. */
export function isSameOrder(one: readonly BootDevice[], other: readonly BootDevice[]): boolean {
  return one.length === other.length && one.every((device, at) => device === other[at]);
}

function parseSince(value: unknown): Since | undefined {
  if (typeof value !== "object" || value === null || !("isRunning" in value)) return undefined;
  const { isRunning } = value;
  if (typeof isRunning !== "boolean") return undefined;
  const startedAtMs = "startedAtMs" in value ? value.startedAtMs : undefined;
  return typeof startedAtMs === "number" ? { isRunning, startedAtMs } : { isRunning };
}
