/**
 * What the BareMetalHosts of machines must be like, and which there are.
 * @module
 */
import type { MachineOwner, MachinePlan } from "../../../cloud/capabilities/machines.ts";
import { toHostLabels } from "../hosts/labels.ts";
import { toHostName } from "../hosts/names.ts";
import type { BareMetalHosts, HostRequest } from "../hosts/publish/host_publisher.ts";
import type { WantedHost } from "../hosts/types.ts";
import { ROOT_DEVICE_NAME, type Vino } from "../resource/vino.ts";
import { PUBLISH_AGAIN } from "../hosts/words.ts";
import type { HostState, MachineKey } from "../resource/vino_machine.ts";
import type { Snapshot } from "../placement/snapshot.ts";
import type { MachineTask } from "./steps/tasks.ts";
import { hasLostLabel, type HostFacts } from "../hosts/host_facts.ts";
import type { ReconcileInput } from "./assignment.ts";

/**
 * What the host of a machine must be like.
 *
 * @param isNew Whether the machine has no host
 * @returns `undefined`: it is not complete
 */
export function findWantedHost(
  { name: machineName, identity, start }: MachineTask,
  { state, machine, steps, needsLook, isBuilt = false, disks }: MachinePlan,
  {
    input: { desired },
    snapshot: { owner, view },
  }: {
    readonly input: Pick<ReconcileInput, "desired">;
    readonly snapshot: Pick<Snapshot, "owner" | "view">;
  },
  isNew: boolean,
): WantedHost | undefined {
  const role = desired?.roles.get(identity.role);
  if (state !== "Ready" || !machine || !role || !start) return undefined;
  // metal3 would keep a machine off that is published before it is started.
  if (isNew && (steps.length > 0 || needsLook === true)) return undefined;
  const { node, form } = role;
  const { interfaces } = start;
  const boot = interfaces.find(({ name }) => name === node.bootInterfaceName) ?? interfaces[0];
  return {
    name: toHostName({ vino: owner.name, ...identity }),
    machineName,
    machineId: machine.id,
    role: node.name,
    power: machine.power,
    labels: toHostLabels({
      owner,
      role: node.name,
      networks: interfaces.map(({ network }) => network),
      bmhLabels: node.bmhLabels,
      nodeLabelKeysToCopy: desired?.spec.nodeLabelKeysToCopy,
      failureDomain: desired?.spec.xenOrchestra?.failureDomain,
      machine,
      hosts: view.hosts,
    }),
    interfaces,
    ...(boot && { bootMac: boot.mac }),
    rootDeviceName: node.rootDeviceName ?? ROOT_DEVICE_NAME,
    firmware: machine.firmware,
    hardware: {
      cpus: machine.cpus ?? form.cpus,
      memoryBytes: machine.memoryBytes ?? form.memoryBytes,
      disks: disks ?? form.disks.map(({ name, sizeBytes }) => ({ name, sizeBytes })),
      areDisksKnown: disks !== undefined,
    },
    isBuilt,
    isExternallyProvisioned: form.boot === "Template",
  };
}

/**
 * Finds what uses the host of a machine. A host that names the machine counts also if a person took the Vino's label
 * from it, or changed it.
 *
 * @returns The end of a sentence, such as `is used by Metal3Machine "a"`; `undefined` if nothing does
 */
export function findHostUse(
  hosts: Pick<BareMetalHosts, "find">,
  vino: Vino,
  { role, index }: MachineKey,
): string | undefined {
  const host = findHost(hosts, vino, { role, index });
  return host !== undefined && isOurs(host, vino) ? host.use : undefined;
}

/** The host that has the name which the host of a machine would have, and that is not this Vino's. */
export function findForeignHost(
  hosts: Pick<BareMetalHosts, "find">,
  vino: Vino,
  machine: MachineKey,
): HostFacts | undefined {
  const host = findHost(hosts, vino, machine);
  return host === undefined || isOurs(host, vino) ? undefined : host;
}

/** The question about the host of a machine. @param said How far it is by the object of the machine */
export function toHostRequest(
  { metadata: { annotations = {} } }: Vino,
  owner: MachineOwner,
  { role, index }: MachineKey,
  said: HostState | undefined,
): HostRequest {
  return {
    owner,
    name: toHostName({ vino: owner.name, role, index }),
    wasPaused: said === "Paused" || said === "Moved",
    publishesMoved: annotations[PUBLISH_AGAIN] === "true",
  };
}

/** The host of a machine, if it is this Vino's. */
export function findOwnHost(
  hosts: Pick<BareMetalHosts, "find">,
  vino: Vino,
  machine: MachineKey,
): HostFacts | undefined {
  const host = findHost(hosts, vino, machine);
  return host?.vinoUid === vino.metadata.uid ? host : undefined;
}

function findHost(
  hosts: Pick<BareMetalHosts, "find">,
  { metadata: { name, namespace = "" } }: Vino,
  { role, index }: MachineKey,
): HostFacts | undefined {
  return hosts.find(namespace, toHostName({ vino: name, role, index }));
}

function isOurs(host: HostFacts, { metadata: { uid = "" } }: Vino): boolean {
  return host.vinoUid === uid || hasLostLabel(host, uid);
}
