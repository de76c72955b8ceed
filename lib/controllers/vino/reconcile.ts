/**
 * Reconciles one Vino: makes its machines, publishes them, and writes the status, step by step until nothing is left.
 * @module
 */
import { CloudError } from "../../cloud/errors.ts";
import { describeError } from "../../core/errors.ts";
import { LeadershipLostError } from "../../core/fence.ts";
import type { ReconcileResult } from "../../engine/workers.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import type { Key, StoreReader } from "../../kube/cache/store.ts";
import { IpPoolError } from "./addresses/pools/pool_error.ts";
import { Attempt, OutdatedError } from "./attempt.ts";
import { type MachinesResult, MachineReconciler } from "./machines/machine_reconciler.ts";
import type { MachineReconcilerOptions, ReconcileInput } from "./machines/types.ts";
import { WAITING_MESSAGE } from "./machines/removal/cloud_deadline.ts";
import { readRoles } from "./placement/roles.ts";
import { checkVino } from "./resource/check_spec.ts";
import type { Vino, VinoSpec } from "./resource/vino.ts";
import type { MachinesReport, Outcome } from "./status/outcome.ts";
import { findWarning } from "./status/warning.ts";
import type { VinoWriter } from "./vino_writer.ts";
import { EVENT_WORDS, FINALIZER } from "./words.ts";

/** What a {@linkcode VinoReconciler} needs. */
interface ReconcilerOptions extends MachineReconcilerOptions {
  readonly client: KubeClient;
  readonly vinoes: Pick<StoreReader<Vino>, "get">;
  readonly writer: VinoWriter;
}

/** More than the largest Vino needs: a thousand machines with ten rounds each, if every round has only one machine. */
const ROUNDS_MAX = 10_000;

/** How soon to look again at a Vino that the cache shows too late. */
const OUTDATED_PAUSE_MS = 2_000;

/** Reconciles Vinos. */
export class VinoReconciler {
  readonly #options: ReconcilerOptions;
  readonly #reconcilers = new Map<
    Key,
    { readonly uid: string; readonly reconciler: MachineReconciler }
  >();
  readonly #last = new Map<Key, Outcome>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  /** What the last reconcile of each Vino came to. */
  get last(): ReadonlyMap<Key, Outcome> {
    return this.#last;
  }

  /** Forgets a Vino that is gone. */
  forget(key: Key): void {
    this.#options.writer.forget(key);
    this.#options.machineEvents.forget(key);
    const reconciler = this.#reconcilers.get(key);
    if (reconciler) this.#options.hosts.forget(reconciler.uid);
    this.#reconcilers.delete(key);
    this.#last.delete(key);
  }

  /**
   * Does all that one Vino needs.
   *
   * @throws {CloudError} of the cloud, and {@linkcode KubeError} of Kubernetes
   */
  async reconcile(key: Key, signal: AbortSignal): Promise<ReconcileResult> {
    const vino = this.#options.vinoes.get(key);
    if (vino === undefined) return {};
    const attempt = new Attempt(key, vino, this.#options, signal);
    try {
      for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
        const result = await this.#advance(attempt);
        if (result !== undefined) return result;
        signal.throwIfAborted();
      }
      throw new Error(`more than ${ROUNDS_MAX} rounds; trying again later`);
    } catch (error) {
      // The watch brings the newer Vino, or its end, mostly at once.
      if (error instanceof OutdatedError) return { requeueAfterMs: OUTDATED_PAUSE_MS };
      // The next leader goes on.
      const isOver = signal.aborted || error instanceof LeadershipLostError;
      if (!isOver) await this.#noteFailure(attempt, error);
      throw error;
    }
  }

  /** @returns The result, if there is nothing more to do at once */
  async #advance(attempt: Attempt): Promise<ReconcileResult | undefined> {
    const { writer } = this.#options;
    const { signal } = attempt;
    const vino = attempt.find();
    // Another object of the same name, or none: it has its own reconcile.
    if (vino === undefined) return {};
    const { deletionTimestamp, finalizers = [] } = vino.metadata;
    if (deletionTimestamp !== undefined) return await this.#finalize(vino, attempt);
    const checked = checkVino(vino);
    if (!checked.isValid) {
      await this.#write(vino, { kind: "invalid", problems: checked.problems }, attempt);
      return {};
    }
    const { spec } = checked;
    const read = readRoles(spec);
    if (!read.isComplete) {
      await this.#write(vino, { kind: "incomplete", spec, missing: read.missing }, attempt);
      return {};
    }
    if (!finalizers.includes(FINALIZER)) {
      // Before the first machine: without it, a deletion would leave machines.
      await writer.setFinalizers(vino, [...finalizers, FINALIZER], signal);
      return undefined;
    }
    const deletes = spec.xenOrchestra?.deletionPolicy === "Delete";
    const result = await this.#reconcileMachines(
      { vino, desired: { spec, roles: read.roles }, deletes },
      attempt,
    );
    if (result.kind === "again") return undefined;
    if (result.kind === "refused") {
      await this.#write(vino, { ...result, spec }, attempt);
      return {};
    }
    const newest = attempt.findSame(vino);
    // What was found is about another spec.
    if (newest === undefined) return undefined;
    if (!result.isMoving || result.hasGone || attempt.isProgressDue()) {
      await this.#writeReport(newest, spec, result.report, attempt);
    }
    return toReconcileResult(result);
  }

  /** Hosts first, then machines, then the finalizer. */
  async #finalize(vino: Vino, attempt: Attempt): Promise<ReconcileResult | undefined> {
    const { writer } = this.#options;
    const { finalizers = [] } = vino.metadata;
    if (!finalizers.includes(FINALIZER)) return {};
    if (!(await attempt.requireCurrent(vino))) return undefined;
    const deletes = deletesMachines(vino);
    const result = await this.#reconcileMachines({ vino, deletes }, attempt);
    if (result.kind === "again") return undefined;
    if (result.kind === "refused") return {};
    const { report, isOver, isWithoutCloud = false } = result;
    const newest = attempt.findSame(vino);
    if (newest === undefined) return undefined;
    const obstacle = findObstacle(report, deletes);
    if (obstacle !== undefined) writer.warn(newest, EVENT_WORDS.removalBlocked, obstacle);
    this.#options.machineEvents.recordChanges(newest, report);
    const outcome: Outcome = {
      kind: "deleting",
      report,
      keepsMachines: !deletes,
      isWithoutCloud,
      ...(obstacle !== undefined && { obstacle }),
    };
    await this.#write(newest, outcome, attempt);
    if (isOver) {
      if (!deletes) this.#options.machineEvents.recordEnd(newest, report, isWithoutCloud);
      const last = attempt.find() ?? newest;
      const others = finalizers.filter((one) => one !== FINALIZER);
      await writer.setFinalizers(last, others, attempt.signal);
      return {};
    }
    return toReconcileResult(result);
  }

  async #reconcileMachines(input: ReconcileInput, attempt: Attempt): Promise<MachinesResult> {
    const { desired } = input;
    return await this.#toMachineReconciler(attempt).advance(input, {
      signal: attempt.signal,
      records: attempt.records,
      confirm: async () => {
        const isCurrent = await attempt.requireCurrent(input.vino);
        return isCurrent && attempt.findSame(input.vino) !== undefined;
      },
      announce: async (report) => {
        const vino = attempt.findSame(input.vino);
        if (vino === undefined) return false;
        if (desired) await this.#writeReport(vino, desired.spec, report, attempt);
        return true;
      },
    });
  }

  #toMachineReconciler({ key, uid }: Attempt): MachineReconciler {
    const known = this.#reconcilers.get(key);
    if (known?.uid === uid) return known.reconciler;
    const reconciler = new MachineReconciler(this.#options);
    this.#reconcilers.set(key, { uid, reconciler });
    return reconciler;
  }

  async #writeReport(
    vino: Vino,
    spec: VinoSpec,
    report: MachinesReport,
    attempt: Attempt,
  ): Promise<void> {
    this.#options.machineEvents.recordChanges(vino, report);
    await this.#write(vino, { kind: "served", spec, report }, attempt);
  }

  async #write(vino: Vino, outcome: Outcome, attempt: Attempt): Promise<void> {
    this.#last.set(attempt.key, outcome);
    attempt.noteWrite();
    const { writer } = this.#options;
    const warning = findWarning(outcome);
    if (warning) writer.warn(vino, EVENT_WORDS[warning.word], warning.message);
    await writer.writeOutcome(vino, outcome, attempt.records.texts, attempt.signal);
  }

  /** Says in the status that the cloud does not answer, or that Kubernetes refuses IPPools, before the back-off. */
  async #noteFailure(attempt: Attempt, error: unknown): Promise<void> {
    const why = error instanceof CloudError ? "silent" : "poolsRefused";
    if (why === "poolsRefused" && !(error instanceof IpPoolError)) return;
    const vino = attempt.find();
    const outcome = vino && toFailure(vino, why, describeError(error));
    // This error is the one to show; the next try writes again.
    if (outcome) await this.#write(vino, outcome, attempt).catch(() => undefined);
  }
}

/** When to reconcile again. `undefined`: at once. */
function toReconcileResult({
  isMoving,
  nextMs,
}: {
  readonly isMoving: boolean;
  readonly nextMs: number;
}): ReconcileResult | undefined {
  if (isMoving) return undefined;
  return Number.isFinite(nextMs) ? { requeueAfterMs: nextMs } : {};
}

/** Why the end of a Vino does not go on; no full stop. `undefined`: it does. */
function findObstacle(
  { contraction, machines }: MachinesReport,
  deletes: boolean,
): string | undefined {
  if (contraction !== undefined) return contraction.message;
  for (const { entry, problems } of machines) {
    const problem = problems.find(({ kind }) => kind !== "notice");
    if (problem === undefined) continue;
    const what = `${entry.name}: ${problem.message}`;
    return deletes ? what : `${what}. ${WAITING_MESSAGE}`;
  }
  return undefined;
}

/** `undefined`: the spec cannot be used, which the status says. @param message A sentence without a full stop */
function toFailure(
  vino: Vino,
  why: "poolsRefused" | "silent",
  message: string,
): Outcome | undefined {
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
