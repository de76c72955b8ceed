/**
 * The capability of a cloud to make and to destroy machines. The caller works in one loop for each set of machines:
 * observe, plan each machine, apply the first step of each plan with those that follow it directly, and again from the
 * start, until no plan has a step. A plan always starts from what the cloud shows, also after a crash or a hand edit.
 * @module
 */
import type {
  MachineFirmware,
  MachineMac,
  MachinePower,
  MachinePowerState,
} from "./machine_power.ts";
import type { Finding } from "../inspection.ts";
import type { Instance } from "../instance.ts";
import type { Fence } from "../../core/fence.ts";

/** The object in Kubernetes that machines are made for. */
export interface MachineOwner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Which machine of an owner. From it comes the name of the machine in the cloud, which never changes. */
export interface MachineIdentity {
  readonly owner: MachineOwner;
  /** A DNS label of at most 32 characters. */
  readonly role: string;
  /** From 0 on; unique within the role. */
  readonly index: number;
}

/** A disk that a machine must have. */
export interface MachineDisk {
  readonly name: string;
  /** At least so large: a disk never shrinks. */
  readonly sizeBytes: number;
  /** ID or name of the storage. @default {that of the template's disk, otherwise the default one of the pool} */
  readonly storage?: string;
}

/** A network interface that a machine must have; its device is its place in the list. */
export interface MachineInterface {
  readonly name: string;
  /** ID or name of the network in the cloud. */
  readonly network: string;
  /** Six pairs of hexadecimal digits in lower case with colons. */
  readonly mac: string;
  /** In bytes. @default {that of the network} */
  readonly mtu?: number;
}

/** What a machine reads at its first start, as a small disk of its own. */
export interface MachineSeed {
  /** Label of the volume, which says what its files mean: `cidata`. */
  readonly label: string;
  /** Contents by path: `user-data`. They may hold secrets: never show them. */
  readonly files: Readonly<Record<string, string>>;
}

/** What a machine must be like. Checked: every value has the form that it should have. */
export interface MachineSpec extends MachineIdentity {
  /** ID of the pool. */
  readonly poolId: string;
  /** ID of the host where it starts for the first time. It may move later. */
  readonly hostId: string;
  /** ID or name of the template. */
  readonly template: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** The first ones are those of the template, in their order; the others are made. */
  readonly disks: readonly MachineDisk[];
  readonly interfaces: readonly MachineInterface[];
  /** `network`: it tries the network before its disks, from the beginning and for good. */
  readonly boot: "disk" | "network";
  /** Absent: it gets no such disk. A change later has no effect on a machine that is complete. */
  readonly seed?: MachineSeed;
  /** Whether it is started once, as soon as it is complete. */
  readonly isStarted: boolean;
}

/** A machine of ours, whole or not. */
export interface Machine {
  /** As {@linkcode toMachineName} makes it. */
  readonly name: string;
  /** The cloud's ID. */
  readonly id: string;
  /** Whether it was complete once: the cloud has our last mark. What is not complete must not be started or used. */
  readonly isComplete: boolean;
  readonly power: MachinePowerState;
  /** What it has now, which may not be what is wanted. Absent: not known. */
  readonly cpus?: number;
  readonly memoryBytes?: number;
  readonly firmware: MachineFirmware;
  readonly poolId: string;
  /** ID of the host while it runs. */
  readonly hostId?: string;
  /** ID of the host for which it was made. */
  readonly firstHostId?: string;
  /**
   * For labels: as it is, or while it is off as it will be where it starts for the first time. Absent: the cloud does
   * not say.
   */
  readonly instance?: Instance;
}

/** A host on which machines can be. */
export interface MachineHost {
  readonly id: string;
  readonly name: string;
  readonly poolId: string;
  readonly tags: readonly string[];
  /** Whether machines can start on it now. */
  readonly isEnabled: boolean;
}

/** A pool of hosts. */
export interface MachinePool {
  readonly id: string;
  readonly name: string;
  /** Whether it answered in full. If not, machines may be in it that the view does not show. */
  readonly isComplete: boolean;
}

/** One look at the cloud. Immutable. */
export interface MachinesView {
  /** In monotonic milliseconds, taken before its first request. */
  readonly observedAtMs: number;
  /** Whether it shows everything that a change depends on. From another one no plan has a step. */
  readonly isForChange: boolean;
  readonly pools: readonly MachinePool[];
  readonly hosts: readonly MachineHost[];
  /** All machines whose name is of our form, by name. Several with one name are twins. */
  readonly machines: ReadonlyMap<string, readonly Machine[]>;
  /** Of all interfaces of VMs. Absent unless machines were looked at for a change. */
  readonly macs?: readonly MachineMac[];
}

/** What the caller asks to look at. */
export interface MachinesQuestion {
  /**
   * Whether changes are planned from it. If not, the answer comes from the last inventory, and costs no request.
   * Otherwise the pools are asked before and after, so that what is missing is missing.
   */
  readonly isForChange: boolean;
  /** The machines that are about to change; nothing else is looked at closely. Only for a change. @default {none} */
  readonly machines?: readonly MachineIdentity[];
}

/** Why a machine is not as it should be, for a condition and an Event. */
export interface MachineProblem {
  /** In CamelCase: `TemplateNotFound`. */
  readonly reason: string;
  /** What is wrong, where, and what to do; no full stop, no secret. */
  readonly message: string;
  /**
   * `retry`: Landfall tries again by itself. `decision`: a person must decide, nothing is changed until then. `notice`:
   * worth knowing, the machine can be used.
   */
  readonly kind: "retry" | "decision" | "notice";
  /** Whether Landfall ends it by itself as soon as the machine is stopped. Only for a notice. @default {false} */
  readonly isWaiting?: boolean;
  /** Whether the machine is lost if a person does what it says. The caller adds what uses it. @default {false} */
  readonly losesMachine?: boolean;
  /** ID of the pool that may hold the machine, if the cloud shows all others. @default {none} */
  readonly missingPoolId?: string;
}

/** A part of a machine, for the debug pages. */
export interface MachinePart {
  /** What it is: `CPUs`, `disk root`, `interface oam`. */
  readonly name: string;
  /** Absent if it should not exist. */
  readonly wanted?: string;
  /** Absent if it does not exist. */
  readonly actual?: string;
}

/** One change of the cloud. Plain data that only the cloud itself understands. */
export interface MachineStep {
  /** What it does, for logs and the debug page: `create VM vino-1b4e28ba-worker-3`. */
  readonly summary: string;
  /** Whether it may follow the step before it without another look. @default {false} */
  readonly isDirect?: boolean;
  /** Whether people should know that it was made. @default {false} */
  readonly isNews?: boolean;
  /** Whether it only asks the cloud, and changes nothing there. @default {false} */
  readonly isQuestion?: boolean;
  /** Whether it only deletes what no machine ever used, so that no data goes. @default {false} */
  readonly isCleanup?: boolean;
  /** Whether the machine is complete after it. @default {false} */
  readonly completes?: boolean;
}

/** How far a machine is; the words are those of the status. */
export type MachineState =
  | "Absent"
  /** A part of the cloud that may hold it does not answer, so it is not known whether it exists. */
  | "Unknown"
  | "Creating"
  | "Unfinished"
  | "Ready"
  | "Removing"
  | "Blocked";

/** What is to do for one machine. */
export interface MachinePlan<S extends MachineStep = MachineStep> {
  readonly state: MachineState;
  /** The caller applies the first, and those that follow it directly, and plans again. Empty: nothing to do now. */
  readonly steps: readonly S[];
  /** Whether only a view for a change can tell what to do. @default {false} */
  readonly needsLook?: boolean;
  /** When to look again, in milliseconds, because the cloud works on it. @default {when something changes} */
  readonly againMs?: number;
  readonly problems: readonly MachineProblem[];
  /** Absent as long as it does not exist for sure. */
  readonly machine?: Machine;
  /** The same as long as the inventory shows nothing else of it, so that what a look found holds. */
  readonly shown?: string;
  /** Whether it is known to have the disks and interfaces of the spec, and no other interface. @default {false} */
  readonly isBuilt?: boolean;
  /** The disks that it has, in the order of the devices. Absent: not known, because only a look shows them. */
  readonly disks?: readonly { readonly name: string; readonly sizeBytes: number }[];
  /** Of an absent machine that was complete and that nothing of ours removed: the cloud's ID that it had. */
  readonly vanishedId?: string;
  readonly parts: readonly MachinePart[];
}

/**
 * Makes and destroys machines.
 *
 * @typeParam V One look at the cloud. Immutable
 * @typeParam S One change
 */
export interface Machines<
  V extends MachinesView = MachinesView,
  S extends MachineStep = MachineStep,
> {
  /** From now on inventories show our machines, too. Called by a controller when it is created. */
  follow(): void;
  /**
   * Looks at the cloud. One look serves all machines.
   *
   * @throws {CloudError} when the cloud cannot answer, or before the first inventory
   */
  observe(question: MachinesQuestion, signal: AbortSignal): Promise<V>;
  /** Plans what to do for a machine that must exist. Pure. @param record The text of {@linkcode MachineRecord} */
  plan(view: V, spec: MachineSpec, record: string | undefined): MachinePlan<S>;
  /**
   * Plans how to remove a machine with everything that is ours. Pure. Without steps and problems, and with the state
   * `Absent`, nothing of it is left. The caller has made sure that nothing uses it.
   */
  planRemoval(view: V, identity: MachineIdentity, record: string | undefined): MachinePlan<S>;
  /**
   * Carries out one step. Safe to repeat with a newer view.
   *
   * @throws {RefusedMachineError} when the cloud refuses it for a reason that a person can end
   * @throws {CloudError} when it failed, or is not over in time: it may have been carried out all the same
   * @throws {LeadershipLostError} when this process does not lead
   */
  apply(step: S, context: MachineStepContext, signal: AbortSignal): Promise<void>;
  /** Whether steps of other machines may succeed after a step failed with this error. */
  mayGoOn(error: unknown): boolean;
  /** Power and boot order of single machines, for management controllers. */
  readonly power: MachinePower;
  /**
   * Says what the cloud offers for machines, and which rights are missing. Changes nothing.
   * @throws {CloudError} when the cloud cannot answer
   */
  inspect?(use: MachinesUse, signal: AbortSignal): Promise<readonly Finding[]>;
}

/** What is done with machines, besides making them. */
export interface MachinesUse {
  /** Whether {@linkcode Machines.power} is used. */
  readonly isManaged: boolean;
  /** Name or ID of the storage for images of CDs. Absent: there are none. */
  readonly isoStorage?: string;
}

/** The steps of a plan that are made before another look: the first, and those that follow it directly. */
export function listNextSteps<S extends MachineStep>({ steps }: MachinePlan<S>): readonly S[] {
  const end = steps.findIndex(({ isDirect }, at) => at > 0 && isDirect !== true);
  return end < 0 ? steps : steps.slice(0, end);
}

/** The beginning of the names of all machines. Frozen: rights in clouds are given by it. */
export const MACHINE_PREFIX = "vino-";
const UID_LENGTH = 8;
const NAME = /^(vino-[0-9a-f]{8}-)([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)-(0|[1-9]\d{0,4})$/;

/** The beginning of the names of an owner's machines. Frozen: it must not change. */
export function toOwnerPrefix({ uid }: Pick<MachineOwner, "uid">): string {
  return `${MACHINE_PREFIX}${uid.slice(0, UID_LENGTH)}-`;
}

/** The name of a machine in the cloud: `vino-1b4e28ba-worker-3`. Frozen: it must not change. */
export function toMachineName({
  owner,
  role,
  index,
}: Pick<MachineIdentity, "index" | "role"> & {
  readonly owner: Pick<MachineOwner, "uid">;
}): string {
  return `${toOwnerPrefix(owner)}${role}-${index}`;
}

/** Reads the name of a machine. @returns `undefined` if the name is not of our form */
export function parseMachineName(
  name: string,
): { readonly ownerPrefix: string; readonly role: string; readonly index: number } | undefined {
  const [, ownerPrefix, role, index] = NAME.exec(name) ?? [];
  if (ownerPrefix === undefined || role === undefined || index === undefined) return undefined;
  return { ownerPrefix, role, index: Number(index) };
}

/** Where the caller keeps what the cloud must know about a machine after a restart. */
export interface MachineRecord {
  /** The text that was kept last. A hint, never a proof. */
  readonly text: string | undefined;
  /**
   * Keeps a text, at most 1 KiB; `undefined` removes it. Resolves when Kubernetes has it: a process that starts after a
   * crash then finds it. Records of several machines that are saved at the same time cost one request.
   *
   * @throws {KubeError} if Kubernetes refuses; then the step must not go on
   */
  save(text: string | undefined, signal: AbortSignal): Promise<void>;
}

/** What a step is carried out with. */
export interface MachineStepContext {
  readonly record: MachineRecord;
  /** Asked right before each request that changes the cloud. */
  readonly fence: Fence;
}
