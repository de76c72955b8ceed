/**
 * What is to be done with each machine of a Vino. Pure.
 * @module
 */
import {
  type MachineIdentity,
  type MachineSpec,
  parseMachineName,
  toMachineName,
  toOwnerPrefix,
  type MachineInterface,
  type MachineOwner,
  type MachineSeed,
} from "../../../../cloud/capabilities/machines.ts";
import type { MachineRequest, Addresses } from "../../addresses/types.ts";
import type { GuestInterface } from "../../guest/types.ts";
import type { RoleForm, Role } from "../../resource/role_form.ts";
import type { VinoSpec, Vino } from "../../resource/vino.ts";
import type { KnownMachine } from "../../placement/known.ts";
import { describeLostHost, type Snapshot } from "../../placement/snapshot.ts";
import type { MachineKey } from "../../resource/vino_machine.ts";

/** A machine on which there may be something to do. */
export interface MachineTask {
  /** In the cloud. */
  readonly name: string;
  readonly identity: MachineIdentity;
  /** ID of the host where it starts. */
  readonly hostId?: string;
  readonly known?: KnownMachine;
  readonly goal: MachineGoal;
  /** What its first start needs to know. Absent: it goes. */
  readonly start?: MachineStart;
}

/** What the first start of a machine needs to know. */
export interface MachineStart {
  readonly form: RoleForm;
  readonly interfaces: readonly GuestInterface[];
}

/** What becomes of a machine. The spec has no seed. */
export type MachineGoal =
  | { readonly kind: "exist"; readonly spec: MachineSpec }
  | {
      readonly kind: "remove";
      /** What a person said about lost pools: a new answer is tried at once, as is every other change of a goal. */
      readonly gonePools?: string;
    };

/** What a Vino decided about one of its machines. */
export interface Assignment extends MachineKey {
  /** In the cloud. */
  readonly name: string;
  readonly isWanted: boolean;
  /** Absent: it was never begun, or, if the spec does not want it, only its addresses are known. */
  readonly known?: KnownMachine;
  /** ID of the host where it starts. */
  readonly hostId?: string;
  /** What may be done; with a machine that goes, as soon as its BareMetalHost is gone. Absent: nothing. */
  readonly task?: MachineTask;
  /** Why nothing may be done, not even with its BareMetalHost; a sentence without a full stop. */
  readonly heldBy?: string;
  /** Whether it has other addresses than the spec gives it. @default {false} */
  readonly differs?: boolean;
  /** Why a machine stays whose BareMetalHost goes; a sentence without a full stop. */
  readonly keptBecause?: string;
}

/** The machines that need addresses: all that must exist. */
export function toMachineRequests(
  { owner, placement }: Snapshot,
  roles: ReadonlyMap<string, Role>,
): MachineRequest[] {
  return placement.wanted.map(({ role, index }) => ({
    name: toMachineName({ owner, role, index }),
    interfaces: roles.get(role)?.node.networkInterfaces ?? [],
  }));
}

/** Says what each machine that must exist must be like. */
export function assignWanted(
  snapshot: Snapshot,
  {
    spec,
    roles,
    addresses,
    hasBmc,
  }: {
    readonly spec: VinoSpec;
    readonly roles: ReadonlyMap<string, Role>;
    readonly addresses: Addresses;
    readonly hasBmc: boolean;
  },
): Assignment[] {
  const { owner, view, placement } = snapshot;
  const poolOfHost = new Map(view.hosts.map(({ id, poolId }) => [id, poolId]));
  return placement.wanted.map((placed): Assignment => {
    const { role, index, hostId, known } = placed;
    const identity = { owner, role, index };
    const name = toMachineName(identity);
    const base = { ...placed, name, isWanted: true };
    const form = roles.get(role)?.form;
    const interfaces = addresses.machines.get(name);
    const poolId =
      known?.machine?.poolId ?? (hostId === undefined ? undefined : poolOfHost.get(hostId));
    if (hostId === undefined || poolId === undefined) {
      return { ...base, heldBy: describeLostHost(placed, snapshot) };
    }
    if (interfaces === undefined || form === undefined) {
      const heldBy = addresses.problems.get(name) ?? "It has no address";
      return { ...base, heldBy, differs: addresses.differing?.has(name) === true };
    }
    const source = { owner, spec, form, role, index, poolId, hostId, interfaces, hasBmc };
    const goal = { kind: "exist", spec: toMachineSpec(source) } as const;
    const start = { form, interfaces };
    const task = { name, identity, hostId, ...(known && { known }), goal, start };
    return { ...base, task };
  });
}

/** The task to remove a machine. @param gonePools What a person said about lost pools */
export function toRemovalTask(
  owner: Snapshot["owner"],
  { name, role, index, hostId, known }: Omit<Assignment, "isWanted">,
  gonePools?: string,
): MachineTask {
  return {
    name,
    identity: { owner, role, index },
    ...(hostId !== undefined && { hostId }),
    ...(known && { known }),
    goal: { kind: "remove", ...(gonePools !== undefined && { gonePools }) },
  };
}

/**
 * Machines with addresses that are neither wanted nor known: they were never begun, or are forgotten. Their removal
 * finds out that nothing of them is left.
 *
 * @param holders Names of machines with addresses
 */
export function listForgotten(
  owner: Snapshot["owner"],
  holders: Iterable<string>,
  { known, placement }: Pick<Snapshot, "known" | "placement">,
): Assignment[] {
  const others = new Set([
    ...known.map(({ name }) => name),
    ...placement.wanted.map(({ role, index }) => toMachineName({ owner, role, index })),
  ]);
  const prefix = toOwnerPrefix(owner);
  return [...holders].flatMap((name): Assignment[] => {
    const { ownerPrefix, role = "", index = 0 } = parseMachineName(name) ?? {};
    // Machines of an older Vino of this name may still exist.
    if (ownerPrefix !== prefix || others.has(name)) return [];
    return [{ name, role, index, isWanted: false }];
  });
}

/** What a {@linkcode MachineSpec} is put together from. */
interface SpecSource {
  readonly owner: MachineOwner;
  readonly spec: VinoSpec;
  readonly form: RoleForm;
  readonly role: string;
  readonly index: number;
  readonly poolId: string;
  readonly hostId: string;
  /** In the order of the devices. */
  readonly interfaces: readonly GuestInterface[];
  /** Absent: it gets no such disk, or has it. */
  readonly seed?: MachineSeed | undefined;
  /** Whether machines that boot from the network are started by a management controller. */
  readonly hasBmc: boolean;
}

/** The owner of the machines of a Vino. */
export function toOwner({ metadata: { namespace = "", name, uid = "" } }: Vino): MachineOwner {
  return { namespace, name, uid };
}

/** Says what a machine must be like. */
export function toMachineSpec(source: SpecSource): MachineSpec {
  const { owner, spec, form, role, index, poolId, hostId, interfaces, seed, hasBmc } = source;
  const networks = spec.xenOrchestra?.networks ?? {};
  const isFromNetwork = form.boot === "Network";
  return {
    owner,
    role,
    index,
    poolId,
    hostId,
    template: form.template,
    cpus: form.cpus,
    memoryBytes: form.memoryBytes,
    disks: form.disks.map(({ name, sizeBytes, sr }) => ({
      name,
      sizeBytes,
      ...(sr !== undefined && { storage: sr }),
    })),
    interfaces: interfaces.map((one): MachineInterface => ({
      name: one.name,
      network: networks[one.network] ?? one.network,
      mac: one.mac,
      ...(one.mtu !== undefined && { mtu: one.mtu }),
    })),
    boot: isFromNetwork ? "network" : "disk",
    ...(seed !== undefined && { seed }),
    // Without a management controller, no other program could start it.
    isStarted: !isFromNetwork || !hasBmc,
  };
}
