/**
 * What Landfall would do about each Node. Reads and compares; writes nothing.
 * @module
 */
import type { Finding, FindingLevel } from "../../cloud/inspection.ts";
import { findPresence, type PresenceSources } from "../../cloud/inventory/resolver.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import type { InstanceState, NodeIdentity } from "../../cloud/instance.ts";
import type { MatchedBy, Presence, Provider, UnknownReason } from "../../cloud/provider.ts";
import { isReady, isUninitialized, toIdentity } from "../../controllers/identity.ts";
import { MachineClaims } from "../../controllers/node/plan.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { type MatchedNode, type OtherAddresses, toAddressUses } from "./address_uses.ts";
import type { Acting } from "./outlook/acting.ts";
import { type NodeChange, type NodeOutlook, toOutlook } from "./outlook/changes.ts";

/** What a Node matches, and what Landfall would do about it. */
export interface NodePlan {
  readonly name: string;
  /** `failure`: it stays tainted. `warning`: its machine is gone or unknown, or something else needs attention. */
  readonly level: FindingLevel;
  /** Whether its kubelet says that it is ready. */
  readonly ready: boolean;
  /** Whether it has the taint of a Node that waits for its cloud. */
  readonly uninitialized: boolean;
  /** As the Node has it. */
  readonly providerId?: string;
  /** What the cloud says about its machine. */
  readonly presence: Presence["kind"];
  /** Why the machine is unknown, when `presence` is `unknown`. */
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
  /** What Landfall would write; empty when the Node is as it should be. */
  readonly changes: readonly NodeChange[];
  /** What keeps Landfall from writing what it should. */
  readonly problems: readonly string[];
}

/** What Nodes are compared with. */
interface NodePlanSources extends Pick<PresenceSources, "selector"> {
  readonly provider: Provider;
  /** Of all instances. */
  readonly inventory: Inventory;
}

/** Most Nodes that the cloud is asked about one by one. */
const READS_MAX = 50;

/**
 * Matches every Node, sorted by name. The first fifty that the inventory lacks are read directly; when time is up, the
 * others stay as the inventory has them.
 *
 * @param signal Ends the direct reads
 */
export async function matchNodes(
  nodes: readonly Node[],
  sources: NodePlanSources,
  signal: AbortSignal,
): Promise<MatchedNode[]> {
  const sorted = nodes.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  let reads = 0;
  return await Promise.all(
    sorted.map(async (node) => {
      const identity = toIdentity(node);
      const found = findPresence(identity, sources);
      const isOpen = found.kind === "unknown" && found.reason === "notListed";
      if (isOpen) reads += 1;
      const mayRead = isOpen && reads <= READS_MAX;
      const answer = mayRead ? await readPresence(identity, sources, { found, signal }) : found;
      const { otherMachine } = found;
      const isOther = otherMachine !== undefined && answer.kind !== "present";
      const presence = isOther ? { ...answer, otherMachine } : answer;
      return { node, presence };
    }),
  );
}

/** Plans every Node after {@linkcode matchNodes}. */
export async function listNodePlans(
  nodes: readonly Node[],
  sources: NodePlanSources & { readonly acting: Acting; readonly others?: OtherAddresses },
  signal: AbortSignal,
): Promise<NodePlan[]> {
  const matched = await matchNodes(nodes, sources, signal);
  const presences = new Map(matched.map(({ node, presence }) => [node.metadata.name, presence]));
  const claims = MachineClaims.of(nodes, sources.provider, (name) => presences.get(name));
  const uses = toAddressUses(matched, sources.others ?? { pools: [] });
  return matched.map(({ node, presence }) =>
    toPlan(node, presence, toOutlook(node, presence, { ...sources, claims, uses })),
  );
}

/** Why the cloud may only hide a machine. */
const HIDDEN: ReadonlySet<UnknownReason | undefined> = new Set([
  "notListed",
  "notCovered",
  "notFound",
]);

/**
 * Says once that the cloud shows no machine of any Node: its words about each of them would be about one that is lost.
 *
 * @param advice As in `Inspection`
 * @returns The finding, and the Nodes that it is not about; `undefined` when the plans say what is wrong
 */
export function findStrangers(
  plans: readonly NodePlan[],
  advice: string | undefined,
): { readonly finding: Finding; readonly others: readonly NodePlan[] } | undefined {
  if (advice === undefined) return undefined;
  const others = plans.filter(({ presence }) => presence === "foreign");
  const unseen = plans.filter(({ presence }) => presence !== "foreign");
  const [first] = unseen;
  const isHidden = ({ reason, message, problems }: NodePlan): boolean =>
    HIDDEN.has(reason) && problems.every((text) => text === message);
  if (first === undefined || !unseen.every(isHidden)) return undefined;
  const what =
    unseen.length === 1
      ? `the machine of Node ${first.name} is not visible`
      : `none of the machines of ${unseen.length} Nodes is visible`;
  const named = unseen.find(({ providerId }) => providerId === undefined);
  const example = named?.message === undefined ? "" : `. Of ${named.name}: ${named.message}`;
  const finding = {
    level: "failure",
    code: "noNodeVisible",
    message: what + example,
    advice,
  } as const;
  return { finding, others };
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
  return {
    ...outlook,
    name: node.metadata.name,
    level: toLevel(node, presence, outlook),
    ready: isReady(node),
    uninitialized: isUninitialized(node),
    ...(providerId ? { providerId } : {}),
    presence: presence.kind,
    ...toDetails(presence),
  };
}

/** A Node that stays tainted runs no pods. A Node of another cloud waits for that cloud. */
function toLevel(node: Node, presence: Presence, { changes, problems }: NodeOutlook): FindingLevel {
  const { kind } = presence;
  if (kind === "foreign" && presence.isUnselected) return "ok";
  const isWaiting = isUninitialized(node) && !changes.some(({ what }) => what === "initialise");
  if (isWaiting) return kind === "foreign" ? "warning" : "failure";
  const isKnown = kind === "present" || kind === "foreign";
  return isKnown && problems.length === 0 ? "ok" : "warning";
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
