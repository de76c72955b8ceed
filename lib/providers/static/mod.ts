/**
 * The static provider: machines from an inventory file. Copy it to write another provider.
 * @module
 */
import { Buffer } from "node:buffer";
import { CloudError } from "../../cloud/errors.ts";
import { type Inspection, inspectPlainly } from "../../cloud/inspection.ts";
import type { Instance, InstanceAddress, NodeIdentity } from "../../cloud/instance.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import { type Presence, type Provider, toUnanswered, toUnknown } from "../../cloud/provider.ts";
import type {
  ConfigFile,
  ConfigParser,
  ProviderDefinition,
  ProviderDeps,
} from "../../cloud/provider_definition.ts";
import { abortable } from "../../core/clock.ts";
import { ConfigError, describeError } from "../../core/errors.ts";
import { parseIp } from "../../core/net/ip.ts";
import { describeFileProblem } from "../../core/small_file.ts";
import { quote } from "../../core/text/printable.ts";
import {
  isInstanceId,
  parseConfig,
  SETTINGS,
  type StaticEntry,
  type StaticFile,
} from "./settings.ts";

/** The static provider, for the registry. */
export const staticProvider: ProviderDefinition<StaticFile, StaticHandover> = {
  name: "static",
  docs: {
    title: "inventory file",
    topology: { instanceType: "`type`", zone: "`zone`", region: "`region`" },
    providerId: {
      form: "static://<id>",
      meaning: "The instance of an inventory file; `scheme` changes the first word.",
    },
    example: { instances: [] },
  },
  settings: SETTINGS,
  parseConfig,
  compare: () => "sameUser",
  create(file, deps, before) {
    const { scheme } = before?.from ?? file;
    if (scheme !== file.scheme) {
      const why = `existing provider IDs begin with "${scheme}"`;
      const message = `cannot change to "${file.scheme}" while Landfall runs: ${why}`;
      throw new ConfigError([{ path: "scheme", message }]);
    }
    return new StaticProvider({ file, deps, parser: { settings: SETTINGS, parseConfig } });
  },
};

/** The dependencies of {@linkcode StaticProvider}. */
interface StaticProviderOptions {
  /** The file as read at the start. */
  readonly file: StaticFile;
  readonly deps: Pick<ProviderDeps, "clock" | "log" | "configFile">;
  /** Checks the file after every change. */
  readonly parser: ConfigParser<StaticFile>;
}

/** What the next provider gets. */
interface StaticHandover {
  /** It must not change, because provider IDs in the cluster contain it. */
  readonly scheme: string;
}

/** The only part of this cloud: the file. */
const PART = "file";
/** Words for the operator who writes the file. */
const WORDS = {
  instances: "instances",
  part: PART,
  noneAdvice:
    "list the machines of the cluster in the file, under instances; those with state: deleted do not count",
  incompleteAdvice: "correct the file",
} as const;

/**
 * An inventory file as a cloud.
 *
 * Guarantees: an instance is absent only if Landfall just read the whole file and the file is valid. If the file is
 * invalid or missing, the cloud cannot answer, and the last good inventory stays in use.
 */
class StaticProvider implements Provider {
  readonly name = "static";
  // The inventory file must list all addresses. A missing one is an error to report.
  readonly providedNodeIps = "verified";
  readonly handover: StaticHandover;
  readonly #options: StaticProviderOptions;
  readonly #scheme: string;
  #file: StaticFile;
  /** The content of the file at the last read. */
  #content: Uint8Array | undefined;
  #inventory: Inventory["instances"];
  /** Computed from an inventory on demand. */
  #labelKeys: { of: Inventory["instances"]; keys: ReadonlySet<string> } | undefined;

  constructor(options: StaticProviderOptions) {
    this.#options = options;
    this.#scheme = options.file.scheme;
    this.handover = { scheme: this.#scheme };
    this.#file = options.file;
    this.#inventory = toInstances(options.file);
  }

  /** The keys of all labels in the file. */
  get labelKeys(): ReadonlySet<string> {
    if (this.#labelKeys?.of !== this.#inventory) {
      const all = [...this.#inventory.values()].flatMap(({ labels }) => Object.keys(labels));
      this.#labelKeys = { of: this.#inventory, keys: new Set(all) };
    }
    return this.#labelKeys.keys;
  }

  get refreshIntervalMs(): number {
    return this.#file.refreshInterval;
  }

  async listInventory(_interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory> {
    signal.throwIfAborted();
    const observedAtMs = this.#options.deps.clock.monotonic();
    await abortable(this.#refresh(), signal);
    const name = this.#options.deps.configFile?.path ?? "inventory";
    return Object.freeze({
      observedAtMs,
      instances: this.#inventory,
      coverage: new Map([[PART, { complete: true, name }]]),
      undecodable: new Map(),
    });
  }

  inspect(signal: AbortSignal): Promise<Inspection> {
    const endpoint = this.#options.deps.configFile?.path ?? "inventory";
    const listInventory = (both: AbortSignal): Promise<Inventory> => this.listInventory([], both);
    const code = "unreadable";
    return inspectPlainly({ endpoint, listInventory, words: WORDS, code }, signal);
  }

  findInstance(inventory: Inventory, node: NodeIdentity): Presence {
    return this.#find(inventory.instances, node);
  }

  async readInstance(_: Inventory, node: NodeIdentity, signal: AbortSignal): Promise<Presence> {
    signal.throwIfAborted();
    try {
      await abortable(this.#refresh(), signal);
    } catch (error) {
      signal.throwIfAborted();
      return toUnanswered(error);
    }
    const found = this.#find(this.#inventory, node);
    if (found.kind !== "unknown" || found.reason !== "notListed") return found;
    const parsed = node.providerId && parseProviderId(this.#scheme, node.providerId);
    if (!parsed || parsed.kind !== "ours") return toUnknown("notFound", found.message);
    return { kind: "absent", evidence: this.#toEvidence(parsed.id) };
  }

  toInstanceId(providerId: string): string | undefined {
    const parsed = parseProviderId(this.#scheme, providerId);
    return parsed.kind === "ours" ? parsed.id : undefined;
  }

  #find(instances: ReadonlyMap<string, Instance>, node: NodeIdentity): Presence {
    const isDeleted = (id: string): boolean => this.#isDeleted(id);
    return findInstance({ scheme: this.#scheme, instances, isDeleted }, node);
  }

  /** Whether the file lists it with `state: deleted`. */
  #isDeleted(id: string): boolean {
    return this.#file.instances.some((entry) => entry.id === id && entry.state === "deleted");
  }

  #toEvidence(id: string): string {
    const where = this.#options.deps.configFile?.path ?? "the inventory";
    return this.#isDeleted(id)
      ? `${where} lists "${id}" with state: deleted`
      : `${where} was read in full and does not list "${id}"`;
  }

  /** Reads the file, and uses it if its content changed. */
  async #refresh(): Promise<void> {
    const { deps, parser } = this.#options;
    const { configFile, log } = deps;
    if (configFile === undefined) return;
    // Only the content shows a change: a copy may keep time and size.
    const content = await read(configFile);
    if (this.#content && Buffer.compare(content, this.#content) === 0) return;
    const file = await parse(configFile, { content, parser });
    if (file.scheme !== this.#scheme) {
      const change = `scheme changed from "${this.#scheme}" to "${file.scheme}"`;
      const message = `Cannot use the inventory file: ${change}, which needs a restart`;
      throw new CloudError("protocol", message);
    }
    if (this.#content !== undefined) {
      log.info("Inventory file changed", {
        path: configFile.path,
        instances: file.instances.length,
      });
    }
    this.#content = content;
    this.#file = file;
    this.#inventory = toInstances(file);
  }
}

async function read(configFile: ConfigFile): Promise<Uint8Array> {
  try {
    return await configFile.read();
  } catch (error) {
    const problem = describeFileProblem(error);
    const message = `Cannot read the inventory file "${configFile.path}": ${problem}`;
    throw new CloudError("unreachable", message);
  }
}

async function parse(
  configFile: ConfigFile,
  { content, parser }: { content: Uint8Array; parser: ConfigParser<StaticFile> },
): Promise<StaticFile> {
  try {
    return await configFile.parse(content, parser);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const message = `Cannot read the inventory file (the last good one stays in use): ${describeError(error)}`;
    throw new CloudError("protocol", message, { cause: error });
  }
}

/** Returns the instances of a file by ID, frozen. An instance with the state `deleted` does not exist. */
export function toInstances(file: StaticFile): ReadonlyMap<string, Instance> {
  const existing = file.instances.filter(({ state }) => state !== "deleted");
  return new Map(existing.map((entry) => [entry.id, toInstance(entry, file)]));
}

function toInstance(entry: StaticEntry, file: StaticFile): Instance {
  const region = entry.region ?? file.region;
  const zone = entry.zone ?? file.zone;
  return Object.freeze({
    id: entry.id,
    providerId: formatProviderId(file.scheme, entry.id),
    name: entry.name,
    state: entry.state === "stopped" ? ("stopped" as const) : ("running" as const),
    ...(entry.systemUUID === undefined ? {} : { systemUuid: entry.systemUUID }),
    ...(region === undefined ? {} : { region }),
    ...(zone === undefined ? {} : { zone }),
    ...(entry.type === undefined ? {} : { instanceType: entry.type }),
    addresses: Object.freeze(toAddresses(entry)),
    labels: Object.freeze({ ...entry.labels }),
    details: Object.freeze({ state: entry.state }),
  });
}

/** Lists the addresses in the order of the file, each once, IP addresses in canonical form. */
function toAddresses({ addresses }: StaticEntry): InstanceAddress[] {
  const byText = new Map<string, InstanceAddress>();
  for (const { type, address } of addresses) {
    const text = type.endsWith("IP") ? (parseIp(address)?.text ?? address) : address;
    const key = `${type} ${text}`;
    if (!byText.has(key)) byText.set(key, Object.freeze({ type, address: text }));
  }
  return [...byText.values()];
}

/**
 * Finds a Node's instance among those that exist. Never returns `absent`.
 *
 * If a Node has a provider ID, only that ID counts: it never changes, and a machine with the same name is another
 * machine.
 *
 * @param inventory.scheme The text before `://` in provider IDs
 */
function findInstance(
  {
    scheme,
    instances,
    isDeleted,
  }: {
    readonly scheme: string;
    readonly instances: ReadonlyMap<string, Instance>;
    isDeleted(id: string): boolean;
  },
  node: NodeIdentity,
): Presence {
  const { providerId } = node;
  if (providerId === undefined) return findByMachine(instances, node);
  const parsed = parseProviderId(scheme, providerId);
  if (parsed.kind === "foreign") return { kind: "foreign", providerId };
  if (parsed.kind === "malformed") return toUnknown("malformedProviderId", parsed.message);
  const instance = instances.get(parsed.id);
  if (instance !== undefined) return { kind: "present", instance, matchedBy: "providerId" };
  const why = isDeleted(parsed.id) ? "lists it with state: deleted" : "does not list it";
  return toUnknown("notListed", `Cannot find instance "${parsed.id}": the inventory file ${why}`);
}

function findByMachine(instances: ReadonlyMap<string, Instance>, node: NodeIdentity): Presence {
  const { name } = node;
  const systemUuid = node.systemUuid?.trim().toLowerCase();
  if (name === "" && !systemUuid) {
    return toUnknown(
      "noIdentity",
      "Cannot look up the Node: it has neither a system UUID nor a name",
    );
  }
  const all = [...instances.values()];
  const byUuid = systemUuid && all.find((instance) => instance.systemUuid === systemUuid);
  if (byUuid) return { kind: "present", instance: byUuid, matchedBy: "systemUuid" };
  const named = all.filter((instance) => instance.name === name);
  const [instance] = named;
  if (instance === undefined) {
    const tried = systemUuid
      ? `the name "${name}" or the system UUID ${quote(systemUuid)}`
      : `the name "${name}"`;
    const advice = "Add the machine to the file, or correct it there";
    return toUnknown(
      "notListed",
      `Cannot find an instance: the inventory file lists none with ${tried}. ${advice}`,
    );
  }
  if (named.length > 1) {
    const ids = named.map(({ id }) => id).join(", ");
    const hint = "add systemUUID to each in the inventory file";
    return toUnknown(
      "ambiguous",
      `Cannot choose between ${ids}: all are called "${name}"; ${hint}`,
    );
  }
  // A name alone proves little. A different UUID proves that this is another machine.
  if (systemUuid && instance.systemUuid !== undefined) {
    const uuids = `the inventory file has ${instance.systemUuid}, the Node has ${quote(systemUuid)}`;
    return toUnknown(
      "ambiguous",
      `Cannot match "${name}" by name: its system UUID differs: ${uuids}`,
    );
  }
  return { kind: "present", instance, matchedBy: "name" };
}

/** The content of a provider ID. */
type ParsedProviderId =
  | { readonly kind: "ours"; readonly id: string }
  /** Has our scheme but is malformed. `message` says why. */
  | { readonly kind: "malformed"; readonly message: string }
  | { readonly kind: "foreign" };

/** Formats a provider ID: `<scheme>://<id>`. MUST NOT CHANGE: clusters keep it for ever. */
export function formatProviderId(scheme: string, id: string): string {
  return `${scheme}://${id}`;
}

/**
 * Reads a provider ID. Also reads the doubled form `<scheme>://<scheme>://<id>` of old cloud providers, but Landfall
 * never writes it.
 */
export function parseProviderId(scheme: string, text: string): ParsedProviderId {
  if (text !== scheme && !text.startsWith(`${scheme}:`)) return { kind: "foreign" };
  const prefix = `${scheme}://`;
  const once = text.startsWith(prefix) ? text.slice(prefix.length) : "";
  const id = once.startsWith(prefix) ? once.slice(prefix.length) : once;
  if (isInstanceId(id)) return { kind: "ours", id };
  const message =
    `Cannot read provider ID ${quote(text)}: it must have the form ${prefix}<id>. ` +
    "A provider ID cannot be changed: delete the Node and let the kubelet register it again";
  return { kind: "malformed", message };
}
