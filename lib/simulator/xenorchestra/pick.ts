/**
 * Parts of records, as `fields` names them.
 * @module
 */
import type { XoRecord } from "./records.ts";

/** The named fields of a record; a name with dots (`CPUs.number`) reaches into a field, unknown names bring nothing. */
export function pickFields(record: XoRecord, fields: Iterable<string>): Record<string, unknown> {
  const item: Record<string, unknown> = {};
  for (const path of fields) if (path !== "") pick(record, item, path.split("."));
  return item;
}

function pick(from: unknown, to: Record<string, unknown>, path: readonly string[]): void {
  const [name, ...rest] = path;
  if (name === undefined || typeof from !== "object" || from === null) return;
  const value: unknown = Object.getOwnPropertyDescriptor(from, name)?.value;
  if (value === undefined) return;
  if (rest.length === 0) {
    to[name] = value;
    return;
  }
  const inner: Record<string, unknown> = { ...asObject(to[name]) };
  pick(value, inner, rest);
  to[name] = inner;
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
