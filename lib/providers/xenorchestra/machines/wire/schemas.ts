/**
 * How to ask for the objects that machines are made of, and how to read them.
 * @module
 */
import * as v from "valibot";
import type { PoolMember } from "../../client.ts";
import type {
  RawHost,
  RawNetwork,
  RawPool,
  RawStorage,
  RawTask,
  RawTemplate,
  RawVbd,
  RawVdi,
  RawVif,
  RawVm,
} from "./objects.ts";

/** A collection: which fields to ask for, and their schema. */
interface Wanted<T> {
  readonly fields: string;
  readonly schema: v.GenericSchema<unknown, T>;
}

/** The collections by their words in paths. */
export interface MachineCollections {
  readonly vms: RawVm;
  readonly "vm-templates": RawTemplate;
  readonly "vm-controllers": PoolMember;
  readonly srs: RawStorage;
  readonly networks: RawNetwork;
  readonly pools: RawPool;
  readonly hosts: RawHost;
  readonly vifs: RawVif;
  readonly vbds: RawVbd;
  readonly vdis: RawVdi;
  readonly tasks: RawTask;
}

const id = v.pipe(v.string(), v.nonEmpty());
const text = v.nullish(v.string());
const number = v.nullish(v.number());
const flag = v.nullish(v.boolean());
const texts = v.nullish(v.array(v.string()));

const VM_ENTRIES = {
  id,
  $pool: id,
  name_label: v.string(),
  name_description: text,
  power_state: text,
  $container: text,
  CPUs: v.nullish(v.object({ number, max: number })),
  memory: v.nullish(v.object({ static: v.nullish(v.array(v.number())) })),
  tags: texts,
  blockedOperations: v.nullish(v.record(v.string(), v.unknown())),
  boot: v.nullish(v.object({ order: text, firmware: text })),
  VIFs: texts,
  $VBDs: texts,
  creation: v.nullish(v.object({ date: v.optional(v.unknown()), template: text, user: text })),
  startTime: number,
  snapshots: texts,
  current_operations: v.nullish(v.record(v.string(), v.unknown())),
  pvDriversDetected: flag,
  xenTools: v.optional(v.unknown()),
};

const ARGS = v.nullish(
  v.object({ name_label: v.optional(v.unknown()), template: v.optional(v.unknown()) }),
);

const ENTRIES = {
  vms: VM_ENTRIES,
  "vm-templates": { ...VM_ENTRIES, uuid: text, isDefaultTemplate: flag },
  "vm-controllers": { id, $pool: text },
  srs: {
    id,
    $pool: text,
    $container: text,
    name_label: text,
    content_type: text,
    SR_type: text,
    shared: flag,
    size: number,
    physical_usage: number,
    allocationStrategy: text,
    inMaintenanceMode: flag,
  },
  networks: { id, $pool: text, name_label: text },
  pools: { id, name_label: text, master: text, default_SR: text },
  hosts: { id, $pool: text, name_label: text, tags: texts, enabled: flag },
  vifs: {
    id,
    $VM: text,
    $network: text,
    $pool: text,
    device: v.union([v.string(), v.number()]),
    MAC: v.string(),
    MTU: number,
  },
  vbds: {
    id,
    VM: text,
    VDI: text,
    position: v.nullish(v.union([v.string(), v.number()])),
    is_cd_drive: flag,
    read_only: flag,
  },
  vdis: {
    id,
    $pool: text,
    $SR: text,
    $VBDs: texts,
    name_label: text,
    name_description: text,
    size: v.number(),
  },
  tasks: {
    id,
    status: v.string(),
    start: number,
    end: number,
    properties: v.nullish(v.object({ args: ARGS })),
    result: v.optional(v.unknown()),
  },
};

/** What to ask for in each collection. The schemas remove other fields. */
export const WANTED: { readonly [C in keyof MachineCollections]: Wanted<MachineCollections[C]> } = {
  vms: { fields: toFields("vms"), schema: v.object(ENTRIES.vms) },
  "vm-templates": { fields: toFields("vm-templates"), schema: v.object(ENTRIES["vm-templates"]) },
  "vm-controllers": {
    fields: toFields("vm-controllers"),
    schema: v.object(ENTRIES["vm-controllers"]),
  },
  srs: { fields: toFields("srs"), schema: v.object(ENTRIES.srs) },
  networks: { fields: toFields("networks"), schema: v.object(ENTRIES.networks) },
  pools: { fields: toFields("pools"), schema: v.object(ENTRIES.pools) },
  hosts: { fields: toFields("hosts"), schema: v.object(ENTRIES.hosts) },
  vifs: { fields: toFields("vifs"), schema: v.object(ENTRIES.vifs) },
  vbds: { fields: toFields("vbds"), schema: v.object(ENTRIES.vbds) },
  vdis: { fields: toFields("vdis"), schema: v.object(ENTRIES.vdis) },
  tasks: { fields: toFields("tasks"), schema: v.object(ENTRIES.tasks) },
};

function toFields(collection: keyof typeof ENTRIES): string {
  return Object.keys(ENTRIES[collection]).join(",");
}
