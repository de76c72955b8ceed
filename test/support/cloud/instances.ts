/**
 * Instances, inventories and a scripted provider for tests.
 * @module
 */
import type { Instance, NodeIdentity } from "../../../lib/cloud/instance.ts";
import type {
  ChangeHint,
  Changes,
  Presence,
  Provider,
  ReadOptions,
} from "../../../lib/cloud/provider.ts";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";

/** A running instance `<id>` with the provider ID `test://<id>`. */
export function toInstance(id: string, over: Partial<Instance> = {}): Instance {
  return {
    id,
    providerId: `test://${id}`,
    name: id,
    state: "running",
    addresses: [],
    labels: {},
    details: {},
    ...over,
  };
}

/** A complete inventory of these instances. */
export function toInventory(instances: readonly Instance[], observedAtMs = 0): Inventory {
  return {
    observedAtMs,
    instances: new Map(instances.map((instance) => [instance.id, instance])),
    coverage: new Map([["cloud", { complete: true }]]),
    undecodable: new Map(),
  };
}

/** A cloud whose answers a test sets: instances by ID, a failure, and what direct reads say. */
export class FakeProvider implements Provider {
  readonly name: string = "test";
  providedNodeIps: "trusted" | "verified" = "verified";
  refreshIntervalMs = 30_000;
  readonly instances: Map<string, Instance> = new Map();
  /** When set, every list and read fails with it. */
  failure: Error | undefined;
  /** Awaited before every list. */
  gate: Promise<void> = Promise.resolve();
  lists = 0;
  reads = 0;
  interest: readonly NodeIdentity[] = [];
  clock: () => number = () => 0;
  /** Answer of a direct read for an instance that is not in `instances`. */
  missing: (node: NodeIdentity, options?: ReadOptions) => Presence = (node) =>
    node.providerId === undefined
      ? { kind: "unknown", reason: "notFound", message: "no such instance" }
      : { kind: "absent", evidence: "scripted" };

  async listInventory(interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory> {
    this.lists += 1;
    this.interest = interest;
    const observedAtMs = this.clock();
    await this.gate;
    signal.throwIfAborted();
    if (this.failure) throw this.failure;
    return toInventory([...this.instances.values()], observedAtMs);
  }

  findInstance(inventory: Inventory, node: NodeIdentity): Presence {
    if (node.providerId !== undefined && !node.providerId.startsWith("test://")) {
      return { kind: "foreign", providerId: node.providerId };
    }
    const id = node.providerId?.slice("test://".length) ?? node.name;
    const instance = inventory.instances.get(id);
    if (instance === undefined) {
      return { kind: "unknown", reason: "notListed", message: "not in the inventory" };
    }
    return { kind: "present", instance, matchedBy: node.providerId ? "providerId" : "name" };
  }

  async readInstance(
    _inventory: Inventory,
    node: NodeIdentity,
    signal: AbortSignal,
    options?: ReadOptions,
  ): Promise<Presence> {
    this.reads += 1;
    signal.throwIfAborted();
    if (this.failure)
      return { kind: "unknown", reason: "unreachable", message: this.failure.message };
    const found = this.findInstance(toInventory([...this.instances.values()]), node);
    return found.kind === "unknown" ? this.missing(node, options) : found;
  }
}

/** The same cloud, which hints at changes when a test does, and lets a few instances be read by themselves. */
export class HintingProvider extends FakeProvider implements Changes {
  readonly changes: Changes = this;
  /** Hints; does nothing before somebody follows. */
  hint: (hint: ChangeHint) => void = () => {};
  /** IDs of each read, in order. */
  readonly fewReads: string[][] = [];
  /** When set, reads of a few fail with it. */
  fewFailure: Error | undefined;

  watchChanges(onHint: (hint: ChangeHint) => void, signal: AbortSignal): Promise<void> {
    this.hint = onHint;
    // The first refresh need not wait.
    onHint(new Set());
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
  }

  async readInstances(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, Instance>> {
    this.fewReads.push([...ids]);
    await this.gate;
    if (this.fewFailure) throw this.fewFailure;
    return new Map([...this.instances].filter(([id]) => ids.has(id)));
  }
}
