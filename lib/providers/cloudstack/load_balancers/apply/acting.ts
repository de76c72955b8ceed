/**
 * What carrying out a change needs, and how it sends a command.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { CloudError } from "../../../../cloud/errors.ts";
import type { Clock } from "../../../../core/clock.ts";
import { ApiError } from "../../session/errors.ts";
import type { StartedJob } from "../../session/jobs.ts";
import type { CloudStackSession, Change as Sent } from "../../session/session.ts";
import { SCHEMAS } from "../../wire/schema.ts";
import type { Step } from "../steps.ts";
import type { LookStore } from "../store.ts";
import type { RecordWriter } from "./record_writer.ts";

/** What is the same for every change. */
export interface ActingOptions {
  readonly session: Pick<CloudStackSession, "awaitJob" | "call" | "list" | "read">;
  readonly clock: Pick<Clock, "now">;
  /** Source of randomness in [0, 1). */
  readonly random: () => number;
}

/** One step that is being carried out. */
export interface Acting extends ActingOptions {
  readonly store: LookStore;
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

/** Asks for a new look if an object is not as it was asked for. Only the parts that are given count. */
export function compare<T extends object>(acting: Acting, object: T, asked: Partial<T>): void {
  const whole: Partial<T> = { ...object, ...asked };
  if (!isDeepStrictEqual(whole, object)) acting.store.invalidate();
}

/** Blocks in the order in which a look shows them. */
export function toSorted(cidrs: readonly string[]): readonly string[] {
  return cidrs.toSorted();
}

/** Whether a refusal says that there is no object with this ID. */
export function isMissing(error: unknown, id: string): error is ApiError {
  return error instanceof ApiError && error.unknownId === id;
}
