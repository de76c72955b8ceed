/**
 * Asynchronous jobs: they run on the clock, one at a time for each object that they change, and are asked about by ID.
 * @module
 */
import type { Clock } from "../../../core/clock.ts";
import { toUuid } from "../../uuid.ts";
import { ApiError } from "../replies.ts";

/** A job. */
export interface Job {
  readonly id: string;
  readonly command: string;
  readonly userId: string;
  readonly accountId: string;
  /** Kind and ID of the object that it is about: `None` and empty when it is about several. */
  readonly instanceType: string;
  readonly instanceId: string;
  readonly createdMs: number;
  /** As the API numbers them: 0 pending, 1 succeeded, 2 failed. */
  status: 0 | 1 | 2;
  resultCode: number;
  /** What the command answers when it has ended. */
  result?: object;
  completedMs?: number;
}

/** What {@linkcode Jobs.start} takes. */
export interface JobOptions extends Pick<
  Job,
  "command" | "userId" | "accountId" | "instanceType" | "instanceId"
> {
  /** Jobs with the same key run one after the other. @default {it waits for none} */
  readonly serialKey?: string;
  /** Changes the world when the job's turn comes. An `ApiError` fails the job. @default {nothing} */
  readonly begin?: () => void;
  /** Changes the world at the end, and makes the result. An `ApiError` fails the job. */
  readonly run: () => object;
  /** Takes back what the command did before its job, when the job fails. @default {nothing} */
  readonly undo?: () => void;
}

/** What becomes of a job that a fault is for. */
export type JobFate =
  /** It stays pending until {@linkcode Jobs.release}. */
  | { readonly kind: "endless" }
  /** It ends half-way without a result, as when the server restarts. What it did until then stays. */
  | { readonly kind: "cutOff" }
  /** It fails and changes nothing; `isLate`: it takes as long as others, and what it did meanwhile is taken back. */
  | {
      readonly kind: "failed";
      readonly code: number;
      readonly text: string;
      readonly isLate?: boolean;
    };

/** What {@linkcode Jobs} needs. */
interface JobsOptions {
  readonly clock: Clock;
  /** Milliseconds that a job takes. */
  readonly durationMs: () => number;
  /** Ends all work. */
  readonly signal: AbortSignal;
}

/** The jobs of one CloudStack. */
export class Jobs {
  readonly #options: JobsOptions;
  readonly #byId = new Map<string, Job>();
  readonly #last = new Map<string, Promise<void>>();
  readonly #held = new Map<string, () => void>();

  constructor(options: JobsOptions) {
    this.#options = options;
  }

  /** Every job, by ID, in the order they were started. */
  get all(): ReadonlyMap<string, Job> {
    return this.#byId;
  }

  /** Starts a job; it runs after those with the same key. */
  start(options: JobOptions, fate?: JobFate): Job {
    const { serialKey, begin, run, undo, ...about } = options;
    const job: Job = {
      ...about,
      id: toUuid(`job/${this.#byId.size}`),
      createdMs: this.#options.clock.now(),
      status: 0,
      resultCode: 0,
    };
    this.#byId.set(job.id, job);
    const work = { run, ...(begin && { begin }), ...(undo && { undo }) };
    const key = serialKey ?? job.id;
    // A job that is held keeps its turn, as on the server.
    const before = this.#last.get(key) ?? Promise.resolve();
    this.#last.set(
      key,
      before.then(() => this.#work(job, work, fate)),
    );
    return job;
  }

  /** Lets every job that never ends go on. */
  releaseAll(): void {
    for (const go of this.#held.values()) go();
    this.#held.clear();
  }

  async #work(
    job: Job,
    work: Pick<JobOptions, "begin" | "run" | "undo">,
    fate?: JobFate,
  ): Promise<void> {
    const { clock, durationMs, signal } = this.#options;
    try {
      if (fate?.kind === "failed" && fate.isLate !== true) throw toFailure(fate);
      work.begin?.();
      if (fate?.kind === "endless") await this.#hold(job.id);
      await clock.sleep(durationMs(), signal);
      if (fate?.kind === "failed") throw toFailure(fate);
      if (fate?.kind === "cutOff") cutOff(job);
      else {
        job.result = work.run();
        job.status = 1;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      work.undo?.();
      job.status = 2;
      job.resultCode = error.code;
      job.result = { errorcode: error.code, errortext: error.message };
    }
    job.completedMs = clock.now();
  }

  #hold(jobId: string): Promise<void> {
    return new Promise((resolve) => void this.#held.set(jobId, resolve));
  }
}

function toFailure({ code, text }: Extract<JobFate, { readonly kind: "failed" }>): ApiError {
  return new ApiError(code, text);
}

function cutOff(job: Job): void {
  job.status = 2;
  job.resultCode = 530;
}

/** A job as `queryAsyncJobResult` shows it. */
export function toJobReply(job: Job): object {
  return {
    accountid: job.accountId,
    userid: job.userId,
    cmd: toClassName(job.command),
    jobstatus: job.status,
    jobprocstatus: 0,
    jobresultcode: job.resultCode,
    ...(job.result && { jobresulttype: "object", jobresult: job.result }),
    jobinstancetype: job.instanceType,
    ...(job.instanceId !== "" && { jobinstanceid: job.instanceId }),
    created: toDate(job.createdMs),
    ...(job.completedMs !== undefined && { completed: toDate(job.completedMs) }),
    jobid: job.id,
  };
}

/** A date as the API writes it: `2026-01-02T03:04:05+0000`. */
export function toDate(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "+0000");
}

/** By command: the package below `command.user`, and the name of the class where it is not the command's. */
const CLASSES: ReadonlyMap<string, string> = new Map([
  ["associateIpAddress", "address.AssociateIPAddr"],
  ["disassociateIpAddress", "address.DisassociateIPAddr"],
  ["createFirewallRule", "firewall.CreateFirewallRule"],
  ["deleteFirewallRule", "firewall.DeleteFirewallRule"],
  ["createPortForwardingRule", "firewall.CreatePortForwardingRule"],
  ["deletePortForwardingRule", "firewall.DeletePortForwardingRule"],
  ["createLoadBalancerRule", "loadbalancer.CreateLoadBalancerRule"],
  ["updateLoadBalancerRule", "loadbalancer.UpdateLoadBalancerRule"],
  ["deleteLoadBalancerRule", "loadbalancer.DeleteLoadBalancerRule"],
  ["assignToLoadBalancerRule", "loadbalancer.AssignToLoadBalancerRule"],
  ["removeFromLoadBalancerRule", "loadbalancer.RemoveFromLoadBalancerRule"],
  ["createLBStickinessPolicy", "loadbalancer.CreateLBStickinessPolicy"],
  ["deleteLBStickinessPolicy", "loadbalancer.DeleteLBStickinessPolicy"],
  ["createNetworkACL", "network.CreateNetworkACL"],
  ["updateNetworkACLItem", "network.UpdateNetworkACLItem"],
  ["deleteNetworkACL", "network.DeleteNetworkACL"],
  ["addAccountToProject", "account.AddAccountToProject"],
  ["createTags", "tag.CreateTags"],
  ["deleteTags", "tag.DeleteTags"],
  ["startVirtualMachine", "vm.StartVM"],
  ["stopVirtualMachine", "vm.StopVM"],
  ["destroyVirtualMachine", "vm.DestroyVM"],
]);

/** The class of a command: `org.apache.cloudstack.api.command.user.vm.StartVMCmd`. */
export function toClassName(command: string): string {
  return `org.apache.cloudstack.api.command.user.${CLASSES.get(command) ?? command}Cmd`;
}
