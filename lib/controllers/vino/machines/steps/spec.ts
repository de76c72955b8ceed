/**
 * What a machine must be like, for the cloud: from the form of its role, its place and its networks. Pure.
 * @module
 */
import type {
  MachineInterface,
  MachineOwner,
  MachineSeed,
  MachineSpec,
} from "../../../../cloud/capabilities/machines.ts";
import type { GuestInterface } from "../../guest/types.ts";
import type { RoleForm } from "../../resource/role_form.ts";
import type { Vino, VinoSpec } from "../../resource/vino.ts";

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
