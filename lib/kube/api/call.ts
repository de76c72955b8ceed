/**
 * What a client asks for, and the request that comes of it. Pure.
 * @module
 */
import type { WriteOptions } from "./client.ts";
import type { KubeRequest } from "./request.ts";
import type { ObjectPath } from "../kinds/resource.ts";

/** What varies from call to call. */
export interface Call {
  readonly method: KubeRequest["method"];
  /** Path and query. */
  readonly path: string;
  /** The verb, for errors. */
  readonly verb: string;
  readonly body?: object;
  readonly contentType?: string;
  /** Whether it does no harm to send it twice. */
  readonly repeatable: boolean;
  readonly beforeSend?: WriteOptions["beforeSend"];
  /** Takes the body. @default {as JSON} */
  readonly read?: (reply: Response, what: string, signal: AbortSignal) => Promise<unknown>;
}

/** What calls that only read have in common. */
export const GET: Pick<Call, "method" | "verb" | "repeatable"> = {
  method: "GET",
  verb: "read",
  repeatable: true,
};

/** The request of a call. @param context `deadlineMs`: monotonic milliseconds after which no pause may end */
export function toRequest(
  call: Call,
  { userAgent, deadlineMs }: { readonly userAgent: string; readonly deadlineMs: number },
): KubeRequest {
  const { method, path, body, contentType, repeatable, beforeSend } = call;
  return {
    method,
    path,
    headers: {
      accept: "application/json",
      "user-agent": userAgent,
      ...(contentType !== undefined && { "content-type": contentType }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    what: toWhat(call),
    repeatable,
    beforeSend,
    deadlineMs,
  };
}

/** A call for errors, as `patch "/api/v1/nodes/a"`. */
export function toWhat({ verb, path }: Pick<Call, "verb" | "path">): string {
  return `${verb} "${path.split("?")[0]}"`;
}

/** Where the objects of a kind are; those of the whole cluster without a namespace. */
export function toCollection(namespace: string | undefined): ObjectPath {
  return namespace === undefined ? {} : { namespace };
}
