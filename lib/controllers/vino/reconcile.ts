/**
 * Reconciles Vinos: makes their machines, publishes them, and writes the status.
 *
 * It changes nothing in the cloud: machines that are due have reconciles of their own.
 * @module
 */
import { CloudError } from "../../cloud/errors.ts";
import { type Convergence, Converger, type PassResult, type Plan } from "../../engine/converge.ts";
import type { ReconcileResult } from "../../engine/workers.ts";
import { type KubeClient, readIfPresent } from "../../kube/api/client.ts";
import { isKubeError } from "../../kube/api/errors.ts";
import { type Key, type StoreReader, toKey } from "../../kube/cache/store.ts";
import { IpPoolError } from "./addresses/ip_pools.ts";
import {
  DesiredMachines,
  type DesiredMachinesOptions,
  type MachinesResult,
  WAITING_MESSAGE,
} from "./machines/desired_machines.ts";
import type { ReconcileInput } from "./machines/assignment.ts";
import { MachineObjectError } from "./machines/vino_machines.ts";
import { doesExist } from "./hosts/host_facts.ts";
import { describeIdlePools } from "./machines/removal/gone_pools.ts";
import { compareKnown, isBegun } from "./placement/known.ts";
import { readRoles } from "./resource/role_form.ts";
import { isWantedBy } from "./status/machine_status.ts";
import { findCondition } from "../kinds/conditions.ts";
import { describeCause } from "../kinds/problems.ts";
import { checkVino } from "./resource/check_spec.ts";
import { type Vino, VINOES } from "./resource/vino.ts";
import type { MachineEntry, VinoMachine } from "./resource/vino_machine.ts";
import { CONDITION_WORDS } from "./resource/words.ts";
import {
  findObstacle,
  listWarnings,
  type MachinesSummary,
  type Obstacle,
  type Outcome,
} from "./status/status.ts";
import type { VinoWriter } from "./vino_writer.ts";
import { EVENT_WORDS, FINALIZER, GONE_POOLS } from "./words.ts";

/** What a {@linkcode VinoReconciler} needs. */
export interface ReconcilerOptions extends DesiredMachinesOptions {
  readonly client: KubeClient;
  readonly vinoes: Pick<StoreReader<Vino>, "get">;
  readonly writer: VinoWriter;
}

/** How soon to look again at a Vino that the cache shows too late. */
const OUTDATED_PAUSE_MS = 2_000;
/** How often the status is written while machines are being made, in milliseconds. */
const PROGRESS_MS = 5_000;

/** Reconciles Vinos. */
export class VinoReconciler {
  readonly #options: ReconcilerOptions;
  readonly #converger: Converger;
  readonly #known = new Map<Key, KnownVino>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#converger = new Converger(options);
  }

  /** Forgets a Vino that is gone. */
  forget(key: Key): void {
    const { hosts, objects, writer } = this.#options;
    writer.forget(key);
    const known = this.#known.get(key);
    if (known) hosts.forget(known.uid);
    if (known) objects.forget(known.uid);
    this.#known.delete(key);
  }

  /**
   * Does all that one Vino needs.
   *
   * @throws {CloudError} of the cloud, and {@linkcode KubeError} of Kubernetes
   */
  async reconcile(key: Key, signal: AbortSignal): Promise<ReconcileResult> {
    const vino = this.#options.vinoes.get(key);
    if (vino === undefined) return {};
    const known = this.#toKnown(key, vino.metadata.uid ?? "");
    const options = { ...this.#options, known, signal };
    return await this.#converger.reconcile(new VinoConvergence(vino, options), signal);
  }

  #toKnown(key: Key, uid: string): KnownVino {
    const known = this.#known.get(key);
    if (known?.uid === uid) return known;
    // Another Vino had the name.
    if (known !== undefined) this.forget(key);
    const machines = new DesiredMachines(uid, this.#options);
    const added: KnownVino = { uid, machines, work: undefined };
    this.#known.set(key, added);
    return added;
  }
}

/** What is remembered of a Vino. */
interface KnownVino {
  readonly uid: string;
  readonly machines: DesiredMachines;
  /** Since its machines are worked on. Absent: none is. */
  work: Work | undefined;
}

/** The work on a Vino, from its start until none of its machines is worked on. */
interface Work {
  /** The generation that the API server confirmed. */
  confirmed?: number;
  /** When the status was written last. */
  writtenMs: number;
}

/** The cache shows a Vino that was changed, deleted or made again. The watch brings the new one. */
class OutdatedError extends Error {
  override readonly name = "OutdatedError";
  constructor(key: Key) {
    super(`Cannot change anything: the watch has not shown yet what became of Vino "${key}"`);
  }
}

/** What a {@linkcode VinoConvergence} needs. */
interface VinoConvergenceOptions extends ReconcilerOptions {
  readonly known: KnownVino;
  readonly signal: AbortSignal;
}

/**
 * What to do for a Vino. `adopt`: it must get the finalizer before the first machine. `unusable`: its spec says too
 * little, or something wrong.
 */
type Task =
  | { readonly kind: "adopt"; readonly vino: Vino }
  | { readonly kind: "unusable"; readonly vino: Vino; readonly outcome: Outcome }
  | ({ readonly kind: "serve" | "release" } & ReconcileInput);

/** The work on one Vino: its newest state, and whether it is proven current. */
class VinoConvergence implements Convergence<Task, undefined> {
  readonly #key: Key;
  readonly #uid: string | undefined;
  readonly #options: VinoConvergenceOptions;
  #found: { readonly vino: Vino; readonly task: Task | undefined } | undefined;
  readonly #work: Work;

  constructor(vino: Vino, options: VinoConvergenceOptions) {
    const { known, clock } = options;
    this.#key = toKey(vino);
    this.#uid = vino.metadata.uid;
    this.#options = options;
    this.#work = known.work ?? { writtenMs: clock.monotonic() };
    known.work = undefined;
  }

  /** Another object of the same name has its own reconcile. */
  find(): Task | undefined {
    const vino = this.#findVino();
    if (vino === undefined) return undefined;
    // The cache replaces objects, and to check a spec takes long.
    if (this.#found?.vino !== vino) this.#found = { vino, task: toTask(vino) };
    return this.#found.task;
  }

  async prepare(task: Task): Promise<PassResult | undefined> {
    const { writer, signal } = this.#options;
    const { kind, vino } = task;
    if (kind === "adopt") {
      await writer.setFinalizers(vino, [...(vino.metadata.finalizers ?? []), FINALIZER], signal);
      return "again";
    }
    if (kind === "unusable") {
      await this.#write(vino, task.outcome);
      return {};
    }
    return kind === "serve" || (await this.#requireCurrent(vino)) ? undefined : "again";
  }

  async observe(): Promise<undefined> {
    return undefined;
  }

  /** Each machine has its own plan. */
  plan(): Plan<never> {
    return { steps: [] };
  }

  async apply(): Promise<void> {}

  async report({ task }: { readonly task: Task }): Promise<PassResult> {
    if (task.kind !== "serve" && task.kind !== "release") return {};
    const { vino, desired } = task;
    const result = await this.#advance(task);
    if (result.kind === "again") return "again";
    if (result.kind === "refused") {
      if (desired) await this.#write(vino, { ...result, spec: desired.spec });
      return {};
    }
    const newest = this.#findSame(vino);
    // What was found is about another spec.
    if (newest === undefined) return "again";
    if (desired === undefined) return await this.#reportRelease(newest, task, result);
    const isDue = this.#options.clock.monotonic() - this.#work.writtenMs >= PROGRESS_MS;
    if (result.hasGone || ((isDue || !result.isMoving) && isNews(newest, result))) {
      await this.#writeSummary(newest, result, (summary) => ({
        kind: "served",
        spec: desired.spec,
        summary,
      }));
    }
    return this.#toPassResult(result);
  }

  /** Says in the status that the cloud does not answer, or what Kubernetes refuses, before the back-off. */
  async fail(error: unknown): Promise<ReconcileResult | undefined> {
    // The watch brings the newer Vino, or its end, mostly at once.
    if (error instanceof OutdatedError) return { requeueAfterMs: OUTDATED_PAUSE_MS };
    const why = findWhy(error);
    const vino = this.#findVino();
    const outcome = vino && why && toFailure(vino, why, describeCause(error));
    try {
      if (outcome) await this.#write(vino, outcome);
    } catch {
      // The other error is the one to show; the next try writes again.
    }
    return undefined;
  }

  /** Hosts go first, then machines, then the finalizer. */
  async #reportRelease(
    vino: Vino,
    { deletes }: ReconcileInput,
    result: Extract<MachinesResult, { kind: "done" }>,
  ): Promise<PassResult> {
    const { writer, machineEvents, objects, signal } = this.#options;
    const { isOver, isWithoutCloud = false } = result;
    if (!result.hasGone && !isNews(vino, result)) return this.#toPassResult(result);
    await this.#writeSummary(vino, result, (summary) => {
      const found = findObstacle(summary);
      const isLimit = summary.limit !== undefined;
      const obstacle = found && !deletes && !isLimit ? `${found}. ${WAITING_MESSAGE}` : found;
      if (obstacle !== undefined) writer.warn(vino, EVENT_WORDS.removalBlocked, obstacle);
      return {
        kind: "deleting",
        summary,
        keepsMachines: !deletes,
        isWithoutCloud,
        ...(obstacle !== undefined && { obstacle }),
      };
    });
    if (!isOver) return this.#toPassResult(result);
    if (!deletes) machineEvents.recordEnd(vino, result.names, isWithoutCloud);
    await objects.release(vino, () => true, signal);
    const others = (vino.metadata.finalizers ?? []).filter((one) => one !== FINALIZER);
    await writer.setFinalizers(this.#findVino() ?? vino, others, signal);
    return {};
  }

  async #advance(input: ReconcileInput): Promise<MachinesResult> {
    const { vino } = input;
    return await this.#options.known.machines.advance(input, {
      signal: this.#options.signal,
      confirm: async () => (await this.#requireCurrent(vino)) && this.#findSame(vino) !== undefined,
    });
  }

  /** When to reconcile again. */
  #toPassResult({
    isMoving,
    isDoubtful,
    hasGone,
    nextMs,
  }: Extract<MachinesResult, { kind: "done" }>): PassResult {
    // What is gone makes room for others.
    if (hasGone) return "again";
    if (isMoving) this.#options.known.work = this.#work;
    const againMs = isMoving ? Math.min(nextMs, PROGRESS_MS) : nextMs;
    return {
      ...(Number.isFinite(againMs) && { requeueAfterMs: againMs }),
      // To hand machines over is no success: the back-off goes on if they fail as before.
      ...(isDoubtful && { isPending: true }),
    };
  }

  /** The Vino as it is now. `undefined`: it is gone, or another one has its name. */
  #findVino(): Vino | undefined {
    const vino = this.#options.vinoes.get(this.#key);
    return vino?.metadata.uid === this.#uid ? vino : undefined;
  }

  /** The Vino as it is now, if it still has the spec of another state of it. */
  #findSame({ metadata: { generation } }: Vino): Vino | undefined {
    const vino = this.#findVino();
    return vino?.metadata.generation === generation ? vino : undefined;
  }

  /**
   * Reads the Vino once for each of its specs.
   *
   * @returns Whether nothing differs. If not, the cache has the newest state from now on
   * @throws {OutdatedError} if it is another one now, or has another spec
   */
  async #requireCurrent(vino: Vino): Promise<boolean> {
    const { client, signal } = this.#options;
    const { namespace = "", name, uid, generation = 0 } = vino.metadata;
    if (this.#work.confirmed === generation) return true;
    const known = this.#findVino();
    // What follows may destroy a machine, and the watch may be late.
    const current = await readIfPresent(client, VINOES, { namespace, name }, signal);
    const { metadata } = current ?? {};
    if (current === undefined || metadata?.uid !== uid || metadata?.generation !== generation) {
      throw new OutdatedError(this.#key);
    }
    this.#work.confirmed = generation;
    return current.metadata.resourceVersion === known?.metadata.resourceVersion;
  }

  /** A machine that is gone counts as removed in the status of the Vino before its object goes. */
  async #writeSummary(
    vino: Vino,
    result: Extract<MachinesResult, { kind: "done" }>,
    toOutcome: (summary: MachinesSummary) => Outcome,
  ): Promise<void> {
    const { known, objects, signal } = this.#options;
    const names = new Set(result.names);
    const isOver = (entry: MachineEntry): boolean =>
      !names.has(entry.name) && (!isBegun(entry) || known.machines.isGone(entry.name));
    await this.#write(vino, toOutcome(this.#summarize(vino, result, isOver)));
    await objects.release(vino, isOver, signal);
  }

  /** @param isOver Whether nothing is to be said about a machine any more */
  #summarize(
    vino: Vino,
    { decided, view }: Extract<MachinesResult, { kind: "done" }>,
    isOver: (entry: MachineEntry) => boolean,
  ): MachinesSummary {
    const { hosts, objects } = this.#options;
    const { annotations = {}, namespace = "" } = vino.metadata;
    const entries = objects.listEntries(vino).filter((one) => !isOver(one));
    const machines = entries.toSorted(compareKnown).flatMap((one): VinoMachine[] => {
      const object = objects.find(vino, one);
      return object ? [object] : [];
    });
    const idle = describeIdlePools(annotations[GONE_POOLS], view.pools, machines);
    return {
      ...decided,
      machines,
      notices: [...decided.notices, ...idle],
      hostErrors: machines.flatMap(({ metadata: { name }, status = {} }) => {
        const error = hosts.find(namespace, name)?.error;
        const isTold = isWantedBy(status) && doesExist(status.bareMetalHost);
        return error === undefined || !isTold ? [] : [{ name, error }];
      }),
    };
  }

  async #write(vino: Vino, outcome: Outcome): Promise<void> {
    const { clock, objects, signal, writer } = this.#options;
    this.#work.writtenMs = clock.monotonic();
    for (const { word, message } of listWarnings(outcome)) {
      writer.warn(vino, EVENT_WORDS[word], message);
    }
    objects.warnLeaving(vino);
    await writer.writeOutcome(vino, outcome, signal);
  }
}

function toTask(vino: Vino): Task | undefined {
  const { deletionTimestamp, finalizers = [] } = vino.metadata;
  const isOurs = finalizers.includes(FINALIZER);
  if (deletionTimestamp !== undefined) {
    return isOurs ? { kind: "release", vino, deletes: deletesMachines(vino) } : undefined;
  }
  const checked = checkVino(vino);
  if (!checked.isValid) {
    return { kind: "unusable", vino, outcome: { kind: "invalid", problems: checked.problems } };
  }
  const { spec } = checked;
  const read = readRoles(spec);
  if (!read.isComplete) {
    return { kind: "unusable", vino, outcome: { kind: "incomplete", spec, missing: read.missing } };
  }
  if (!isOurs) return { kind: "adopt", vino };
  const desired = { spec, roles: read.roles };
  return { kind: "serve", vino, desired, deletes: deletesMachines(vino) };
}

/** Whether a report says more than the status. One that says what stopped the work counts until some work succeeds. */
function isNews(
  { status }: Vino,
  { isDoubtful }: Extract<MachinesResult, { kind: "done" }>,
): boolean {
  const { silent, forbidden, objectRefused, poolsRefused } = CONDITION_WORDS.MachinesReady;
  const stops = [silent, forbidden, objectRefused, poolsRefused];
  const reason = findCondition(status, "MachinesReady")?.reason;
  return !isDoubtful || !stops.some((one) => one.reason === reason);
}

/** What an error of a reconcile says about the whole Vino. `undefined`: it ends by itself. */
function findWhy(error: unknown): Obstacle | undefined {
  if (error instanceof CloudError) return "silent";
  if (error instanceof IpPoolError) return "poolsRefused";
  if (error instanceof MachineObjectError) return "objectRefused";
  return isKubeError(error, "forbidden") ? "forbidden" : undefined;
}

/** `undefined`: the spec cannot be used, which the status says. @param message A sentence without a full stop */
function toFailure(vino: Vino, why: Obstacle, message: string): Outcome | undefined {
  if (vino.metadata.deletionTimestamp !== undefined) {
    const isPatient = why === "silent" && !deletesMachines(vino);
    return {
      kind: "deleting",
      why,
      obstacle: isPatient ? `${message}. ${WAITING_MESSAGE}` : message,
    };
  }
  const checked = checkVino(vino);
  if (!checked.isValid) return undefined;
  return { kind: "refused", spec: checked.spec, why, message };
}

function deletesMachines({ spec }: Vino): boolean {
  return spec?.xenOrchestra?.deletionPolicy === "Delete";
}
