/**
 * Sends the commands of a step, and keeps on the Service what the step has open.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { CloudError } from "../../../cloud/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import { ApiError } from "../session/errors.ts";
import type { StartedJob } from "../session/jobs.ts";
import type { Change as Sent, CloudStackSession } from "../session/session.ts";
import { listFields, type ObjectKind, toParams } from "../wire/objects.ts";
import { SCHEMAS } from "../wire/schema.ts";
import type { Step } from "./steps.ts";
import type { ObservationStore } from "./store.ts";
import type { LoadBalancerRecord } from "../../../cloud/capabilities/load_balancers.ts";
import {
  type AskedAddress,
  formatRecord,
  type KeptRecord,
  type OpenJob,
  type RecordSigner,
} from "./record.ts";
import type { PublicAddress } from "./observation.ts";

/** One step that is being carried out. */
export interface Acting {
  readonly session: Pick<CloudStackSession, "awaitJob" | "call" | "list" | "read">;
  readonly clock: Pick<Clock, "now">;
  /** Source of randomness in [0, 1). */
  readonly random: () => number;
  readonly store: ObservationStore;
  readonly projectId: string | undefined;
  readonly owner: Step["owner"];
  readonly record: RecordWriter;
  readonly signal: AbortSignal;
}

/** The parameter that names the project; none without one. */
export function toProject({ projectId }: Acting): Readonly<Record<string, string>> {
  return projectId === undefined ? {} : { projectid: projectId };
}

/** Sends a command and waits until it is done. Keeps its job in the record if it takes long. @throws as `call()` */
export async function send<T>(acting: Acting, sent: Sent<T>): Promise<T> {
  const { session, record, signal } = acting;
  const { command } = sent;
  const hooks = {
    ...sent.hooks,
    onSlow: ({ jobId, objectId }: StartedJob): Promise<void> =>
      record.keepJob({ id: jobId, command, ...(objectId !== undefined && { objectId }) }),
  };
  return await session.call({ ...sent, hooks }, signal);
}

/** Sends a command that answers only whether it had success. @throws {CloudError} also if it had none */
export async function sendPlain(
  acting: Acting,
  command: string,
  params: Readonly<Record<string, string>>,
): Promise<void> {
  const { success } = await send(acting, { command, params, schema: SCHEMAS.success });
  if (!success) throw new CloudError("protocol", `CloudStack says that ${command} had no success`);
}

/** Removes an object, or finds that there is none with this ID. @throws as {@linkcode sendPlain} */
export async function sendRemoval(acting: Acting, command: string, id: string): Promise<void> {
  try {
    await sendPlain(acting, command, { id });
  } catch (error) {
    if (!isMissing(error, id)) throw error;
  }
}

/** A command that makes or changes an object. */
interface Writing<T> {
  readonly command: string;
  /** The key of the object in the answer. */
  readonly key: string;
  readonly fields: Partial<T>;
  /** What else the command takes, or in other words than the answer. The answer need not show it. */
  readonly params?: Readonly<Record<string, string>>;
}

/**
 * Makes or changes an object. Asks for a new observation if the answer does not show it as asked for.
 *
 * @throws as `send()`
 */
export async function write<T extends object>(
  acting: Acting,
  kind: ObjectKind<T>,
  { command, key, fields, params }: Writing<T>,
): Promise<T> {
  const all = { ...toParams(kind, fields), ...params };
  const object = await send(acting, { command, params: all, key, schema: kind.schema });
  const shown = new Map<string, unknown>(Object.entries(object));
  // An observation shows lists in the order of their texts.
  const isShown = listFields(kind, fields).every(({ field, value }) =>
    isDeepStrictEqual(shown.get(field), Array.isArray(value) ? value.toSorted() : value),
  );
  if (!isShown) acting.store.invalidate();
  return object;
}

/** Whether a refusal says that there is no object with this ID. */
function isMissing(error: unknown, id: string): error is ApiError {
  return error instanceof ApiError && error.unknownId === id;
}

/**
 * Numbers pairs: `tags[0].key`, `tags[0].value`, `tags[1].key` … A pair with an empty value has none, because
 * CloudStack loses a pair with an empty one at the end.
 *
 * @param keyName What the server calls the first of a pair: `key` of tags, `name` of parameters
 */
export function toIndexed(
  list: string,
  keyName: string,
  pairs: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  const params = [...pairs].flatMap(([key, value], at) => [
    [`${list}[${at}].${keyName}`, key],
    ...(value === "" ? [] : [[`${list}[${at}].value`, value]]),
  ]);
  return Object.fromEntries(params);
}

/**
 * The record of one Service while a step is carried out.
 *
 * Guarantees: Kubernetes gets the texts in the order of the calls, and none that it has.
 */
export class RecordWriter {
  readonly #record: LoadBalancerRecord;
  readonly #format: (kept: KeptRecord) => string | undefined;
  readonly #signal: AbortSignal;
  #kept: KeptRecord;
  #saved: string | undefined;
  #last: Promise<void> = Promise.resolve();

  /** @param step The step, with what the record said when it was planned */
  constructor(
    record: LoadBalancerRecord,
    step: Pick<Step, "owner" | "record">,
    signer: RecordSigner,
    signal: AbortSignal,
  ) {
    this.#record = record;
    this.#format = (kept) => formatRecord(kept, step.owner.uid, signer);
    this.#signal = signal;
    this.#kept = step.record ?? {};
    this.#saved = this.#format(this.#kept);
  }

  get kept(): KeptRecord {
    return this.#kept;
  }

  /**
   * Keeps exactly this. Resolves when Kubernetes has it.
   *
   * @throws {KubeError} as `LoadBalancerRecord.save()` does
   */
  async keep(kept: KeptRecord): Promise<void> {
    this.#kept = kept;
    const save = (): Promise<void> => this.#save(this.#format(kept));
    // A save that failed was its own caller's problem.
    this.#last = this.#last.then(save, save);
    await this.#last;
  }

  /**
   * Keeps which address is asked for. A job that was waited for is over.
   *
   * @param address Absent: none any more
   * @throws as `keep()`
   */
  async keepAddress(address?: AskedAddress): Promise<void> {
    const { shared } = this.#kept;
    await this.keep({ ...(address && { address }), ...(shared !== undefined && { shared }) });
  }

  /** Keeps the job that is waited for. The rest stays. @throws as `keep()` */
  async keepJob(job: OpenJob): Promise<void> {
    await this.keep({ ...this.#kept, job });
  }

  /** Keeps that the Service uses an address together with others. @throws as `keep()` */
  async keepShared(ip: string): Promise<void> {
    const { address } = this.#kept;
    await this.keep({ ...(address && { address }), shared: ip });
  }

  /** Keeps nothing any more that names an address. @throws as `keep()` */
  async forgetAddress({ id, ip }: Pick<PublicAddress, "id" | "ip">): Promise<void> {
    const { address, shared } = this.#kept;
    if (address?.id !== id && shared !== ip) return;
    await this.keep({
      ...(address && address.id !== id && { address }),
      ...(shared !== undefined && shared !== ip && { shared }),
    });
  }

  /** Removes the record, also one that cannot be read. @throws as `keep()` */
  async clear(): Promise<void> {
    this.#kept = {};
    await this.#record.save(undefined, this.#signal);
    this.#saved = undefined;
  }

  async #save(text: string | undefined): Promise<void> {
    if (text === this.#saved) return;
    await this.#record.save(text, this.#signal);
    this.#saved = text;
  }
}
