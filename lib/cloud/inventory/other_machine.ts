/**
 * Finds out whether a Node runs on another machine than the one that its provider ID names, for every cloud. Pure.
 *
 * The provider ID of a Node never changes. So if a machine is made again under the name of its Node, restored from a
 * backup or replaced by a copy, only deleting the Node helps.
 * @module
 */
import { swapUuid } from "../../core/text/uuid.ts";
import type { Instance, NodeIdentity } from "../instance.ts";
import type { Presence, Provider } from "../provider.ts";
import type { Inventory } from "./inventory.ts";

interface Index {
  readonly byUuid: ReadonlyMap<string, Instance>;
  /** In lower case. */
  readonly byName: ReadonlyMap<string, readonly Instance[]>;
}

/** Each list is indexed once: it may have thousands of machines, and all Nodes are looked up in it. */
const INDEXES = new WeakMap<Inventory["instances"], Index>();

/**
 * Judges a Node that has a provider ID by what its kubelet reports.
 *
 * - If the kubelet reports the system UUID of another machine, the machine of the provider ID is not the Node's. The
 *   result is `ambiguous`, so that nothing follows that machine.
 * - A name is weaker evidence. If the machine of the provider ID is not shown or does not run, and a machine runs that
 *   has the name of the Node, the result only gets `otherMachine`: the Node may still be deleted by proof.
 */
export function judgeOtherMachine(
  presence: Presence,
  node: NodeIdentity,
  { provider, inventory }: { provider: Pick<Provider, "toInstanceId">; inventory: Inventory },
): Presence {
  const { providerId = "" } = node;
  if (providerId === "" || !isJudged(presence)) return presence;
  const uuids = toUuids(node);
  const own = presence.kind === "present" ? presence.instance : undefined;
  const ownId = own?.id ?? provider.toInstanceId?.(providerId);
  if (uuids.includes(own?.systemUuid ?? ownId ?? "")) return presence;
  const index = INDEXES.get(inventory.instances) ?? createIndex(inventory.instances);
  const reported = uuids.map((uuid) => index.byUuid.get(uuid)).find((one) => one !== undefined);
  const names = `The provider ID names ${providerId}`;
  if (reported !== undefined && reported.id !== ownId) {
    const what = `${names}, but the kubelet reports the system UUID of machine ${describe(reported)}`;
    const otherMachine = `${what}; ${ADVICE}`;
    if (presence.kind === "foreign") return { ...presence, otherMachine };
    return { kind: "unknown", reason: "ambiguous", message: otherMachine, otherMachine };
  }
  const isOff = own?.state === "stopped";
  const isGone = presence.kind === "unknown" && presence.reason === "notListed";
  if (!isOff && !isGone) return presence;
  const namesake = listNamesakes(index, node).find(
    (one) => one.id !== ownId && one.state === "running" && mayBeNamed(one, uuids),
  );
  if (namesake === undefined) return presence;
  const state = isOff ? "does not run" : "the cloud does not show";
  const what = `${names}, which ${state}, but machine ${describe(namesake)}, which has the name of the Node, runs`;
  return { ...presence, otherMachine: `${what}; ${ADVICE}` };
}

/** Finds the machine of a Node without a provider ID among those that an inventory no longer shows. */
export function findFormer(
  vanished: Inventory["instances"],
  node: NodeIdentity,
): Instance | undefined {
  if (vanished.size === 0) return undefined;
  const uuids = toUuids(node);
  const index = INDEXES.get(vanished) ?? createIndex(vanished);
  const reported = uuids.map((uuid) => index.byUuid.get(uuid)).find((one) => one !== undefined);
  return reported ?? listNamesakes(index, node).find((one) => mayBeNamed(one, uuids));
}

/** Whether a name may identify a machine: a UUID that the cloud knows would have matched. */
function mayBeNamed({ systemUuid }: Instance, uuids: readonly string[]): boolean {
  return systemUuid === undefined || uuids.length === 0;
}

const ADVICE =
  "if the Node runs on that machine now, delete the Node and restart its kubelet, which then registers it again";

/** A Node of another Landfall is not ours to judge, nor is one whose machine cannot be known now. */
function isJudged(presence: Presence): boolean {
  if (presence.kind === "foreign") return presence.message === undefined;
  return presence.kind !== "unknown" || presence.reason !== "malformedProviderId";
}

/** The system UUID in both byte orders; none if the kubelet reports none. */
function toUuids({ systemUuid = "" }: NodeIdentity): readonly string[] {
  const direct = systemUuid.trim().toLowerCase();
  return direct === "" ? [] : [...new Set([direct, swapUuid(direct)])];
}

/** Machines with the name of the Node, or, if there is none, with its part before the first dot. */
function listNamesakes({ byName }: Index, node: NodeIdentity): readonly Instance[] {
  const name = node.name.toLowerCase();
  return byName.get(name) ?? byName.get(name.split(".", 1).join("")) ?? [];
}

function describe({ name, providerId }: Instance): string {
  return `"${name}" (${providerId})`;
}

function createIndex(instances: Inventory["instances"]): Index {
  const byUuid = new Map<string, Instance>();
  const byName = new Map<string, Instance[]>();
  for (const instance of instances.values()) {
    byUuid.set((instance.systemUuid ?? instance.id).toLowerCase(), instance);
    const name = instance.name.toLowerCase();
    const same = byName.get(name);
    if (same) same.push(instance);
    else byName.set(name, [instance]);
  }
  const index = { byUuid, byName };
  INDEXES.set(instances, index);
  return index;
}
