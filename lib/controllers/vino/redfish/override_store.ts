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
import { formatOverride, type OverrideRecord, parseOverride } from "./override_record.ts";
import { type ManagedMachine, toMachineKey } from "./secret_cache.ts";
import { BOOT_OVERRIDE } from "./words.ts";

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
