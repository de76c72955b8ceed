/**
 * What the machines of one Vino are to become: decides how many and where, gives them addresses, publishes those that
 * are complete, hands over those that are due, and sums up. Changes nothing in the cloud itself.
 * @module
 */
import type { MachineMac } from "../../../cloud/capabilities/machine_power.ts";
import { type MachinesView, toMachineName } from "../../../cloud/capabilities/machines.ts";
import { CloudError } from "../../../cloud/errors.ts";
import type { Addresses } from "../addresses/types.ts";
import { toHostName } from "../hosts/names.ts";
import type { KnownMachine } from "../placement/known.ts";
import { type Snapshot, type SnapshotResult, takeSnapshot } from "../placement/snapshot.ts";
import { listReports, type MachineReport } from "../status/machine_status.ts";
import type { MachineLine, MachinesSummary } from "../status/status.ts";
import { findHostUse, type HostsPass, publishMachines } from "./publish_hosts.ts";
import { MachineGroup, type WorkList } from "./work_list.ts";
import { decideRemovals, Removals, type RemovalTasks } from "./removal/removals.ts";
import { ProgressTracker, pickDue } from "./steps/progress_tracker.ts";
import {
  type MachineTask,
  toMachineRequests,
  toWantedTasks,
  type WantedTasks,
  toOwner,
} from "./steps/tasks.ts";
import type { MachineReconcilerOptions, ReconcileContext, ReconcileInput } from "./types.ts";
import type { Clock } from "../../../core/clock.ts";

/** What is to be said besides what the objects of the machines say. */
type Decided = Omit<MachinesSummary, "displaced" | "hostErrors" | "machines">;

/** What the machines came to. */
export type MachinesResult =
  | Extract<SnapshotResult, { kind: "refused" }>
  /** Something changed meanwhile: look again at once. */
  | { readonly kind: "again" }
  | {
      readonly kind: "done";
      readonly reports: readonly MachineReport[];
      /** What was decided. */
      readonly decided: Decided;
      readonly view: MachinesView;
      /** Whether machines are worked on, so that there is more to say soon. */
      readonly isMoving: boolean;
      /** Whether nothing has come of that work yet since the Vino could not go on the last time. */
      readonly isDoubtful: boolean;
      /** Whether machines are proven gone, so that the status must lose them at once. */
      readonly hasGone: boolean;
      /** Whether nothing is wanted, and nothing is left that must go. */
      readonly isOver: boolean;
      /** Whether the cloud did not answer, and the Vino goes on without it. @default {false} */
      readonly isWithoutCloud?: boolean;
      /** When something is due, in milliseconds from now; `Infinity`: when something changes. */
      readonly nextMs: number;
    };

/** When to look again at a Vino of which a look showed a machine that no inventory has shown. */
const RECHECK_MS = 5_000;
/** When to look again whether the namespace of a Vino goes, too. */
const NAMESPACE_MS = 30_000;
const NO_ADDRESSES: Addresses = { machines: new Map(), problems: new Map(), notices: [] };
const NOTHING_WANTED: Wanted = { tasks: [], idle: [], addresses: NO_ADDRESSES };
/** What there is to see of a cloud that does not answer. */
const NO_VIEW: MachinesView = {
  observedAtMs: -Infinity,
  isForChange: false,
  pools: [],
  hosts: [],
  machines: new Map(),
};

/** The machines that must exist. */
interface Wanted extends WantedTasks {
  readonly addresses: Addresses;
}

/** What is prepared. */
interface Parts {
  readonly wanted: Wanted;
  readonly hosts: HostsPass;
  readonly removal: RemovalTasks;
}

/** Whether a Vino ends and keeps its machines, so that it needs no answer of the cloud. */
function keepsAll({ desired, deletes }: ReconcileInput): boolean {
  return desired === undefined && !deletes;
}

/** What {@linkcode DesiredMachines} need. */
export interface DesiredMachinesOptions extends MachineReconcilerOptions {
  /** Where machines are handed over that are due. */
  readonly work: WorkList;
}

/** See the module. Remembers what was seen until it is forgotten. */
export class DesiredMachines {
  readonly #options: DesiredMachinesOptions & { readonly tracker: ProgressTracker };
  readonly #tracker: ProgressTracker;
  readonly #removals: Removals;
  readonly #group: MachineGroup;
  readonly #deadline: CloudDeadline;

  /** @param uid Of the Vino */
  constructor(uid: string, options: DesiredMachinesOptions) {
    const tracker = new ProgressTracker(options);
    this.#options = { ...options, tracker };
    this.#tracker = tracker;
    this.#removals = new Removals(this.#options);
    const { neverComplete } = this.#removals;
    const isWorking = (): boolean => options.work.listWorking(uid).length > 0;
    this.#group = new MachineGroup({ ...this.#options, neverComplete, isWorking });
    this.#deadline = new CloudDeadline(options.clock);
  }

  /**
   * Decides, publishes, and hands over the machines that are due.
   *
   * @throws {CloudError} if the cloud cannot answer, {@linkcode KubeError} if Kubernetes does not; also what stopped
   * the work on machines that were handed over
   */
  async advance(input: ReconcileInput, context: ReconcileContext): Promise<MachinesResult> {
    try {
      return await this.#advance(input, context);
    } catch (error) {
      // Any other error is over as soon as this succeeds.
      const isSilence = error instanceof CloudError;
      if (isSilence) this.#group.noteDoubt();
      if (!isSilence || !keepsAll(input) || !this.#deadline.hasPassed(true)) throw error;
      return await this.#advanceWithoutCloud(input, context);
    }
  }

  /** Whether the removal of a machine is over, and nothing of it was begun again. */
  isGone(name: string): boolean {
    return this.#tracker.sightings.isGone(name);
  }

  async #advance(input: ReconcileInput, context: ReconcileContext): Promise<MachinesResult> {
    const { signal } = context;
    this.#group.throwFailure();
    const view = await this.#options.machines.observe({ isForChange: false }, signal);
    this.#tracker.sightings.prune(view.observedAtMs);
    const result = this.#takeSnapshot(input, view);
    if (result.kind === "refused") return result;
    const { snapshot } = result;
    const working = new Set(this.#options.work.listWorking(snapshot.owner.uid));
    this.#removals.neverComplete.review(snapshot.known, working);
    const wanted = await this.#prepareWanted(input, snapshot, signal);
    const leaving = await this.#removals.findLeaving(input, snapshot, signal);
    const hosts = await this.#publish(
      input,
      snapshot,
      { wanted, leaving: leaving.machines },
      context,
    );
    if (hosts === undefined) return { kind: "again" };
    const { limit } = leaving;
    const removal = await this.#removals.listTasks(input, snapshot, { limit, hosts }, signal);
    this.#review(input, removal.all, snapshot);
    const tasks = [...wanted.tasks, ...removal.all];
    this.#tracker.keepOnly(new Set(tasks.map(({ name }) => name)));
    const parts = { wanted, hosts, removal };
    if (!(await this.#handOver(input, tasks, context))) return { kind: "again" };
    // What ended meanwhile may have been seen for another goal, which proves nothing.
    this.#review(input, removal.all, snapshot);
    const isMoving = this.#group.isWorking;
    const hasGone = await this.#removals.noteGone(input, removal.all, signal);
    const end = isMoving ? "open" : await this.#removals.findEnd(input, snapshot, removal, signal);
    if (!isMoving && keepsAll(input) && this.#deadline.hasPassed(end === "unclear")) {
      return await this.#advanceWithoutCloud(input, context);
    }
    const isHeld = input.desired === undefined && limit !== undefined;
    const endMs = end === "unlisted" ? RECHECK_MS : isHeld ? NAMESPACE_MS : Infinity;
    const nextMs = Math.min(endMs, hosts.againMs, this.#toNextMs(tasks));
    const isOver = end === "over";
    const isDoubtful = (isMoving || this.#group.hasFailed) && !this.#group.hasAnswered;
    const said = this.#toReports(input, snapshot, { ...parts, limit });
    return { kind: "done", ...said, isMoving, isDoubtful, hasGone, isOver, nextMs };
  }

  /**
   * Takes back the hosts of a Vino that keeps its machines, without the cloud. Machines and addresses stay as they are:
   * nothing says which are free.
   */
  async #advanceWithoutCloud(
    input: ReconcileInput,
    context: ReconcileContext,
  ): Promise<MachinesResult> {
    const result = this.#takeSnapshot(input, NO_VIEW);
    if (result.kind === "refused") return result;
    const { snapshot } = result;
    const { surplus } = snapshot.placement;
    const wanted = NOTHING_WANTED;
    const hosts = await this.#publish(input, snapshot, { wanted, leaving: surplus }, context);
    if (hosts === undefined) return { kind: "again" };
    const question = { surplus, outcomes: hosts.unwanted, deletes: false, limit: undefined };
    const decision = decideRemovals({ ...question, isWithoutCloud: true });
    const removal = { decision, surplus: [], all: [] };
    const said = this.#toReports(input, snapshot, { wanted, hosts, removal, limit: undefined });
    const isMoving = this.#group.isWorking;
    const isOver = decision.isDrained && !isMoving;
    const silence = { isDoubtful: false, hasGone: false, isWithoutCloud: true } as const;
    return { kind: "done", ...said, isMoving, ...silence, isOver, nextMs: hosts.againMs };
  }

  /**
   * @param tasks All machines, in the order in which they are to be made
   * @returns `false` if the Vino changed meanwhile
   */
  async #handOver(
    input: ReconcileInput,
    tasks: readonly MachineTask[],
    context: ReconcileContext,
  ): Promise<boolean> {
    const due = pickDue(tasks, this.#options);
    if (due.length === 0 || !this.#group.takesMore()) return true;
    if (!(await context.confirm())) return false;
    this.#options.work.start(input, due, this.#group);
    return true;
  }

  #takeSnapshot({ vino, desired, deletes }: ReconcileInput, view: MachinesView): SnapshotResult {
    const { hosts, objects } = this.#options;
    return takeSnapshot({
      vino,
      entries: objects.listEntries(vino),
      owner: toOwner(vino),
      view,
      seen: this.#tracker.sightings.list(view.observedAtMs),
      ...(desired && { roles: desired.roles }),
      isConsumed: (machine) => findHostUse(hosts, vino, machine) !== undefined,
      deletes,
    });
  }

  /** Gives addresses to the machines that must exist, and plans each of them. */
  async #prepareWanted(
    input: ReconcileInput,
    snapshot: Snapshot,
    signal: AbortSignal,
  ): Promise<Wanted> {
    const { vino, desired } = input;
    if (desired === undefined) return NOTHING_WANTED;
    const { addresses: allocator, hasBmc } = this.#options;
    const requests = toMachineRequests(snapshot, desired.roles);
    const readMacs = (): Promise<readonly MachineMac[]> => this.#readMacs(snapshot, signal);
    const addresses = await allocator.assign(vino, desired.spec, requests, readMacs, signal);
    const { restored = [] } = addresses;
    if (restored.length > 0) this.#options.machineEvents.recordRestored(vino, restored);
    const wanted = toWantedTasks(snapshot, { ...desired, addresses, hasBmc });
    this.#review(input, wanted.tasks, snapshot);
    return { ...wanted, addresses };
  }

  /** A pool that does not answer hides the MAC addresses of its machines, which they keep. */
  async #readMacs(
    { owner, poolId, placement }: Snapshot,
    signal: AbortSignal,
  ): Promise<readonly MachineMac[]> {
    const machines = placement.wanted.slice(0, 1).map((one) => ({ ...one, owner }));
    const question = { isForChange: true, machines };
    const { pools, macs = [] } = await this.#options.machines.observe(question, signal);
    const pool = pools.find(({ id }) => id === poolId);
    if (pool?.isComplete === true) return macs;
    const message = `Cannot choose MAC addresses: pool ${pool?.name ?? poolId} is disconnected or still loading`;
    throw new CloudError("unreachable", message);
  }

  /**
   * Publishes complete machines, and takes the hosts back of those that go.
   *
   * @returns `undefined` if hosts are about to go, and the Vino changed meanwhile
   */
  async #publish(
    input: ReconcileInput,
    snapshot: Snapshot,
    { wanted, leaving }: { readonly wanted: Wanted; readonly leaving: readonly KnownMachine[] },
    context: ReconcileContext,
  ): Promise<HostsPass | undefined> {
    const { hosts, objects } = this.#options;
    if (this.#takesHosts(leaving, input) && !(await context.confirm())) return undefined;
    const entries = objects.listEntries(input.vino);
    const publication = { ...input, entries, snapshot, ...wanted, leaving, tracker: this.#tracker };
    return await publishMachines(publication, hosts, context.signal);
  }

  /** Whether hosts that nothing uses are about to go. */
  #takesHosts(leaving: readonly KnownMachine[], { vino: { metadata } }: ReconcileInput): boolean {
    if (leaving.length === 0) return false;
    const names = new Set(leaving.map((one) => toHostName({ vino: metadata.name, ...one })));
    const hosts = this.#options.hosts.list(metadata.uid ?? "");
    return hosts.some(({ name, use }) => use === undefined && names.has(name));
  }

  #review(
    { vino }: ReconcileInput,
    tasks: readonly MachineTask[],
    { view }: Pick<Snapshot, "view">,
  ): void {
    for (const task of tasks) {
      const { name, identity } = task;
      const record = this.#options.objects.readText(vino, { name, ...identity });
      this.#tracker.review(task, view, record);
    }
  }

  #toReports(
    { desired, deletes }: ReconcileInput,
    snapshot: Snapshot,
    {
      wanted,
      hosts: { published, unwanted },
      removal: { decision, surplus },
      limit,
    }: Parts & { readonly limit: string | undefined },
  ): Pick<Extract<MachinesResult, { kind: "done" }>, "decided" | "reports" | "view"> {
    const { tasks, idle, addresses } = wanted;
    const { placement, owner, view } = snapshot;
    const { wantedCount, shortages } = placement;
    const names = new Set(placement.wanted.map((one) => toMachineName({ owner, ...one })));
    const reports = listReports({
      snapshot,
      roles: desired?.roles,
      addresses,
      wanted: tasks,
      idle,
      removals: surplus,
      staying: decision.staying,
      hosts: new Map([...unwanted, ...published]),
      shown: this.#options.hosts.list(snapshot.owner.uid),
      tracker: this.#tracker,
      isGone: (name) => this.#tracker.sightings.isGone(name),
      now: { monotonicMs: this.#options.clock.monotonic(), wallMs: this.#options.clock.now() },
      isLeft: (task) => desired === undefined && this.#removals.isSettled(task, deletes),
    });
    const decided = {
      wantedCount,
      shortages,
      ...describeAddresses(addresses, names),
      notices: [...placement.notices, ...addresses.notices],
      limit,
      removals: this.#removals.listRecent(),
    };
    return { reports, decided, view };
  }

  /** When the first of these machines is due, in milliseconds from now. What is due already waits for another one. */
  #toNextMs(tasks: readonly MachineTask[]): number {
    const nowMs = this.#options.clock.monotonic();
    const dueMs = tasks.map(({ name }) => this.#tracker.find(name)?.dueMs ?? Infinity);
    return Math.min(...dueMs.filter((ms) => ms > nowMs)) - nowMs;
  }
}

/** @param wanted Names of the machines that must exist */
function describeAddresses(
  { problems, differing }: Addresses,
  wanted: ReadonlySet<string>,
): Pick<Decided, "addressDifferences" | "addressProblems"> {
  const lines = Array.from(problems, ([name, message]): MachineLine => ({ name, message }));
  const ours = lines.filter(({ name }) => wanted.has(name));
  const others = ours.filter(({ name }) => !differing?.has(name));
  return {
    addressProblems: [...new Set(others.map(({ message }) => message))],
    addressDifferences: ours.filter(({ name }) => differing?.has(name)),
  };
}

const MINUTES = 10;
/** Longer than an upgrade of the cloud: without an answer, addresses stay taken that no machine ever used. */
const WAIT_MS = MINUTES * 60_000;

/** What the status says while the Vino waits; a sentence without a full stop. */
export const WAITING_MESSAGE: string =
  "Its machines stay, because deletionPolicy is Retain: " +
  `Landfall waits ${MINUTES} minutes for the cloud, and then goes on without it`;

/** Remembers since when the cloud does not answer. */
export class CloudDeadline {
  readonly #clock: Pick<Clock, "monotonic">;
  #sinceMs: number | undefined;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Notes whether the cloud answered now. @returns Whether it did not for so long that the Vino waits no more */
  hasPassed(isSilent: boolean): boolean {
    const nowMs = this.#clock.monotonic();
    this.#sinceMs = isSilent ? (this.#sinceMs ?? nowMs) : undefined;
    return this.#sinceMs !== undefined && nowMs - this.#sinceMs >= WAIT_MS;
  }
}
