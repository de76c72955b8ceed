/**
 * Nodes and their machines, and what must be so of them whatever goes wrong: read from the API server alone.
 * @module
 */
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { ClusterRig, NOT_READY, UNINITIALIZED, waitUntil } from "../process/cluster_rig.ts";
import { listNodeWrites } from "../kube/election/lease_history.ts";
import { afterAll, afterEach, beforeAll } from "bun:test";
import { killAll, type LandfallProcess, type Program } from "../process/landfall_process.ts";
import {
  placeLandfall,
  type PlacedLandfall,
  type PlaceOptions,
} from "../process/placed_landfall.ts";

/** What somebody else put on a Node. */
const FOREIGN_TAINT = { key: "example.com/reserved", value: "yes", effect: "NoSchedule" } as const;
const FOREIGN_LABEL = "example.com/owner";
const REST_MS = 2_500;

interface Member {
  readonly uid: string;
  readonly vmId: string;
}

/** The Nodes that a test watches over, each with a machine of its name. */
export class WatchedFleet {
  readonly #rig: ClusterRig;
  readonly #members = new Map<string, Member>();
  /** Those whose machine is gone. */
  readonly #lost = new Set<string>();

  constructor(rig: ClusterRig) {
    this.#rig = rig;
  }

  /** Makes machines and registers their Nodes, with a label and a taint of others. */
  async add(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      const vmId = this.#rig.addVm(name);
      const taints = [UNINITIALIZED, FOREIGN_TAINT];
      const labels = { [FOREIGN_LABEL]: name };
      const node = await this.#rig.register(name, { taints, labels });
      this.#members.set(name, { uid: node.metadata.uid ?? "", vmId });
    }
  }

  /** Deletes the machine of a Node for good, and lets its kubelet fall silent. */
  async lose(name: string): Promise<void> {
    this.#rig.cloud.state.removeVm(this.#members.get(name)?.vmId ?? "");
    this.#lost.add(name);
    await this.#rig.setCondition(name, NOT_READY);
  }

  /**
   * Waits for 25 s at most until every Node is as it must be in the end. Resolves with the milliseconds that it took.
   *
   * @throws Error with all that is wrong
   */
  async settle(): Promise<number> {
    const startMs = performance.now();
    let problems: readonly string[] = [];
    await waitUntil(
      () => `a settled fleet:\n${problems.join("\n")}`,
      async () => {
        problems = [...(await this.findHarm()), ...(await this.#findUnfinished())];
        return problems.length === 0 ? true : undefined;
      },
    );
    return Math.round(performance.now() - startMs);
  }

  /** The same, and then sees for some refreshes that nobody writes any more. */
  async settleForGood(): Promise<number> {
    const ms = await this.settle();
    const { cluster } = this.#rig;
    const before = (await cluster.listRequests()).length;
    await Bun.sleep(REST_MS);
    const writes = listNodeWrites((await cluster.listRequests()).slice(before));
    if (writes.length > 0) throw new Error(`Nodes are written at rest: ${JSON.stringify(writes)}`);
    return ms;
  }

  /** What must never be, at any time: each in a sentence. */
  async findHarm(): Promise<string[]> {
    const { cluster } = this.#rig;
    const [nodes, deletions, requests] = await Promise.all([
      this.#list(),
      cluster.listNodeDeletions(),
      cluster.listRequests(),
    ]);
    const harm: string[] = [];
    for (const { node, username } of deletions) {
      if (!this.#lost.has(node)) harm.push(`${username} asked to delete ${node}, which is alive`);
    }
    for (const [name, { uid, vmId }] of this.#members) {
      const node = nodes.get(name);
      if (node === undefined) {
        if (!this.#lost.has(name)) harm.push(`${name} is gone, and its machine is not`);
        continue;
      }
      harm.push(...judgeForeign(node, { name, uid }));
      const wanted = `xenorchestra://${this.#rig.poolId}/${vmId}`;
      const { providerID = wanted } = node.spec ?? {};
      if (providerID !== wanted) harm.push(`${name} has the provider ID ${providerID}`);
    }
    const seen = new Set<string>();
    for (const { resource, name, body } of listNodeWrites(requests)) {
      const text = JSON.stringify([resource, name, body]).replace(/"resourceVersion":"\d+",?/, "");
      if (seen.has(text) && body !== undefined) harm.push(`written twice: ${text}`);
      seen.add(text);
    }
    return harm;
  }

  /** What is still to be done. */
  async #findUnfinished(): Promise<string[]> {
    const nodes = await this.#list();
    const { poolId, hostId } = this.#rig;
    return [...this.#members.keys()].flatMap((name): string[] => {
      const node = nodes.get(name);
      if (this.#lost.has(name)) return node === undefined ? [] : [`${name} is still there`];
      const { labels = {} } = node?.metadata ?? {};
      const taints = node?.spec?.taints?.map(({ key }) => key) ?? [];
      const isPlaced =
        labels["topology.kubernetes.io/region"] === poolId &&
        labels["topology.kubernetes.io/zone"] === hostId &&
        labels["node.kubernetes.io/instance-type"] !== undefined;
      const hasAddress = node?.status?.addresses?.some(({ type }) => type === "InternalIP");
      const isDone = isPlaced && hasAddress && node?.spec?.providerID !== undefined;
      const isUsable = taints.length === 1 && taints[0] === FOREIGN_TAINT.key;
      return isDone && isUsable ? [] : [`${name} is not initialised: ${JSON.stringify(node)}`];
    });
  }

  async #list(): Promise<ReadonlyMap<string, Node>> {
    const items = await this.#rig.cluster.list<Node>("/api/v1/nodes");
    return new Map(items.map((node) => [node.metadata.name, node]));
  }
}

function judgeForeign(
  node: Node,
  member: { readonly name: string; readonly uid: string },
): string[] {
  const { name, uid } = member;
  const { metadata, spec } = node;
  const harm: string[] = [];
  if (metadata.uid !== uid) harm.push(`${name} is another Node than it was`);
  if (metadata.labels?.[FOREIGN_LABEL] !== name) harm.push(`${name} lost a label of others`);
  if (!spec?.taints?.some(({ key }) => key === FOREIGN_TAINT.key)) {
    harm.push(`${name} lost a taint of others`);
  }
  return harm;
}

/** The cluster and its machines. */
interface FleetStage {
  readonly rig: ClusterRig;
  readonly fleet: WatchedFleet;
}

/** What the tests of a block have. */
interface PlacedFleet {
  /** @throws Error before the first test */
  use(): FleetStage;
  /** Starts a Landfall. After the test it is killed, and its Lease is free. */
  place(options: PlaceOptions): Promise<PlacedLandfall>;
}

const START_MS_MAX = 120_000;

/** Makes a cluster for the tests of a block, before the first until after the last. */
export function usePlacedFleet(program: Program): PlacedFleet {
  let stage: FleetStage | undefined;
  const running: LandfallProcess[] = [];
  const use = (): FleetStage => {
    if (stage === undefined) throw new Error("Cannot test: not up");
    return stage;
  };
  beforeAll(async () => {
    const rig = await ClusterRig.start();
    stage = { rig, fleet: new WatchedFleet(rig) };
    await stage.fleet.add("stays-1", "stays-2", "stays-3");
  }, START_MS_MAX);
  afterEach(async () => {
    await killAll(running.splice(0));
    await stage?.rig.deleteLease();
  });
  afterAll(() => stage?.rig.stop());
  return {
    use,
    place: async (options) => {
      const placed = await placeLandfall(use().rig, program, options);
      running.push(placed.landfall);
      return placed;
    },
  };
}
