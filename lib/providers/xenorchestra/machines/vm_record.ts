/**
 * What Landfall remembers about the making of a VM: one small text for each machine. A hint, never a proof.
 * @module
 */
import * as v from "valibot";
import { parseJson } from "../../../core/text/values.ts";

/** The record of a machine. Times are wall-clock milliseconds. */
export interface VmRecord {
  /** When the last attempt to create it began. */
  readonly at?: number | undefined;
  /** The task of that attempt. */
  readonly task?: string | undefined;
  /** The newest task with its name before that attempt, which says nothing about it. */
  readonly prior?: string | undefined;
  /** How many attempts there were since it was complete. */
  readonly tries?: number | undefined;
  /** Whether nothing comes of the last attempt: it was refused, or what came of it was deleted. */
  readonly refused?: boolean | undefined;
  /** UUIDs of the templates of the attempts. */
  readonly templates?: readonly string[] | undefined;
  /** ID of the pool. */
  readonly pool?: string | undefined;
  /** ID of the VM, once it is complete. */
  readonly vm?: string | undefined;
  /** Whether that VM, and the one of the last attempt, are gone for sure: not only missing in a list. */
  readonly gone?: boolean | undefined;
  /** What the VM list showed of its parts when a look found all as it should be. */
  readonly parts?: string | undefined;
  /** Which disks of the spec it has had, as short texts made from their names. */
  readonly had?: readonly string[] | undefined;
  /** Name in the spec of the disk that is being added, and since when. */
  readonly adding?: string | undefined;
  readonly addingAt?: number | undefined;
  /** IDs of its disks that are deleted with it. */
  readonly disks?: readonly string[] | undefined;
  /** When an attempt ended in a way that leaves open whether a hypervisor still works on it. */
  readonly doubtAt?: number | undefined;
  /** When an upload ended in a way that leaves open whether its disk still comes. */
  readonly uploadAt?: number | undefined;
  /** When it was asked to shut down before its removal. */
  readonly offAt?: number | undefined;
}

const text = v.optional(v.pipe(v.string(), v.maxLength(64)));
const texts = v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(64))), v.maxLength(16)));
const count = v.optional(v.pipe(v.number(), v.safeInteger()));
const TEMPLATES_MAX = 2;
/** As many disks has a record room for. */
export const DISKS_MAX = 16;
const SCHEMA = v.object({
  v: v.literal(1),
  at: count,
  task: text,
  prior: text,
  tries: count,
  refused: v.optional(v.boolean()),
  templates: texts,
  pool: text,
  vm: text,
  gone: v.optional(v.boolean()),
  parts: text,
  had: texts,
  adding: text,
  addingAt: count,
  disks: texts,
  doubtAt: count,
  uploadAt: count,
  offAt: count,
});

/** Reads a record. @returns An empty one if there is none, or if it cannot be read: it is only a hint */
export function parseRecord(text: string | undefined): VmRecord {
  if (text === undefined) return {};
  const parsed = v.safeParse(SCHEMA, parseJson(text));
  if (!parsed.success) return {};
  const { v: _version, ...record } = parsed.output;
  return record;
}

/** Writes a record; below 1 KiB. */
export function formatRecord(record: VmRecord): string {
  const { templates, disks } = record;
  return JSON.stringify({
    v: 1,
    ...record,
    templates: templates?.slice(-TEMPLATES_MAX),
    disks: disks?.slice(0, DISKS_MAX),
  });
}
