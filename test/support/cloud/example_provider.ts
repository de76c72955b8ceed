/**
 * The smallest provider that keeps the contract: a cloud in memory that knows its machines by name alone.
 * @module
 */
import type { CloudError } from "../../../lib/cloud/errors.ts";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { Instance, NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Presence, Provider } from "../../../lib/cloud/provider.ts";
import type { ProviderDefinition, ProviderEntry } from "../../../lib/cloud/provider_definition.ts";

/** Settings of the example: the names of the machines that there are at the start. */
interface ExampleSettings {
  readonly machines: readonly string[];
}

const SCHEME = "example://";
const RACK_LABEL = "example.com/rack";

/** A cloud that a test changes under the controllers' feet. */
export class ExampleProvider implements Provider {
  readonly name = "example";
  readonly providedNodeIps = "trusted";
  readonly labelKeys: ReadonlySet<string> = new Set([RACK_LABEL]);
  readonly refreshIntervalMs = 1_000;
  /** Names of the machines that there are. */
  readonly names: Set<string>;
  /** When set, every question fails with it. */
  failure: CloudError | undefined;
  readonly #now: () => number;

  constructor({ machines }: ExampleSettings, now: () => number) {
    this.names = new Set(machines);
    this.#now = now;
  }

  async listInventory(_: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory> {
    signal.throwIfAborted();
    if (this.failure) throw this.failure;
    return {
      observedAtMs: this.#now(),
      instances: new Map([...this.names].map((name) => [name, toInstance(name)])),
      coverage: new Map([["example", { complete: true }]]),
      undecodable: new Map(),
    };
  }

  findInstance({ instances }: Inventory, { name, providerId }: NodeIdentity): Presence {
    if (providerId !== undefined && !providerId.startsWith("example:")) {
      return { kind: "foreign", providerId };
    }
    const id = providerId === undefined ? name : this.toInstanceId(providerId);
    if (id === undefined) {
      const message = "it must have the form example://<name>";
      return { kind: "unknown", reason: "malformedProviderId", message };
    }
    if (id === "") return { kind: "unknown", reason: "noIdentity", message: "no name is known" };
    const instance = instances.get(id);
    const matchedBy = providerId === undefined ? "name" : "providerId";
    if (instance) return { kind: "present", instance, matchedBy };
    return { kind: "unknown", reason: "notListed", message: `there is no machine "${id}"` };
  }

  async readInstance(_: Inventory, node: NodeIdentity, signal: AbortSignal): Promise<Presence> {
    signal.throwIfAborted();
    if (this.failure) {
      return { kind: "unknown", reason: this.failure.kind, message: this.failure.message };
    }
    const found = this.findInstance(await this.listInventory([], signal), node);
    if (found.kind !== "unknown" || found.reason !== "notListed") return found;
    if (node.providerId === undefined) return { ...found, reason: "notFound" };
    return { kind: "absent", evidence: found.message };
  }

  toInstanceId(providerId: string): string | undefined {
    const name = providerId.startsWith(SCHEME) ? providerId.slice(SCHEME.length) : "";
    return /^[a-z0-9-]+$/.test(name) ? name : undefined;
  }
}

function toInstance(name: string): Instance {
  const address = Object.freeze({ type: "Hostname" as const, address: `${name}.example` });
  return Object.freeze({
    id: name,
    providerId: SCHEME + name,
    name,
    state: "running" as const,
    addresses: Object.freeze([address]),
    labels: Object.freeze({ [RACK_LABEL]: "r1" }),
    details: Object.freeze({}),
  });
}

/** How the example is chosen and made: its file is `machines: [one, two]`. */
export const exampleProvider: ProviderDefinition<ExampleSettings> = {
  name: "example",
  docs: {
    title: "example cloud",
    topology: { instanceType: "none", zone: "none", region: "none" },
    labels: { [RACK_LABEL]: "The rack of the machine." },
    providerId: { form: "example://<name>", meaning: "The machine of that name." },
    example: { machines: [] },
  },
  settings: [
    { path: "machines", form: "array", type: "list of names", description: "The machines." },
  ],
  parseConfig(raw) {
    const machines: unknown = typeof raw === "object" && raw && "machines" in raw && raw.machines;
    if (!Array.isArray(machines)) {
      return { issues: [{ path: "machines", message: "must be a list" }], warnings: [] };
    }
    return { settings: { machines: machines.map(String) }, issues: [], warnings: [] };
  },
  create: (settings, { clock }) => new ExampleProvider(settings, () => clock.monotonic()),
};

/** The line for a registry: `[...PROVIDERS, EXAMPLE]`. */
export const EXAMPLE: ProviderEntry = { name: "example", load: async () => exampleProvider };
