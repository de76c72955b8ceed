/**
 * What Landfall would make of each Node: read, compared, never written.
 * @module
 */
import type { FindingLevel } from "../../cloud/inspection.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import type {
  InstanceState,
  MatchedBy,
  NodeIdentity,
  Presence,
  Provider,
  UnknownReason,
} from "../../cloud/provider.ts";
import { isReady, toIdentity } from "../../controllers/identity.ts";
import { Claims } from "../../controllers/node/rivals.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { type NodeChange, type NodeOutlook, toOutlook } from "./changes.ts";

/** What a Node matches, and what would become of it. */
export interface NodePlan {
  readonly name: string;
  /** `warning`: its machine is gone, or nothing can be said about it. */
  readonly level: FindingLevel;
  /** Whether its kubelet says that it is ready. */
  readonly ready: boolean;
  /** As it stands on the Node. */
  readonly providerId?: string;
  /** What the cloud says of its machine. */
  readonly presence: Presence["kind"];
  /** Why nothing can be said, when `presence` is `unknown`. */
  readonly reason?: UnknownReason;
  /** The same in words; or what proves that the machine is gone. */
  readonly message?: string;
  readonly matchedBy?: MatchedBy;
  /** The machine, when there is one. */
  readonly instance?: {
    readonly id: string;
    readonly name: string;
    readonly state: InstanceState;
    readonly providerId: string;
  };
  /** What Landfall would write; nothing when all is as it should be. */
  readonly changes: readonly NodeChange[];
  /** Why it could not write what it should. */
  readonly problems: readonly string[];
}

/** What Nodes are compared with. */
export interface NodePlanSources {
  readonly provider: Provider;
  /** Of all instances. */
  readonly inventory: Inventory;
}

/** Most Nodes that the cloud is asked about one by one. */
const READS_MAX = 50;

/**
 * Matches every Node, by name. Those that the inventory lacks are asked for directly, the first fifty of them; when
 * time is up the rest stays as the inventory has it.
 *
 * @param signal Ends the direct questions
 */
export async function listNodePlans(
  nodes: readonly Node[],
  sources: NodePlanSources,
  signal: AbortSignal,
): Promise<NodePlan[]> {
  const sorted = nodes.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  let reads = 0;
  const matched = await Promise.all(
    sorted.map(async (node) => {
      const identity = toIdentity(node);
      const found = sources.provider.findInstance(sources.inventory, identity);
      const isOpen = found.kind === "unknown" && found.reason === "notListed";
      if (isOpen) reads += 1;
      const mayRead = isOpen && reads <= READS_MAX;
      const presence = mayRead ? await readPresence(identity, sources, { found, signal }) : found;
      return { node, presence };
    }),
  );
  const presences = new Map(matched.map(({ node, presence }) => [node.metadata.name, presence]));
  const claims = Claims.of(nodes, sources.provider, (name) => presences.get(name));
  return matched.map(({ node, presence }) =>
    toPlan(node, presence, toOutlook(node, presence, { ...sources, claims })),
  );
}

async function readPresence(
  identity: NodeIdentity,
  { provider, inventory }: NodePlanSources,
  { found, signal }: { found: Presence; signal: AbortSignal },
): Promise<Presence> {
  try {
    return await provider.readInstance(inventory, identity, signal);
  } catch (error) {
    if (signal.aborted) return found;
    throw error;
  }
}

function toPlan(node: Node, presence: Presence, outlook: NodeOutlook): NodePlan {
  const providerId = node.spec?.providerID;
  const isKnown = presence.kind === "present" || presence.kind === "foreign";
  return {
    ...outlook,
    name: node.metadata.name,
    level: isKnown && outlook.problems.length === 0 ? "ok" : "warning",
    ready: isReady(node),
    ...(providerId ? { providerId } : {}),
    presence: presence.kind,
    ...toDetails(presence),
  };
}

function toDetails(
  presence: Presence,
): Pick<NodePlan, "reason" | "message" | "matchedBy" | "instance"> {
  switch (presence.kind) {
    case "present": {
      const { id, name, state, providerId } = presence.instance;
      return { matchedBy: presence.matchedBy, instance: { id, name, state, providerId } };
    }
    case "absent":
      return { message: presence.evidence };
    case "unknown":
      return { reason: presence.reason, message: presence.message };
    case "foreign":
      return {
        message: presence.message ?? "the provider ID is another cloud's: the Node is left alone",
      };
  }
}
