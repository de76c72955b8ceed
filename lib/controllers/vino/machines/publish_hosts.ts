/**
 * Publishes the complete machines of a Vino as BareMetalHosts, and takes back hosts of machines that are too many.
 * @module
 */
import type { Machine, MachinePlan } from "../../../cloud/capabilities/machines.ts";
import type { Addresses } from "../addresses/types.ts";
import type { GuestInterface } from "../guest/types.ts";
import { toHostLabels } from "../hosts/labels.ts";
import { toHostName } from "../hosts/names.ts";
import type { BareMetalHosts } from "../hosts/publish/host_publisher.ts";
import type { HostOutcome, WantedHost } from "../hosts/types.ts";
import { PUBLISH_AGAIN } from "../hosts/words.ts";
import { ROOT_DEVICE_NAME, type Vino, type VinoSpec } from "../resource/vino.ts";
import type { HostState, MachineEntry } from "../resource/vino_machine.ts";
import type { KnownMachine } from "../placement/known.ts";
import type { Snapshot } from "../placement/snapshot.ts";
import type { ProgressTracker } from "./steps/progress_tracker.ts";
import type { MachineTask } from "./steps/tasks.ts";
import type { Role } from "../resource/role_form.ts";
import { hasLostLabel, type HostFacts } from "../hosts/host_facts.ts";

/** A complete machine. */
export interface CompleteMachine {
  readonly task: MachineTask;
  readonly machine: Machine;
  /** As in its plan. */
  readonly isBuilt: boolean;
  /** As in its plan. Absent: not known. */
  readonly disks: MachinePlan["disks"];
  readonly role: Role;
  readonly interfaces: readonly GuestInterface[];
}

/** What the host of a complete machine must be like. */
export function toWantedHost(
  { task, machine, isBuilt, disks, role, interfaces }: CompleteMachine,
  { owner, view }: Pick<Snapshot, "owner" | "view">,
  { nodeLabelKeysToCopy, xenOrchestra }: VinoSpec,
): WantedHost {
  const { node, form } = role;
  const boot = interfaces.find(({ name }) => name === node.bootInterfaceName) ?? interfaces[0];
  return {
    name: toHostName({ vino: owner.name, ...task.identity }),
    machineName: task.name,
    machineId: machine.id,
    role: node.name,
    power: machine.power,
    labels: toHostLabels({
      owner,
      role: node.name,
      networks: interfaces.map(({ network }) => network),
      bmhLabels: node.bmhLabels,
      nodeLabelKeysToCopy,
      failureDomain: xenOrchestra?.failureDomain,
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

/** What is to be published. */
interface Publication {
  readonly vino: Vino;
  /** What the objects of its machines say. */
  readonly entries: readonly Pick<MachineEntry, "bareMetalHost" | "index" | "role">[];
  readonly snapshot: Pick<Snapshot, "owner" | "view">;
  /** Absent: nothing is wanted any more. */
  readonly desired?: { readonly spec: VinoSpec; readonly roles: ReadonlyMap<string, Role> };
  readonly addresses: Addresses;
  /** Machines that must exist; only those that are complete are published. */
  readonly tasks: readonly MachineTask[];
  /** Machines whose hosts must go. */
  readonly leaving: readonly KnownMachine[];
  readonly tracker: Pick<ProgressTracker, "find">;
}

/** How far the hosts are, by names of machines. */
export interface HostsPass {
  readonly published: ReadonlyMap<string, HostOutcome>;
  readonly unwanted: ReadonlyMap<string, HostOutcome>;
  /** When to publish again although nothing changes, in milliseconds. */
  readonly againMs: number;
}

/** Brings hosts to what is wanted. @throws {KubeError} if another try may help */
export async function publishMachines(
  { vino, entries, snapshot, desired, addresses, tasks, leaving, tracker }: Publication,
  publisher: Pick<BareMetalHosts, "list" | "publish">,
  signal: AbortSignal,
): Promise<HostsPass> {
  const { owner } = snapshot;
  const known = new Set(publisher.list(owner.uid).map(({ name }) => name));
  const complete = tasks.flatMap((task): CompleteMachine[] => {
    const { plan } = tracker.find(task.name) ?? {};
    const { state, machine, steps = [], needsLook, isBuilt = false, disks } = plan ?? {};
    // metal3 would keep a machine off that is published before it is started.
    const isNew = !known.has(toHostName({ vino: owner.name, ...task.identity }));
    if (isNew && (steps.length > 0 || needsLook === true)) return [];
    const role = desired?.roles.get(task.identity.role);
    const interfaces = addresses.machines.get(task.name);
    if (state !== "Ready" || !machine || !role || !interfaces) return [];
    return [{ task, machine, isBuilt, disks, role, interfaces }];
  });
  const request = {
    owner,
    hosts: desired ? complete.map((one) => toWantedHost(one, snapshot, desired.spec)) : [],
    unwanted: leaving.map(({ role, index }) => toHostName({ vino: owner.name, role, index })),
    paused: new Set(
      entries
        .filter(({ bareMetalHost }) => PAUSED.has(bareMetalHost))
        .map(({ role, index }) => toHostName({ vino: owner.name, role, index })),
    ),
    publishesMoved: vino.metadata.annotations?.[PUBLISH_AGAIN] === "true",
  };
  const { hosts, unwanted, againMs } = await publisher.publish(request, signal);
  return {
    published: zip(
      complete.map(({ task }) => task.name),
      hosts,
    ),
    unwanted: zip(
      leaving.map(({ name }) => name),
      unwanted,
    ),
    againMs,
  };
}

const PAUSED: ReadonlySet<HostState | undefined> = new Set(["Paused", "Moved"]);

function zip<T>(names: readonly string[], values: readonly T[]): ReadonlyMap<string, T> {
  return new Map(
    names.flatMap((name, at) => {
      const value = values[at];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
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
  { role, index }: { readonly role: string; readonly index: number },
): string | undefined {
  const host = findHost(hosts, vino, { role, index });
  return host !== undefined && isOurs(host, vino) ? host.use : undefined;
}

/** The host that has the name which the host of a machine would have, and that is not this Vino's. */
export function findForeignHost(
  hosts: Pick<BareMetalHosts, "find">,
  vino: Vino,
  machine: { readonly role: string; readonly index: number },
): HostFacts | undefined {
  const host = findHost(hosts, vino, machine);
  return host === undefined || isOurs(host, vino) ? undefined : host;
}

function findHost(
  hosts: Pick<BareMetalHosts, "find">,
  { metadata: { name, namespace = "" } }: Vino,
  { role, index }: { readonly role: string; readonly index: number },
): HostFacts | undefined {
  return hosts.find(namespace, toHostName({ vino: name, role, index }));
}

function isOurs(host: HostFacts, { metadata: { uid = "" } }: Vino): boolean {
  return host.vinoUid === uid || hasLostLabel(host, uid);
}
