/**
 * Fields of virtual machines that can be written, as `PATCH /vms/{id}` names them.
 * @module
 */
import { toUuid } from "../../uuid.ts";
import type { XoRecord } from "../records.ts";
import { toOperation, type Work } from "./backend.ts";
import { noSuchObject, XapiError } from "./errors.ts";
import type { BodyShape } from "./route.ts";

/** One field to write. */
export interface FieldChange {
  readonly field: string;
  readonly value: unknown;
}

/** Writes a value into the record. */
type Write = (vm: XoRecord, value: unknown) => void;

const STRING = { type: "string" } as const;
const NUMBER = { type: "number" } as const;
const BOOLEAN = { type: "boolean" } as const;
const ANY = { type: "any" } as const;

/** What `PATCH /vms/{id}` takes. */
export const PATCH_SHAPE: BodyShape = {
  nameLabel: STRING,
  nameDescription: STRING,
  tags: { type: "strings" },
  notes: { type: "string", isNullable: true },
  cpus: NUMBER,
  cpusStaticMax: NUMBER,
  coresPerSocket: { type: "number", isNullable: true },
  cpuCap: { type: "number", isNullable: true },
  cpuMask: ANY,
  cpuWeight: { type: "number", isNullable: true },
  memory: NUMBER,
  memoryMin: NUMBER,
  memoryMax: NUMBER,
  memoryStaticMax: NUMBER,
  affinityHost: { type: "string", isNullable: true },
  autoPoweron: BOOLEAN,
  blockedOperations: { type: "object" },
  xenStoreData: { type: "object" },
  highAvailability: STRING,
  hvmBootFirmware: STRING,
  secureBoot: BOOLEAN,
  uefiMode: STRING,
  virtualizationMode: STRING,
  startDelay: NUMBER,
  suspendSr: { type: "string", isNullable: true },
  hasVendorDevice: BOOLEAN,
  nestedVirt: BOOLEAN,
  expNestedHvm: BOOLEAN,
  nicType: STRING,
  vga: STRING,
  videoram: NUMBER,
  viridian: BOOLEAN,
  PV_args: STRING,
  creation: { type: "object", of: { user: STRING } },
  resourceSet: { type: "string", isNullable: true },
  share: BOOLEAN,
};

/** Fields that the record has under another name, or not as they are sent. */
const WRITES: Readonly<Record<string, Write>> = {
  nameLabel: (vm, value) => (vm["name_label"] = value),
  nameDescription: (vm, value) => (vm["name_description"] = value),
  autoPoweron: (vm, value) => (vm["auto_poweron"] = value),
  highAvailability: (vm, value) => (vm["high_availability"] = value),
  hvmBootFirmware: (vm, value) => (vm["boot"] = { ...Object(vm["boot"]), firmware: value }),
  affinityHost: writeNullable("affinityHost"),
  notes: writeNullable("notes"),
  resourceSet: writeNullable("resourceSet"),
  suspendSr: writeNullable("suspendSr"),
  creation: (vm, value) => (vm["creation"] = { ...Object(vm["creation"]), ...Object(value) }),
  blockedOperations: (vm, value) => {
    vm["blockedOperations"] = merge(vm["blockedOperations"], value, (key) => key);
  },
  xenStoreData: (vm, value) => {
    vm["xenStoreData"] = merge(vm["xenStoreData"], value, (key) => `vm-data/${key}`);
  },
  tags: (vm, value) => (vm["tags"] = [value].flat()),
  cpus: writeCpus,
  cpusStaticMax: (vm, value) => {
    refuseRunning(vm);
    const { number } = Object(vm["CPUs"]);
    vm["CPUs"] = { max: value, number: Math.min(Number(number), Number(value)) };
  },
  memory: writeMemory,
};

function writeNullable(field: string): Write {
  return (vm, value) => {
    if (value === null) delete vm[field];
    else vm[field] = value;
  };
}

/** `null` removes a key, and `true` is stored as text. */
function merge(before: unknown, changes: unknown, toKey: (key: string) => string): object {
  const merged = new Map(Object.entries(Object(before)));
  for (const [key, value] of Object.entries(Object(changes))) {
    if (value === null) merged.delete(toKey(key));
    else merged.set(toKey(key), String(value));
  }
  return Object.fromEntries(merged);
}

function writeCpus(vm: XoRecord, value: unknown): void {
  const count = Number(value);
  const max = Number(Object(vm["CPUs"]).max);
  if (count > max) refuseRunning(vm);
  vm["CPUs"] = { max: Math.max(max, count), number: count };
}

function writeMemory(vm: XoRecord, value: unknown): void {
  const bytes = Number(value);
  const { static: limits = [0, 0] } = Object(vm["memory"]);
  if (bytes > Number(limits[1])) refuseRunning(vm);
  vm["memory"] = { dynamic: [bytes, bytes], static: [limits[0], bytes], size: bytes };
}

/** What only a machine that is off can do. */
function refuseRunning(vm: XoRecord): void {
  const power = String(vm["power_state"]).toLowerCase();
  if (power === "halted") return;
  throw new XapiError("VM_BAD_POWER_STATE", [String(vm["_xapiRef"]), "halted", power]);
}

/** One field to write. */
export function toFieldChange(field: string, value: unknown): FieldChange {
  return { field, value };
}

/**
 * Writes fields at the same time, in an order that no client knows. Nothing is undone if one of them fails.
 *
 * @throws {XoError} 404 if a host does not exist
 */
export async function changeFields(
  work: Work,
  vm: XoRecord,
  changes: readonly FieldChange[],
): Promise<void> {
  const written = toShuffled(vm, changes).map(async ({ field, value }) => {
    if (field === "affinityHost" && typeof value === "string" && !isHost(work, value)) {
      throw noSuchObject(value, "host");
    }
    await work.call(toOperation(`VM.set_${field}`, vm), () => {
      const write = WRITES[field] ?? ((record, one) => (record[field] = one));
      write(vm, value);
    });
  });
  const outcomes = await Promise.allSettled(written);
  const failed = outcomes.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Another order for each machine, the same in every run. */
function toShuffled({ id }: XoRecord, changes: readonly FieldChange[]): readonly FieldChange[] {
  const toRank = ({ field }: FieldChange): string => toUuid(`order/${id}/${field}`);
  return changes.toSorted((one, two) => (toRank(one) < toRank(two) ? -1 : 1));
}

function isHost({ state }: Work, id: string): boolean {
  return state.read("hosts", id) !== undefined;
}
