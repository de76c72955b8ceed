/**
 * The person in a story: reads what is told of Nodes, and does what only people may.
 * @module
 */
import type { KubeEvent } from "../../lib/kube/resource.ts";
import type { World } from "./world.ts";

/** What Landfall says when too many Nodes are gone at once: that comes right by a person alone. */
const TOO_MANY = "deletion.fleetShare";
/** What it says when a process never saw the machine: that comes right by itself, in ten minutes. */
const NEVER_SEEN = "was not seen since the start";

/** Ends what people would not let go on, before all must come right. */
export function tidyUp(world: World): void {
  const { server, machines, truth } = world;
  for (const { metadata, spec } of server.nodes) {
    const vmId = machines.get(metadata.name) ?? "";
    // It waits for a machine that will never come.
    if (spec?.providerID === undefined && !truth.find(vmId))
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
  const { server, trace, invariants } = world;
  for (const event of server.objects.list("events", "default") as unknown as readonly KubeEvent[]) {
    const { uid, name = "" } = event.involvedObject;
    const { reason, message = "" } = event;
    const node = world.findNode(name);
    if (reason !== "NodeDeletionBlocked" || node?.metadata.uid !== uid) continue;
    const isTooMany =
      message.includes(TOO_MANY) && invariants.proofs.isFleetAtLimit(listGone(world));
    const isNeverSeen = message.includes(NEVER_SEEN) && !isPatient;
    if (!listGone(world).includes(name) || !(isTooMany || isNeverSeen)) continue;
    trace.note("PERSON", `deletes Node ${name}: ${isTooMany ? TOO_MANY : NEVER_SEEN}`);
    server.objects.deleteNode(name);
  }
}

/** Names of the initialised Nodes whose machines are gone. */
function listGone({ server, machines, truth }: World): string[] {
  return server.nodes
    .filter(
      ({ metadata: { name }, spec }) => spec?.providerID && !truth.find(machines.get(name) ?? ""),
    )
    .map(({ metadata: { name } }) => name);
}
