/**
 * Reads what the server says about a job.
 * @module
 */
import { isFields } from "../../../core/text/values.ts";
import { SCHEMAS } from "../wire/schema.ts";
import { ApiError } from "./errors.ts";
import type { JobOutcome } from "./jobs.ts";
import { INTERNAL } from "./refusal.ts";
import { type Body, toObject } from "./reply.ts";

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
