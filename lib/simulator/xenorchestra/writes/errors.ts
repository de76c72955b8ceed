/**
 * Errors of actions, as answers and as results of tasks.
 * @module
 */
import { toJson } from "../replies.ts";

/** A refusal of Xen Orchestra itself. */
export class XoError extends Error {
  override readonly name = "XoError";
  readonly status: number;
  readonly data: object | undefined;

  constructor(status: number, message: string, data?: object) {
    super(message);
    this.status = status;
    this.data = data;
  }
}

/** An object is not there, or not of this type. @param type Absent: of no type at all */
export function noSuchObject(id: string | undefined, type?: string): XoError {
  const message = `no such ${type ?? "object"} ${String(id)}`;
  return new XoError(404, message, { ...(id !== undefined && { id }), ...(type && { type }) });
}

/** An error of the hypervisor. */
export class XapiError extends Error {
  override readonly name = "XapiError";
  readonly code: string;
  readonly params: readonly string[];
  /** The call that failed. Absent: it is about an asynchronous one. */
  readonly method: string | undefined;

  constructor(code: string, params: readonly string[] = [], method?: string) {
    super(`${code}(${params.join(", ")})`);
    this.code = code;
    this.params = params;
    this.method = method;
  }
}

/** The connection to the hypervisor broke during a call. */
export class SocketError extends Error {
  override readonly name = "SocketError";
  readonly code = "UND_ERR_SOCKET";

  constructor() {
    super("other side closed");
  }
}

/** The answer to a request that failed. */
export function toErrorReply(error: unknown): Response {
  if (error instanceof XoError) {
    const { message, data, status } = error;
    return toJson({ error: message, ...(data !== undefined && { data }) }, status);
  }
  if (error instanceof XapiError) {
    const info = "This is a XenServer/XCP-ng error, not an XO error";
    return toJson({ error: error.message, info }, 500);
  }
  return toJson({ error: error instanceof Error ? error.message : String(error) }, 500);
}

/** The `result` of a task that failed. */
export function toTaskResult(error: unknown): object {
  if (error instanceof XapiError) {
    const { code, params, message, name, method } = error;
    const call = { duration: 1, method: method ?? "", params: ["* session id *"] };
    return { code, params, ...(method !== undefined && { call }), message, name, stack: "" };
  }
  if (error instanceof SocketError) {
    const { name, code, message } = error;
    return { name, code, message, stack: "" };
  }
  const message = error instanceof Error ? error.message : String(error);
  const data = error instanceof XoError ? { data: error.data } : {};
  return { message, name: error instanceof Error ? error.name : "Error", ...data, stack: "" };
}
