/**
 * The fourth step of a creation: all fields at once, in no order.
 * @module
 */
import type { XoRecord } from "../../records.ts";
import type { Work } from "../backend.ts";
import { type FieldChange, changeFields, toFieldChange } from "../steps/fields.ts";
import type { CreateBody } from "./body.ts";

/** How the keys of `create_vm` are called elsewhere. */
const FIELDS = {
  name_description: "nameDescription",
  cpus: "cpus",
  memory: "memory",
  affinity: "affinityHost",
  autoPoweron: "autoPoweron",
  high_availability: "highAvailability",
  hvmBootFirmware: "hvmBootFirmware",
  secureBoot: "secureBoot",
} as const;

/** Writes the fields of a new machine, and waits for all of them. */
export async function applyFields(work: Work, vm: XoRecord, body: CreateBody): Promise<void> {
  const changes = Object.entries(FIELDS).flatMap(([key, field]): FieldChange[] => {
    const value: unknown = Reflect.get(body, key);
    return value === undefined ? [] : [toFieldChange(field, value)];
  });
  await changeFields(work, vm, changes);
  if (body.autoPoweron !== true) return;
  const pool = work.state.all("pools").get(String(vm["$pool"]));
  if (pool !== undefined) pool["auto_poweron"] = true;
}
