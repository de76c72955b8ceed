/**
 * An inventory file as a cloud. Landfall reads the file again when it changes.
 * @module
 */
import { Buffer } from "node:buffer";
import { CloudError } from "../../cloud/errors.ts";
import { inspectPlainly, type Inspection } from "../../cloud/inspection.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import type { NodeIdentity } from "../../cloud/instance.ts";
import { type Presence, type Provider, toUnanswered, toUnknown } from "../../cloud/provider.ts";
import type { ConfigFile, ConfigParser, ProviderDeps } from "../../cloud/provider_definition.ts";
import { abortable } from "../../core/clock.ts";
import { ConfigError } from "../../core/errors.ts";
import { describeFileProblem } from "../../core/small_file.ts";
import type { StaticFile } from "./settings.ts";
import { findInstance, parseProviderId, toInstances } from "./inventory.ts";

/** The dependencies of {@linkcode StaticProvider}. */
interface StaticProviderOptions {
  /** The file as read at the start. */
  readonly file: StaticFile;
  readonly deps: Pick<ProviderDeps, "clock" | "log" | "configFile">;
  /** Checks the file after every change. */
  readonly parser: ConfigParser<StaticFile>;
}

/** What the next provider gets. */
export interface StaticHandover {
  /** It must not change, because provider IDs in the cluster contain it. */
  readonly scheme: string;
}

/** The only part of this cloud: the file. */
const PART = "file";
/** Words for the operator who writes the file. */
const WORDS = {
  instances: "instances",
  part: PART,
  noneAdvice: "list the machines of the cluster in the file, under instances",
  incompleteAdvice: "correct the file",
} as const;

/**
 * An inventory file as a cloud.
 *
 * Guarantees: an instance is absent only if Landfall just read the whole file and the file is valid. If the file is
 * invalid or missing, the cloud cannot answer, and the last good inventory stays in use.
 */
export class StaticProvider implements Provider {
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
    return findInstance(this.#scheme, inventory.instances, node);
  }

  async readInstance(_: Inventory, node: NodeIdentity, signal: AbortSignal): Promise<Presence> {
    signal.throwIfAborted();
    try {
      await abortable(this.#refresh(), signal);
    } catch (error) {
      signal.throwIfAborted();
      return toUnanswered(error);
    }
    const found = findInstance(this.#scheme, this.#inventory, node);
    if (found.kind !== "unknown" || found.reason !== "notListed") return found;
    const parsed = node.providerId && parseProviderId(this.#scheme, node.providerId);
    if (!parsed || parsed.kind !== "ours") return toUnknown("notFound", found.message);
    return { kind: "absent", evidence: this.#toEvidence(parsed.id) };
  }

  toInstanceId(providerId: string): string | undefined {
    const parsed = parseProviderId(this.#scheme, providerId);
    return parsed.kind === "ours" ? parsed.id : undefined;
  }

  #toEvidence(id: string): string {
    const where = this.#options.deps.configFile?.path ?? "the inventory";
    const deleted = this.#file.instances.some((entry) => entry.id === id);
    return deleted
      ? `${where} says that "${id}" is deleted`
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
    const count = error.issues.length === 1 ? "1 problem" : `${error.issues.length} problems`;
    const message =
      `Cannot use the changed inventory file; still using the last good one: ${count}:\n` +
      error.message;
    throw new CloudError("protocol", message, { cause: error });
  }
}
