/**
 * Pages of lists: `page` and `pagesize`, the largest page, and what faults make of them.
 * @module
 */
import type { Fault } from "../faults.ts";
import type { Parameters } from "../parameters.ts";
import { toInvalid, type ListPage } from "../replies.ts";
import { readNumber, type List } from "./call.ts";

/**
 * The page that a request asks for; without pages, as much as one page holds.
 *
 * @param sizeMax Entries of the largest page
 * @throws {ApiError} 431 for a larger page, or a number that is none
 */
export function toPage(
  list: List,
  parameters: Parameters,
  sizeMax: number,
  fault?: Fault,
): ListPage {
  const { key } = list;
  if (fault?.kind === "emptyList") return { key, count: 0, items: [] };
  const size = readSize(parameters, sizeMax);
  const page = readNumber(parameters, "page") ?? 1;
  // The first entry went between two pages, so that all others moved up.
  const gone = fault?.kind === "shrinkingList" && page > 1 ? 1 : 0;
  const count = Math.max(0, list.count - gone);
  if (fault?.kind === "missingPage") return { key, count, items: [] };
  const from = Math.max(0, page - 1) * size + gone;
  return { key, count, items: list.slice(from, Math.min(from + size, list.count)) };
}

function readSize(parameters: Parameters, sizeMax: number): number {
  const size = readNumber(parameters, "pagesize");
  if (size === undefined) return sizeMax;
  if (size === -1) {
    if (parameters.get("page") === undefined) return Number.MAX_SAFE_INTEGER;
    throw toInvalid("Can't specify page parameter when pagesize is -1 (Unlimited)");
  }
  if (size <= sizeMax) return size;
  throw toInvalid(`Page size can't exceed max allowed page size value: ${sizeMax}`);
}
