/**
 * Sends one request that changes something in Xen Orchestra, and only while this process leads.
 * @module
 */
import type { CloudClient, CloudRequest } from "../../../cloud_http/client.ts";
import type { Reply } from "../../../cloud_http/http.ts";
import type { Fence } from "../../../core/fence.ts";

/** A request that changes something. `path` follows `/rest/v0`. */
export interface ChangeRequest {
  /** For metrics: `create_vm`. */
  readonly operation: string;
  readonly method: "POST" | "PATCH" | "PUT" | "DELETE";
  readonly path: string;
  /** Sent as JSON, or as it is. @default {no body} */
  readonly body?: { readonly json: object } | { readonly bytes: Uint8Array<ArrayBuffer> };
  /** Milliseconds for the whole request. */
  readonly timeoutMs: number;
  /** Whether {@linkcode timeoutMs} includes waiting for its turn, so that it is not sent later. @default {false} */
  readonly isPrompt?: boolean;
}

/** Where a change goes, and who sends it. */
interface ChangeRoute {
  /** Everything before the path. */
  readonly base: string;
  readonly client: Pick<CloudClient, "request">;
  /** Asked right before the request. */
  readonly fence: Pick<Fence, "bind" | "check">;
  readonly headers: CloudRequest["headers"];
}

/**
 * Sends a change once.
 *
 * @param signal Must carry the deadline
 * @throws {CloudError} when there is no reply: it may have been carried out all the same
 * @throws {LeadershipLostError} when this process does not lead
 */
export async function sendChange(
  { operation, method, path, body }: ChangeRequest,
  { base, client, fence, headers }: ChangeRoute,
  signal: AbortSignal,
): Promise<Reply> {
  const sent: CloudRequest = {
    operation,
    method,
    url: base + path,
    headers: { ...headers, ...toType(body) },
    ...toContent(body),
  };
  fence.check();
  try {
    return await client.request(sent, fence.bind(signal));
  } catch (error) {
    // The reason of the fence says more than the error of the connection that it closed.
    fence.check();
    throw error;
  }
}

function toContent(body: ChangeRequest["body"]): Pick<CloudRequest, "body"> {
  if (body === undefined) return {};
  return { body: "json" in body ? JSON.stringify(body.json) : body.bytes };
}

function toType(body: ChangeRequest["body"]): CloudRequest["headers"] {
  if (body === undefined) return {};
  const type = "json" in body ? "application/json" : "application/octet-stream";
  return { "content-type": type };
}
