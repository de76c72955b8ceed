/**
 * The connection to one CloudStack as one user: signed commands with a deadline and a limit.
 * @module
 */
import type { GenericSchema } from "valibot";
import { CloudError } from "../../../cloud/errors.ts";
import type { ProviderDeps } from "../../../cloud/provider_definition.ts";
import { CloudClient, type ServerNames } from "../../../cloud_http/client.ts";
import { createUndecodableCounter } from "../../../cloud_http/decode.ts";
import { assert } from "../../../core/errors.ts";
import { Limiter } from "../../../core/concurrency.ts";
import type { Counter } from "../../../core/metrics.ts";
import type { Connection } from "../settings/config.ts";
import { toChangeError } from "./errors.ts";
import { type JobHooks, type JobOutcome, Jobs, toOutcome } from "./jobs.ts";
import { createFixedKeys, KeyFiles, type KeyPair, type KeySource } from "./keys.ts";
import {
  type ListVersion,
  type ObjectList,
  PageReader,
  type Query,
  readList,
  type VersionedList,
} from "./lists.ts";
import { type Body, readBody, toObject } from "./reply.ts";
import { type Command, deriveKey, type Destination, sendCommand } from "./request.ts";

/** A change. Without `key` the schema reads the whole answer: `{ "success": true }`. */
export interface Change<T> extends Command {
  readonly key?: string;
  readonly schema: GenericSchema<unknown, T>;
  /** How long to wait if it is a job, in milliseconds. @default {300 s} */
  readonly timeoutMs?: number;
  /** For whom it is, if the same command and parameters for another one are another change. */
  readonly owner?: string;
  /** Whether it is another try of a change whose outcome is not known, as in `Work`. @default {false} */
  readonly isRetry?: boolean;
  /** So that a caller can find the object or the job again if the job fails or this process ends. */
  readonly hooks?: JobHooks;
}

/** What the server and its settings are called. */
export const SERVER_NAMES: ServerNames = {
  server: "CloudStack",
  process: "the management server",
  url: "api-url",
  caFile: "ca-file",
  certificateFingerprint: "certificate-fingerprint",
};

const CONCURRENCY_MAX = 8;
const TIMEOUT_MS = 10_000;
/** Of one page. */
const LIST_TIMEOUT_MS = 30_000;
const JOB_TIMEOUT_MS = 300_000;
/** Tries of one command, if the server says when to come back. A refusal for too many requests did nothing. */
const TRIES_MAX = 5;
const THROTTLED_MS_MIN = 100;

/** A command, and how long it may take with all its tries. */
interface Sent extends Command {
  readonly isWrite: boolean;
  /** As in `CloudRequest`. */
  readonly isKnown?: (text: string) => boolean;
  readonly timeoutMs: number;
}

/** What a command was answered with. */
interface Answer {
  /** Without fields if the answer is known. */
  readonly body: Body;
  readonly isKnown?: true;
  /** Keys and signatures of the request, which the server may repeat. */
  readonly secrets: readonly string[];
}

/** The connection to one CloudStack. Every method throws {@linkcode CloudError} when there is no usable answer. */
export class CloudStackSession {
  readonly #deps: ProviderDeps;
  readonly #limiter = new Limiter(CONCURRENCY_MAX);
  readonly #undecodable: Counter;
  readonly #destination: Destination & { readonly client: CloudClient };
  readonly #keys: KeySource;
  readonly #jobs: Jobs;
  readonly #pages = new PageReader();

  /**
   * @param before The session that this one replaces. Its jobs go on if the server is the same
   * @throws {ConfigError} when a file that the settings name cannot be used; then nothing has changed
   */
  constructor(connection: Connection, deps: ProviderDeps, before?: CloudStackSession) {
    const { clock, log, fence, signal, metrics, onOtherUser: onChange = () => {} } = deps;
    const { url, keys } = connection;
    this.#deps = deps;
    this.#undecodable = createUndecodableCounter(metrics);
    const named = { names: SERVER_NAMES, provider: "external-cloudstack" };
    const client = new CloudClient(connection, { ...named, clock, log, metrics });
    this.#destination = { url, client, clock, fence };
    this.#keys =
      keys.kind === "pair" ? createFixedKeys(keys) : new KeyFiles(keys, { clock, log, onChange });
    const ask = this.#readJob.bind(this);
    const isSameServer = before !== undefined && before.#destination.url === url;
    this.#jobs = isSameServer ? before.#jobs : new Jobs({ ask, clock, signal });
    this.#jobs.askBy(ask);
  }

  /** Lists objects, all pages. An object that cannot be read does not hide the others. */
  async list<T extends { readonly id: string }>(
    query: Query<T>,
    signal: AbortSignal,
  ): Promise<ObjectList<T>> {
    const listed = await this.relist(query, undefined, signal);
    assert(listed !== "unchanged", "a list is unchanged only if one is known");
    return listed.list;
  }

  /** The same, unless the server gives the same answers as those of a known list. */
  async relist<T extends { readonly id: string }>(
    query: Query<T>,
    known: ListVersion | undefined,
    signal: AbortSignal,
  ): Promise<VersionedList<T> | "unchanged"> {
    const { command, key, params } = query;
    const listed = await readList(query, {
      pages: this.#pages,
      ask: async (page, isKnown) => {
        const asked = { command, params: { ...params, ...page }, isKnown };
        const sent = { ...asked, isWrite: false, timeoutMs: LIST_TIMEOUT_MS };
        const answer = await this.#send(sent, signal);
        return answer.isKnown ? undefined : answer.body;
      },
      known,
    });
    const unreadable = listed === "unchanged" ? 0 : listed.list.undecodable.size;
    if (unreadable > 0) this.#undecodable.inc({ collection: key }, unreadable);
    return listed;
  }

  /** Reads one object that the server always has, such as its capabilities. */
  async read<T>(query: Query<T>, signal: AbortSignal): Promise<T> {
    const sent = { ...query, isWrite: false, timeoutMs: TIMEOUT_MS };
    return toObject((await this.#send(sent, signal)).body, query);
  }

  /**
   * Changes something, and waits for the job if it is one. Never sends a change twice: while the job of the same change
   * (command, owner and parameters) is not over, it waits for that job.
   *
   * @param signal Ends only the wait
   * @throws {ApiError} when CloudStack refuses, or the job failed
   * @throws {CloudError} when the job is not over in time, or its state cannot be read
   * @throws {JobOverError} when the job of an earlier call was over already, and this is not another try
   * @throws {LeadershipLostError} when this process does not lead
   */
  async call<T>(change: Change<T>, signal: AbortSignal): Promise<T> {
    const { command, params = {}, owner = "", timeoutMs = JOB_TIMEOUT_MS } = change;
    const { hooks, isRetry } = change;
    this.#deps.fence.check();
    const result = await this.#jobs.run(
      {
        key: JSON.stringify([command, owner, ...Object.entries(params).toSorted()]),
        command,
        timeoutMs,
        hooks,
        isRetry,
        start: async (both) => {
          const sent = { command, params, isWrite: true, timeoutMs: TIMEOUT_MS };
          const { body } = await this.#send(sent, both).catch((error: unknown) => {
            throw toChangeError(error, command);
          });
          const { jobid, id } = body;
          if (typeof jobid !== "string") return { result: body };
          return { jobId: jobid, ...(typeof id === "string" && { objectId: id }) };
        },
      },
      AbortSignal.any([signal, this.#deps.signal]),
    );
    return toObject(result, change);
  }

  /**
   * Waits for a job that was started before, perhaps by an earlier process.
   *
   * @param command What it does, for messages
   * @throws {ApiError} when the job failed; with the code 431 when the server does not know it any more: it is over
   * @throws {CloudError} when the job is not over in time, or its state cannot be read
   */
  async awaitJob(jobId: string, command: string, signal: AbortSignal): Promise<void> {
    const both = AbortSignal.any([signal, this.#deps.signal]);
    await this.#jobs.resume(jobId, { command, timeoutMs: JOB_TIMEOUT_MS }, both);
  }

  /** Whether requests are signed with the secret of this key now. */
  async isOwnKey(apiKey: string): Promise<boolean> {
    return (await this.#keys.read()).apiKey === apiKey;
  }

  /** A key for another purpose, which tells nothing about the secret that signs requests now. */
  async deriveKey(purpose: string): Promise<Uint8Array> {
    return deriveKey((await this.#keys.read()).secretKey, purpose);
  }

  /** Sends a command until it has an answer: with other keys after a 401, after the wait that a 429 asks for. */
  async #send(sent: Sent, signal: AbortSignal): Promise<Answer> {
    const both = AbortSignal.any([signal, this.#deps.signal]);
    const { clock } = this.#deps;
    const { client } = this.#destination;
    return await this.#limiter.run(async () => {
      const endMs = clock.monotonic() + sent.timeoutMs;
      return await client.within(sent.timeoutMs, both, async (deadline) => {
        for (let tries = 1; ; tries += 1) {
          const keys = await this.#keys.read();
          try {
            return await this.#sendOnce({ ...sent, keys }, deadline);
          } catch (error) {
            if (!(error instanceof CloudError) || tries === TRIES_MAX) throw error;
            if (error.kind === "denied" && error.status === 401) {
              if (await this.#keys.refuse(keys)) continue;
              throw error;
            }
            const waitMs = toWaitMs(error);
            if (clock.monotonic() + waitMs >= endMs) throw error;
            await clock.sleep(waitMs, deadline);
          }
        }
      });
    }, both);
  }

  async #sendOnce(sent: Sent & { readonly keys: KeyPair }, signal: AbortSignal): Promise<Answer> {
    const { reply, secrets } = await sendCommand(this.#destination, sent, signal);
    const { serverTimeMs, isKnown } = reply;
    if (isKnown) return { body: {}, isKnown, secrets };
    const body = readBody(reply, {
      command: sent.command,
      secrets,
      clockAheadMs: serverTimeMs === undefined ? undefined : serverTimeMs - this.#deps.clock.now(),
    });
    return { body, secrets };
  }

  async #readJob(jobid: string, signal: AbortSignal): Promise<JobOutcome> {
    const command = "queryAsyncJobResult";
    const sent = { command, params: { jobid }, isWrite: false, timeoutMs: TIMEOUT_MS };
    const { body, secrets } = await this.#send(sent, signal);
    return toOutcome(body, secrets);
  }
}

function toWaitMs({ kind, retryAfterMs }: CloudError): number {
  if (kind !== "throttled" || retryAfterMs === undefined) return Infinity;
  return Math.max(retryAfterMs, THROTTLED_MS_MIN);
}
