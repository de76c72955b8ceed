/**
 * What the machines of one Vino are to become: decides how many and where, gives them addresses, and hands each over
 * of which something is due. Changes nothing in the cloud itself.
 * @module
 */
import type { MachineMac } from "../../../cloud/capabilities/machine_power.ts";
import { type MachinesView, toMachineName } from "../../../cloud/capabilities/machines.ts";
import { CloudError } from "../../../cloud/errors.ts";
import type { Addresses } from "../addresses/types.ts";
import { toHostName } from "../hosts/names.ts";
import type { KnownMachine } from "../placement/known.ts";
import { type Snapshot, type SnapshotResult, takeSnapshot } from "../placement/snapshot.ts";
import type { MachineLine, MachinesSummary } from "../status/status.ts";
import { PUBLISH_AGAIN } from "../hosts/words.ts";
import type { HostFacts } from "../hosts/host_facts.ts";
import type { Vino } from "../resource/vino.ts";
import type { ReconcileInput } from "./assignment.ts";
import { findHostUse, findOwnHost, toHostRequest } from "./publish_hosts.ts";
import { type Basis, MachineGroup, type MachineWork, type WorkList } from "./work_list.ts";
import { decideRemovals, Removals } from "./removal/removals.ts";
import { ProgressTracker, pickDue } from "./steps/progress_tracker.ts";
import {
  type MachineTask,
  toMachineRequests,
  type Assignment,
  assignWanted,
  toRemovalTask,
  toOwner,
} from "./steps/tasks.ts";
import type { MachineReconcilerOptions, ReconcileContext } from "./types.ts";
import type { Clock } from "../../../core/clock.ts";

/** What is to be said besides what the objects of the machines say. */
type Decided = Omit<MachinesSummary, "hostErrors" | "machines">;

/** What the machines came to. */
export type MachinesResult =
  | Extract<SnapshotResult, { kind: "refused" }>
  /** Something changed meanwhile: look again at once. */
  | { readonly kind: "again" }
  | {
      readonly kind: "done";
      /** Names of the machines that are wanted, or that must go and may exist. */
      readonly names: readonly string[];
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
const NOTHING_WANTED: Wanted = { assignments: [], tasks: [], addresses: NO_ADDRESSES };
/** What there is to see of a cloud that does not answer. */
const NO_VIEW: MachinesView = {
  observedAtMs: -Infinity,
  isForChange: false,
  pools: [],
  hosts: [],
  machines: new Map(),
};

/** The machines that must exist. */
interface Wanted {
  readonly assignments: readonly Assignment[];
  /** Those of them on which there may be something to do. */
  readonly tasks: readonly MachineTask[];
  readonly addresses: Addresses;
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
    const limit = await this.#removals.findLimit(input, snapshot, signal);
    const isHostGone = (one: KnownMachine): boolean => this.#isHostGone(input, snapshot, one);
    const removal = await this.#removals.decide(input, snapshot, { limit, isHostGone }, signal);
    const leaving = removal.assignments.flatMap(({ task }) => task ?? []);
    this.#review(input, leaving, snapshot);
    this.#tracker.keepOnly(new Set([...wanted.tasks, ...leaving].map(({ name }) => name)));
    if (keepsAll(input) && !this.#isBusy(snapshot)) {
      const soFar = await this.#removals.findEnd(input, snapshot, removal, signal);
      if (this.#deadline.hasPassed(soFar === "unclear")) {
        return await this.#advanceWithoutCloud(input, context);
      }
    }
    const tasks = [...wanted.tasks, ...removal.tasks];
    const assignments = [...wanted.assignments, ...removal.assignments];
    const works = await this.#handOver({ input, snapshot, assignments, tasks }, context);
    if (works === undefined) return { kind: "again" };
    // What ended meanwhile may have been seen for another goal, which proves nothing.
    this.#review(input, removal.tasks, snapshot);
    const isMoving = this.#isBusy(snapshot);
    const hasGone = await this.#removals.noteGone(input, removal.tasks, signal);
    const end = isMoving ? "open" : await this.#removals.findEnd(input, snapshot, removal, signal);
    const isHeld = input.desired === undefined && limit !== undefined;
    const endMs = end === "unlisted" ? RECHECK_MS : isHeld ? NAMESPACE_MS : Infinity;
    const nextMs = Math.min(endMs, this.#toNextMs(input, tasks, works));
    const isOver = end === "over";
    const isDoubtful = (this.#group.isWorking || this.#group.hasFailed) && !this.#group.hasAnswered;
    const said = this.#sumUp(input, snapshot, { wanted, works, limit });
    return { kind: "done", ...said, isMoving, isDoubtful, hasGone, isOver, nextMs };
  }

  /**
   * Takes back the hosts of a Vino that keeps its machines, without the cloud. Machines and addresses stay as they are:
   * nothing says which are free.
   */
  async #advanceWithoutCloud(
    asked: ReconcileInput,
    context: ReconcileContext,
  ): Promise<MachinesResult> {
    const input = { ...asked, isWithoutCloud: true };
    const result = this.#takeSnapshot(input, NO_VIEW);
    if (result.kind === "refused") return result;
    const { snapshot } = result;
    const { surplus } = snapshot.placement;
    const isHostGone = (one: KnownMachine): boolean => this.#isHostGone(input, snapshot, one);
    const question = { surplus, isHostGone, deletes: false, limit: undefined };
    const decision = decideRemovals({ ...question, isWithoutCloud: true }, (one) =>
      toRemovalTask(snapshot.owner, one),
    );
    const wanted = NOTHING_WANTED;
    const { assignments } = decision;
    const works = await this.#handOver({ input, snapshot, assignments, tasks: [] }, context);
    if (works === undefined) return { kind: "again" };
    const said = this.#sumUp(input, snapshot, { wanted, works, limit: undefined });
    const isMoving = this.#isBusy(snapshot);
    const isOver = decision.isDrained && !isMoving;
    const silence = { isDoubtful: false, hasGone: false, isWithoutCloud: true } as const;
    const nextMs = this.#toNextMs(input, [], works);
    return { kind: "done", ...said, isMoving, ...silence, isOver, nextMs };
  }

  /** Whether anything is done for machines. */
  #isBusy({ owner }: Snapshot): boolean {
    return this.#options.work.isBusy(owner.uid);
  }

  #isHostGone({ vino }: ReconcileInput, { owner }: Snapshot, machine: KnownMachine): boolean {
    const said = machine.entry?.bareMetalHost;
    return this.#options.hosts.isGone(toHostRequest(vino, owner, machine, said));
  }

  /**
   * Hands over the machines that are due, and those whose hosts or objects do not follow yet from what is known.
   *
   * @returns All machines. `undefined` if some are to go or change, and the Vino changed meanwhile
   */
  async #handOver(
    { input, snapshot, assignments, tasks }: HandOver,
    context: ReconcileContext,
  ): Promise<readonly MachineWork[] | undefined> {
    const { objects, work } = this.#options;
    const names = new Set(tasks.map(({ name }) => name));
    const others = work.listWorking(snapshot.owner.uid).filter((name) => !names.has(name));
    const machinesMax = this.#options.machinesMax - others.length;
    const open = tasks.filter(({ identity }) => !objects.isHeld(input.vino, identity));
    const picked = this.#group.takesMore ? pickDue(open, { ...this.#options, machinesMax }) : [];
    const due = new Set(picked.map(({ name }) => name));
    const works = assignments.map((assignment): MachineWork => {
      const mayStep = due.has(assignment.name);
      const basis = this.#toBasis(input, snapshot, assignment);
      return { input, snapshot, assignment, group: this.#group, mayStep, basis };
    });
    const started = works.filter(({ assignment, mayStep, basis }) => {
      if (mayStep) return true;
      const isIdle = this.#group.isDone(assignment.name, basis);
      return isShown(assignment) && !isIdle && !objects.isHeld(input.vino, assignment);
    });
    const isChange = due.size > 0 || started.some((one) => this.#takesHost(one));
    if (isChange && !(await context.confirm())) return undefined;
    this.#options.work.start(started);
    return works;
  }

  /** What the host and the object of a machine follow from, besides the progress of the work on it. */
  #toBasis({ vino }: ReconcileInput, { view }: Snapshot, assignment: Assignment): Basis {
    const { generation, annotations = {} } = vino.metadata;
    const host = this.#findHost(vino, assignment);
    return {
      decision: [generation, ...toDecision(assignment)],
      facts: [
        view.observedAtMs,
        annotations[PUBLISH_AGAIN],
        host && { ...host, resourceVersion: "" },
      ],
    };
  }

  #findHost({ metadata }: Vino, assignment: Assignment): HostFacts | undefined {
    const { role, index } = assignment;
    const name = toHostName({ vino: metadata.name, role, index });
    return this.#options.hosts.find(metadata.namespace ?? "", name);
  }

  /** Whether a host that nothing uses is about to go. */
  #takesHost({ input: { vino }, assignment }: MachineWork): boolean {
    if (assignment.isWanted || assignment.heldBy !== undefined) return false;
    const host = findOwnHost(this.#options.hosts, vino, assignment);
    return host !== undefined && host.use === undefined;
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
    const assignments = assignWanted(snapshot, { ...desired, addresses, hasBmc });
    const tasks = assignments.flatMap(({ task }) => task ?? []);
    this.#review(input, tasks, snapshot);
    return { assignments, tasks, addresses };
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

  #sumUp(
    { vino }: ReconcileInput,
    { placement, owner, view }: Snapshot,
    {
      wanted: { tasks, addresses },
      works,
      limit,
    }: {
      readonly wanted: Wanted;
      readonly works: readonly MachineWork[];
      readonly limit: string | undefined;
    },
  ): Pick<Extract<MachinesResult, { kind: "done" }>, "decided" | "names" | "view"> {
    const { wantedCount, shortages } = placement;
    const wanted = new Set(placement.wanted.map((one) => toMachineName({ owner, ...one })));
    const said = works.filter(({ assignment }) => isShown(assignment));
    const names = said.map(({ assignment }) => assignment.name);
    const decided = {
      wantedCount,
      shortages,
      ...describeAddresses(addresses, wanted),
      displaced: tasks.flatMap(({ name, identity }): MachineLine[] => {
        const { failure } = this.#tracker.find(name) ?? {};
        const isHere = this.#options.objects.findForeign(vino, identity) === undefined;
        return isHere || failure?.kind !== "decision" ? [] : [{ name, message: failure.message }];
      }),
      changing: new Set(
        said.flatMap(({ assignment: { name }, basis }) =>
          this.#group.isChanging(name, basis) ? [name] : [],
        ),
      ),
      notices: [...placement.notices, ...addresses.notices],
      refusals: said.flatMap(
        ({ assignment }) => this.#options.objects.findRefusal(vino, assignment) ?? [],
      ),
      limit,
      removals: this.#removals.listRecent(),
    };
    const gone = names.filter((name) => !this.#tracker.sightings.isGone(name));
    return { names: gone, decided, view };
  }

  /** When the first of these machines is due, in milliseconds from now. What is due already waits for another one. */
  #toNextMs(
    { vino }: ReconcileInput,
    tasks: readonly MachineTask[],
    works: readonly MachineWork[],
  ): number {
    const nowMs = this.#options.clock.monotonic();
    const dueMs = tasks.map(({ name }) => this.#tracker.find(name)?.dueMs ?? Infinity);
    const names = new Set(works.map(({ assignment }) => assignment.name));
    const steps = Math.min(...dueMs.filter((ms) => ms > nowMs)) - nowMs;
    const retryMs = this.#options.objects.toRetryMs(vino);
    return Math.min(steps, retryMs, this.#group.toNextMs(names));
  }
}

/** Machines to hand over. */
interface HandOver {
  readonly input: ReconcileInput;
  readonly snapshot: Snapshot;
  readonly assignments: readonly Assignment[];
  /** Those of which steps may be made, in the order in which they are to be made. */
  readonly tasks: readonly MachineTask[];
}

/** Whether a machine has an object, or gets one. Of others, only addresses are known. */
function isShown({ isWanted, known }: Assignment): boolean {
  return isWanted || known !== undefined;
}

/** What was decided about a machine, without what is known of it. */
function toDecision({
  isWanted,
  task,
  hostId,
  heldBy,
  differs,
  keptBecause,
}: Assignment): readonly unknown[] {
  return [isWanted, task?.goal, task?.start, hostId, heldBy, differs, keptBecause];
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
