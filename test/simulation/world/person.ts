/**
 * The person in a story: reads what is told of Nodes, and does what only people may.
 * @module
 */
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";
import type { World } from "./mod.ts";

/** What Landfall says when too many Nodes are gone at once: that comes right by a person alone. */
const TOO_MANY = "deletion.fleetShare";
/** What it says when it may delete none: that, too. */
const DISABLED = "deletion.enabled is false";
/** What it says when a process never saw the machine: that comes right by itself, in ten minutes. */
const NEVER_SEEN = "has not seen it since its first inventory";

/** Ends what people would not let go on, before all must come right. */
export function tidyUp(world: World): void {
  const { server, machines, truth, cloud } = world;
  for (const node of server.nodes) {
    const { metadata, spec } = node;
    const vmId = machines.get(metadata.name) ?? "";
    if (world.isForeign(metadata.name)) continue;
    if (cloud.isBeyondProof(node, vmId) || isTwin(world, metadata.name)) {
      server.objects.deleteNode(metadata.name);
      continue;
    }
    // It waits for a machine that will never come, or that nobody starts.
    if (spec?.providerID === undefined && !truth.isRunning(vmId))
      server.objects.deleteNode(metadata.name);
    else world.setReady(metadata.name, truth.isRunning(vmId));
  }
}

/**
 * Reads the Events of Nodes that are not deleted, sees that their machines are gone indeed, and deletes them. That too
 * many are gone is believed only if it is true.
 *
 * @param isPatient Whether the person waits for what comes right by itself
 */
export function decide(world: World, isPatient: boolean): void {
  const { server, trace, invariants, cloud } = world;
  for (const event of server.objects.list("events", "default") as unknown as readonly KubeEvent[]) {
    const { uid, name = "" } = event.involvedObject;
    const { reason, message = "" } = event;
    const node = world.findNode(name);
    if (reason !== "NodeDeletionBlocked" || node?.metadata.uid !== uid) continue;
    const isTooMany =
      message.includes(TOO_MANY) && invariants.proofs.isFleetAtLimit(listGone(world));
    const isNeverSeen = message.includes(NEVER_SEEN) && !isPatient;
    const isUndecided = cloud.undecided.some((words) => message.includes(words));
    const isDisabled = message.includes(DISABLED) && !world.said.deletion.enabled;
    if (!listGone(world).includes(name) || !(isTooMany || isNeverSeen || isDisabled || isUndecided))
      continue;
    const why = isTooMany ? TOO_MANY : isNeverSeen ? NEVER_SEEN : isDisabled ? DISABLED : message;
    trace.note("PERSON", `deletes Node ${name}: ${why}`);
    server.objects.deleteNode(name);
  }
}

/** Whether another Node has a better claim to the machine: that which is initialised, or was there first. */
function isTwin({ server, machines }: World, name: string): boolean {
  const rivals = server.nodes.filter(
    ({ metadata }) => machines.get(metadata.name) === machines.get(name),
  );
  const best = rivals.find(({ spec }) => spec?.providerID !== undefined) ?? rivals[0];
  return best !== undefined && best.metadata.name !== name;
}

/** Names of the initialised Nodes whose machines are gone. */
function listGone(world: World): string[] {
  const { server, machines, truth } = world;
  return server.nodes
    .filter(({ metadata: { name }, spec }) => {
      const isGone = !truth.has(machines.get(name) ?? "");
      return spec?.providerID && isGone && !world.isForeign(name);
    })
    .map(({ metadata: { name } }) => name);
}
