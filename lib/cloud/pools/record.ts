/**
 * What Landfall keeps on a Service about its addresses, so that a process that starts after a crash gives the Service
 * the same ones. The form is in clusters: every version of it must be read for ever.
 * @module
 */
import { parseJson } from "../../core/text/values.ts";
import { parseIp } from "../../core/net/ip.ts";

/** The content of the record. */
export interface PoolRecord {
  /** In canonical form; at most one of each family. */
  readonly addresses: readonly string[];
  /** The pool that the Service asked for when it got them. Absent: it asked for none. */
  readonly pool?: string;
}

const VERSION = 1;
/** What Landfall writes is not longer. */
const CHARS_MAX = 1_024;
/** The record of a Service that has none, or none that can be read. */
const NOTHING: PoolRecord = { addresses: [] };

/** Writes a record. */
export function formatRecord({ addresses, pool }: PoolRecord): string {
  return JSON.stringify({ v: VERSION, addresses, ...(pool !== undefined && { pool }) });
}

/** Reads a record. People may write anything there: what cannot be read is left out. */
export function parseRecord(text: string | undefined): PoolRecord {
  if (text === undefined || text.length > CHARS_MAX) return NOTHING;
  const written = parseJson(text);
  if (typeof written !== "object" || written === null) return NOTHING;
  if (!("v" in written) || written.v !== VERSION) return NOTHING;
  const listed: readonly unknown[] =
    "addresses" in written && Array.isArray(written.addresses) ? written.addresses : [];
  const pool = "pool" in written && typeof written.pool === "string" ? written.pool : undefined;
  return { addresses: keepOneOfEachFamily(listed), ...(pool !== undefined && { pool }) };
}

/** The canonical form of what is an address; of each family only the first. */
function keepOneOfEachFamily(listed: readonly unknown[]): string[] {
  const byFamily = new Map<number, string>();
  for (const one of listed) {
    const address = typeof one === "string" ? parseIp(one) : undefined;
    if (address !== undefined && !byFamily.has(address.family)) {
      byFamily.set(address.family, address.text);
    }
  }
  return [...byFamily.values()];
}
