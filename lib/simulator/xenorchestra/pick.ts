/**
 * Picks fields of records, as the parameter `fields` names them.
 * @module
 */
import type { XoRecord } from "./records.ts";

/**
 * Returns the named fields of a record. A name with a dot (`CPUs.number`) reads inside a field. Unknown names add
 * nothing.
 */
export function pickFields(record: XoRecord, fields: Iterable<string>): Record<string, unknown> {
  const item: Record<string, unknown> = {};
  for (const path of fields) {
    if (path.includes(".")) pick(record, item, path.split("."));
    else if (path !== "" && Object.hasOwn(record, path)) set(item, path, record[path]);
  }
  return item;
}

function pick(from: unknown, to: Record<string, unknown>, path: readonly string[]): void {
  const [name, ...rest] = path;
  if (name === undefined || typeof from !== "object" || from === null) return;
  if (!Object.hasOwn(from, name)) return;
  const value: unknown = Reflect.get(from, name);
  if (rest.length === 0 || value === undefined) return set(to, name, value);
  const inner: Record<string, unknown> = { ...asObject(to[name]) };
  pick(value, inner, rest);
  to[name] = inner;
}

function set(to: Record<string, unknown>, name: string, value: unknown): void {
  if (value !== undefined) to[name] = value;
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
