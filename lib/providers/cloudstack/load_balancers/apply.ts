/**
 * Carries out one step of a plan.
 * @module
 */
import type { LoadBalancerRecord } from "../../../cloud/capabilities/load_balancers.ts";
import { CloudError } from "../../../cloud/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import { remember } from "../../../core/maps.ts";
import { ApiError, JobOverError } from "../session/errors.ts";
import { INTERNAL } from "../session/refusal.ts";
import type { ObserverSource } from "./observer.ts";
import type { Acts, Change, ChangeOf, Step } from "./steps.ts";
import { createAclItem, deleteAclItem, updateAclItem } from "./acl.ts";
import { type Acting, type ActingOptions, RecordWriter } from "./acting.ts";
import { createFirewallRule, deleteFirewallRule } from "./firewall.ts";
import { createPolicy, deletePolicy } from "./stickiness.ts";
import { releaseAddress, tagAddress, takeAddress } from "./address.ts";
import {
  addBackends,
  createRule,
  deleteRule,
  isNotAssigned,
  removeBackends,
  updateRule,
} from "./rule.ts";

/** What an {@linkcode Applier} needs. */
interface ApplierOptions extends ActingOptions {
  readonly source: Pick<ObserverSource, "readBackends">;
  readonly clock: Pick<Clock, "monotonic" | "now">;
}

/** Where and for whom a step is carried out. */
interface ApplyContext extends Pick<Acting, "store" | "projectId"> {
  readonly record: LoadBalancerRecord;
}

/** What a refusal says that differs from the look: an invalid or unknown object, in use, a conflict. */
const DIFFERS: ReadonlySet<number> = new Set([431, 536, 537]);
/** The server does not know a job any more, so it is over. */
const UNKNOWN_JOB = 431;
/** More than Services that are changed at the same time. */
const REFUSED_MAX = 1_000;

/** Carries out steps. Remembers only what was refused. */
export class Applier {
  readonly #options: ApplierOptions;
  /** Steps that CloudStack refused, and whose Service was looked at again. */
  readonly #refused = new Map<string, true>();

  constructor(options: ApplierOptions) {
    this.#options = options;
  }

  /**
   * Carries out one step, and puts what it did into the store. A step that CloudStack refuses because the look is out
   * of date ends without an error, once: the next look says what is to do.
   *
   * @throws {RefusedStepError} when CloudStack refuses it for a reason that a user can end
   * @throws {CloudError} when it failed, or is not over in time
   * @throws {KubeError} when the record cannot be kept
   * @throws {LeadershipLostError} when this process does not lead
   */
  async apply(step: Step, context: ApplyContext, signal: AbortSignal): Promise<void> {
    const { store } = context;
    const { source, clock } = this.#options;
    const startedAtMs = clock.monotonic();
    const record = new RecordWriter(context.record, step, store.recordSigner, signal);
    const acting = { ...this.#options, ...context, record, owner: step.owner, signal };
    const key = `${step.owner.uid} ${step.summary}`;
    try {
      await carryOut(step.change, acting);
    } catch (error) {
      if (!isWithoutEffect(error)) store.invalidate();
      if (error instanceof ApiError) endJob(acting);
      if (!isOutdated(step.change, error) || this.#refused.delete(key)) throw error;
      remember(this.#refused, key, true, REFUSED_MAX);
      // One VM that is gone fails the whole step, and the list of VMs may be older than the look.
      if (step.change.kind === "addBackends") await source.readBackends(startedAtMs, signal);
      return;
    }
    this.#refused.delete(key);
    endJob(acting);
  }
}

/**
 * Notes that the job of the step is over. The record may go on to name it until it is written again: this process knows
 * better, and another one asks CloudStack once.
 */
function endJob({ record, store }: Acting): void {
  const { job } = record.kept;
  if (job !== undefined) store.endJob(job.id);
}

const ACTS: Acts<Acting> = {
  takeAddress,
  tagAddress,
  releaseAddress,
  createRule,
  updateRule,
  deleteRule,
  addBackends,
  removeBackends,
  createFirewallRule,
  deleteFirewallRule,
  createAclItem,
  updateAclItem,
  deleteAclItem,
  createPolicy,
  deletePolicy,
  keepShared: ({ ip }, { record }) => record.keepShared(ip),
  awaitJob,
  forgetRecord: (_change, { record }) => record.clear(),
};

async function carryOut<K extends Change["kind"]>(
  change: ChangeOf<K>,
  acting: Acting,
): Promise<void> {
  const act: Acts<Acting>[K] = ACTS[change.kind];
  await act(change, acting);
}

/** What the job did, the next look shows. */
async function awaitJob({ jobId, command }: ChangeOf<"awaitJob">, acting: Acting): Promise<void> {
  const { session, store, signal } = acting;
  try {
    await session.awaitJob(jobId, command, signal);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === UNKNOWN_JOB)) throw error;
  }
  store.invalidate();
}

/** Whether an error says that nothing was changed, so that the look is as good as before. */
function isWithoutEffect(error: unknown): boolean {
  return error instanceof CloudError && (error.kind === "denied" || error.kind === "throttled");
}

function isOutdated({ kind }: Change, error: unknown): boolean {
  if (error instanceof JobOverError) return true;
  if (!(error instanceof ApiError)) return false;
  // Also that an address has a key already.
  if (kind === "tagAddress" && error.code === INTERNAL) return true;
  return DIFFERS.has(error.code) || (kind === "addBackends" && isNotAssigned(error));
}
