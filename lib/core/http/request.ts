/**
 * One HTTP request.
 * @module
 */
import type { TlsSettings } from "./tls.ts";

/** Headers by names in lower case. A list is a line for each value. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[]>>;

/** A request. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers: HttpHeaders;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  readonly tls: TlsSettings;
  /** Must include the deadline. Also ends the body of the answer. */
  readonly signal: AbortSignal;
}

/** Whether all headers have one value. `fetch` joins several into one text. */
export function isSingle(headers: HttpHeaders): headers is Readonly<Record<string, string>> {
  return Object.values(headers).every((value) => typeof value === "string");
}
