/**
 * Waits for jobs of CloudStack: one poller asks about all of them.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import { abortable, type Clock, Sleeper, startDeadline, toBackoffMs } from "../../../core/clock.ts";
import { remember } from "../../../core/maps.ts";
import { ApiError, JobOverError } from "./errors.ts";
import { isFields } from "../../../core/text/values.ts";
import { SCHEMAS } from "../wire/schema.ts";
import { INTERNAL } from "./refusal.ts";
import { type Body, toObject } from "./reply.ts";

/** What the server says about a job: `undefined` while it runs. */
export type JobOutcome =
  { readonly result: unknown } | { readonly failure: CloudError } | undefined;

/** Asks about one job. @throws {CloudError} when there is no answer */
type AskJob = (jobId: string, signal: AbortSignal) => Promise<JobOutcome>;

/** What {@linkcode Jobs} needs. */
interface JobsOptions {
  readonly ask: AskJob;
  readonly clock: Clock;
  /** Ends the poller, and every start of a job. */
  readonly signal: AbortSignal;
  /** Source of randomness in [0, 1). @default {Math.random} */
  readonly random?: () => number;
}

/** What a caller wants to know of its job before it is over. If one rejects, the wait ends with its error. */
export interface JobHooks {
  /** Called with the ID of what the job makes or changes, if the server says it. The wait begins after it. */
  readonly onObject?: ((objectId: string) => void | Promise<void>) | undefined;
  /** Called once if the job is not over soon: it may outlive this process. */
  readonly onSlow?: ((job: StartedJob) => Promise<void>) | undefined;
}

/** A job that the server has started. */
export interface StartedJob {
  readonly jobId: string;
  /** What it makes or changes, if the server said it. */
  readonly objectId?: string | undefined;
}

/** A change that the server may carry out as a job. */
export interface Work {
  /** The same for the same change: while its job is not over, it is not started again. */
  readonly key: string;
  /** As the API calls it, for messages. */
  readonly command: string;
  /** Starts it, with a deadline of its own: the job's ID, or the answer of a server that was done at once. */
  readonly start: (signal: AbortSignal) => Promise<StartedJob | Done>;
  readonly hooks?: JobHooks | undefined;
  /** How long to wait for the job, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Whether this is certainly another try of a change whose outcome is not known. Then the outcome of its job counts,
   * whenever the job ended. @default {false: see JobOverError}
   */
  readonly isRetry?: boolean | undefined;
}

interface Done {
  readonly result: unknown;
}

interface Waiter {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly command: string;
  readonly isRetry: boolean;
  onSlow: (() => void) | undefined;
}

/** A job whose outcome no caller got yet. */
interface OpenJob {
  readonly id: string;
  readonly key: string;
  readonly objectId: string | undefined;
  readonly waiters: Set<Waiter>;
  /** Whether its callers left, and the server was not heard since: it may have been over for long. */
  isLeft: boolean;
  /** How often the server was asked. */
  asked: number;
  /** When to ask again, in monotonic milliseconds. */
  dueMs: number;
}

const FIRST_MS = 300;
/** With the jitter, 5 s at most. */
const POLL_BACKOFF = { baseMs: 600, capMs: 4_000, jitter: 0.25 };
/** How many jobs are asked about at once. */
const POLLS_MAX = 8;
/** More than a cluster can have in progress; the oldest are forgotten. */
const OPEN_MAX = 1_000;
const UNKNOWN_JOB = 431;
/** Most jobs are over when the server is asked so often, after about a second. */
const SLOW_ASKED = 2;

/**
 * Runs changes that the server carries out as jobs.
 *
 * Guarantees: a change whose job is not over is never started again, also when its callers stopped waiting: the next
 * caller waits for the same job. A job that was over before that caller asked about it is no outcome of the caller's
 * change, which may be a later one. No requests while there is no caller.
 */
export class Jobs {
  readonly #options: JobsOptions;
  #ask: AskJob;
  readonly #sleeper: Sleeper;
  /** By key: what is being started, or runs. */
  readonly #open = new Map<string, Promise<OpenJob | Done>>();
  /** The keys of open jobs, by the ID of the job. */
  readonly #keys = new Map<string, string>();
  readonly #waitedFor = new Set<OpenJob>();
  #isPolling = false;

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#ask = options.ask;
    this.#sleeper = new Sleeper(options.clock);
  }

  /** Asks in another way from now on, for example with other keys. */
  askBy(ask: AskJob): void {
    this.#ask = ask;
  }

  /**
   * Starts a change, or finds the job that an earlier call started, and waits until it is over.
   *
   * @param signal Ends only this wait: what was started goes on
   * @returns The result of the job, or what the server answered at once
   * @throws {CloudError} when it failed, or is not over in time: the next call with the same key waits on
   * @throws {JobOverError} when the job of an earlier call is over already: the next call starts it
   */
  async run(work: Work, signal: AbortSignal): Promise<unknown> {
    const { clock } = this.#options;
    using deadline = startDeadline(signal, work.timeoutMs, clock);
    try {
      const started = await abortable(this.#start(work), deadline.signal);
      if ("result" in started) return started.result;
      return await this.#follow(started, work, deadline.signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!deadline.signal.aborted) throw error;
      const message =
        `CloudStack has not finished ${work.command} within ${work.timeoutMs / 1_000} s; ` +
        "Landfall does not start it again, and asks about it at the next try";
      throw new CloudError("unreachable", message);
    }
  }

  /**
   * Waits for a job that was started before, perhaps by an earlier process.
   *
   * @param signal Ends only this wait
   * @returns The result of the job
   * @throws {ApiError} with the code 431 if the server does not know the job any more: it is over
   * @throws {CloudError} when it failed, or is not over in time
   */
  async resume(
    jobId: string,
    { command, timeoutMs }: Pick<Work, "command" | "timeoutMs">,
    signal: AbortSignal,
  ): Promise<unknown> {
    const key = this.#keys.get(jobId) ?? `job ${jobId}`;
    const start = (): Promise<StartedJob> => Promise.resolve({ jobId });
    return await this.run({ key, command, start, timeoutMs, isRetry: true }, signal);
  }

  #start(work: Work): Promise<OpenJob | Done> {
    const known = this.#open.get(work.key);
    if (known !== undefined) return known;
    const starting = this.#begin(work);
    remember(this.#open, work.key, starting, OPEN_MAX);
    return starting;
  }

  async #begin({ key, start }: Work): Promise<OpenJob | Done> {
    const { clock, signal } = this.#options;
    let started: Awaited<ReturnType<Work["start"]>>;
    try {
      // Not the caller's signal: a caller that leaves must not leave a job behind that is not known here.
      started = await start(signal);
    } catch (error) {
      // The error says whether it may have been started: the caller looks before the next call.
      this.#open.delete(key);
      throw error;
    }
    if ("result" in started) {
      this.#open.delete(key);
      return started;
    }
    const dueMs = clock.monotonic() + FIRST_MS;
    const { jobId, objectId } = started;
    remember(this.#keys, jobId, key, OPEN_MAX);
    return { id: jobId, key, objectId, waiters: new Set(), isLeft: false, asked: 0, dueMs };
  }

  async #follow(job: OpenJob, work: Work, signal: AbortSignal): Promise<unknown> {
    const { objectId } = job;
    const { onObject } = work.hooks ?? {};
    try {
      if (objectId !== undefined && onObject !== undefined) {
        await abortable(Promise.resolve(onObject(objectId)), signal);
      }
      return await this.#wait(job, work, signal);
    } finally {
      if (job.waiters.size === 0) job.isLeft = true;
    }
  }

  async #wait(
    job: OpenJob,
    { command, hooks, isRetry = false }: Work,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { onSlow } = hooks ?? {};
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const tell = onSlow && ((): void => void onSlow(toStarted(job)).catch(reject));
    const waiter: Waiter = { resolve, reject, command, isRetry, onSlow: tell };
    job.waiters.add(waiter);
    this.#waitedFor.add(job);
    this.#sleeper.wake();
    if (!this.#isPolling) void this.#poll();
    try {
      return await abortable(promise, signal);
    } finally {
      job.waiters.delete(waiter);
      if (job.waiters.size === 0) this.#leave(job);
    }
  }

  #leave(job: OpenJob): void {
    this.#waitedFor.delete(job);
    this.#sleeper.wake();
  }

  /** Asks about jobs until there is no caller. Never rejects. */
  async #poll(): Promise<void> {
    const { clock, signal } = this.#options;
    this.#isPolling = true;
    while (this.#waitedFor.size > 0 && !signal.aborted) {
      const nowMs = clock.monotonic();
      const jobs = [...this.#waitedFor];
      const due = jobs.filter(({ dueMs }) => dueMs <= nowMs).slice(0, POLLS_MAX);
      const nextMs = Math.min(...jobs.map(({ dueMs }) => dueMs));
      if (due.length === 0) await this.#sleeper.sleep(nextMs - nowMs, signal);
      else await Promise.all(due.map((job) => this.#look(job, signal)));
    }
    this.#isPolling = false;
    if (!signal.aborted) return;
    for (const { waiters } of this.#waitedFor) {
      for (const { reject } of waiters) reject(signal.reason);
    }
  }

  async #look(job: OpenJob, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    job.asked += 1;
    let pauseMs = toBackoffMs(job.asked, { ...POLL_BACKOFF, ...(random && { random }) });
    try {
      const outcome = await this.#ask(job.id, signal);
      if (outcome !== undefined) this.#end(job, outcome);
      else {
        job.isLeft = false;
        if (job.asked >= SLOW_ASKED) tellSlow(job);
      }
    } catch (error) {
      if (error instanceof ApiError && error.code === UNKNOWN_JOB) {
        this.#end(job, { failure: error });
      } else if (!mayPass(error)) {
        // The job goes on: the next caller asks about it again.
        for (const { reject } of job.waiters) reject(error);
      } else pauseMs = Math.max(pauseMs, error.retryAfterMs ?? 0);
    }
    job.dueMs = clock.monotonic() + pauseMs;
  }

  #end(job: OpenJob, outcome: Exclude<JobOutcome, undefined>): void {
    this.#open.delete(job.key);
    this.#keys.delete(job.id);
    this.#waitedFor.delete(job);
    for (const { resolve, reject, command, isRetry } of job.waiters) {
      if (job.isLeft && !isRetry) reject(new JobOverError(command));
      else if ("failure" in outcome) reject(outcome.failure);
      else resolve(outcome.result);
    }
  }
}

function toStarted({ id, objectId }: OpenJob): StartedJob {
  return { jobId: id, ...(objectId !== undefined && { objectId }) };
}

function tellSlow({ waiters }: OpenJob): void {
  for (const waiter of waiters) {
    waiter.onSlow?.();
    waiter.onSlow = undefined;
  }
}

/** Whether a later question may be answered. */
function mayPass(error: unknown): error is CloudError {
  return error instanceof CloudError && ["unreachable", "throttled"].includes(error.kind);
}

/**
 * The outcome of a job; `undefined` while it runs.
 *
 * @param body The answer to `queryAsyncJobResult`
 * @param secrets What must not be shown
 * @throws {CloudError} when the answer cannot be read
 */
export function toOutcome(body: Body, secrets: readonly string[]): JobOutcome {
  const asked = { command: "queryAsyncJobResult", schema: SCHEMAS.job };
  const { jobstatus, jobresult } = toObject(body, asked);
  if (jobstatus === 0) return undefined;
  if (jobstatus === 1) return { result: jobresult };
  const { errorcode, errortext } = isFields(jobresult) ? jobresult : {};
  const refusal = { code: Number(errorcode) || INTERNAL, text: toText(errortext ?? jobresult) };
  return { failure: new ApiError(refusal, { command: toJobName(body["cmd"]), secrets }) };
}

/** The last part of the name of the server's class: `StopVMCmd`. */
function toJobName(cmd: unknown): string {
  return /\.(\w{1,80})$/.exec(toText(cmd))?.[1] ?? "a job";
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
