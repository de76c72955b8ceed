/**
 * Answers that are packed. The runtime may unpack more at once than is read: half a megabyte becomes 512. So this
 * unpacks as much as is read.
 * @module
 */
import { BodyError } from "./body.ts";

/** What a request needs, so that its answer comes as it was sent. */
export const AS_SENT: { readonly decompress: false } = { decompress: false };
/** Header of a request: how its answer may be packed. */
export const ACCEPT_PACKED: { readonly "accept-encoding": string } = { "accept-encoding": "gzip" };

/**
 * The answer to a request with {@linkcode AS_SENT}, unpacked.
 *
 * @throws {BodyError} when it is packed in a way that was not asked for
 */
export function unpack(answer: Response): Response {
  const { body, headers, status } = answer;
  const packing = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (body === null || packing === "" || packing === "identity") return answer;
  if (packing !== "gzip" && packing !== "x-gzip") {
    body.cancel().catch(() => {});
    throw new BodyError("the answer is packed in a way that was not asked for");
  }
  return new Response(body.pipeThrough(new DecompressionStream("gzip")), { status, headers });
}
