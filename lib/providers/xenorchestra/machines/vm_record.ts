/**
 * What Landfall remembers about the making of a VM: one small text for each machine. A hint, never a proof.
 * @module
 */
import * as v from "valibot";
import { parseJson } from "../../../core/text/values.ts";
import type { Vm } from "./observe/observation.ts";
import { toHash } from "./words.ts";
import type { MachineSpec } from "../../../cloud/capabilities/machines.ts";

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
  /** What the VM list showed of its parts when an observation found all as it should be. */
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
const DISKS_MAX = 16;
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

/** Changes when a VM gets or loses an interface or a disk. An edited interface is another one. */
export function toPartsHash({ vifIds, linkIds }: Pick<Vm, "linkIds" | "vifIds">): string {
  return toHash([vifIds.toSorted(), linkIds.toSorted()]);
}

/**
 * Changes with all that the list of VMs shows and that a plan for a complete VM depends on.
 *
 * @param partsHash As {@linkcode toPartsHash} makes it, if it is there already
 */
export function toShownHash(vm: Vm, partsHash: string = toPartsHash(vm)): string {
  const { id, power, description, poolId, tags, cpus, memoryBytes, destroyBlock } = vm;
  const values = [id, power, description, poolId, cpus, memoryBytes, destroyBlock];
  return toHash([values.map((one) => one ?? null), tags.toSorted(), partsHash]);
}

/** A short text for the name of a disk, for records. */
export function toNameHash(name: string): string {
  return toHash([name]);
}

/**
 * Which disks of its specification a machine has or had, for its record: one that is missing may hold data, unless the
 * record proves that the machine never had it.
 *
 * @param before What the record says. Absent: nothing
 * @param missing Names of those that it lacks now
 * @returns `undefined` if they are too many for a record
 */
export function listHad(
  { disks }: Pick<MachineSpec, "disks">,
  before?: readonly string[],
  missing: readonly string[] = [],
): readonly string[] | undefined {
  if (disks.length > DISKS_MAX) return undefined;
  const had = disks.filter(({ name }) => {
    return !missing.includes(name) || before === undefined || before.includes(toNameHash(name));
  });
  return had.map(({ name }) => toNameHash(name));
}
