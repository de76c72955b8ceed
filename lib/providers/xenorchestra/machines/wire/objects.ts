/**
 * The objects that machines are made of, with only the fields that Landfall uses, as in xo-server 5.207: how to ask for
 * them, and how to read them.
 * @module
 */
import * as v from "valibot";
import { MACHINE_PREFIX } from "../../../../cloud/capabilities/machines.ts";
import { COLLECTIONS, type PoolMember } from "../../client.ts";
import type { Followed } from "../../inventory.ts";

type Text = string | null | undefined;
type Flag = boolean | null | undefined;
type Amount = number | null | undefined;

/** A VM. */
export interface RawVm {
  readonly id: string;
  readonly $pool: string;
  readonly name_label: string;
  readonly name_description?: Text;
  /** `Running`, `Halted`, `Paused` or `Suspended`. */
  readonly power_state?: Text;
  /** The host while it runs; otherwise the pool, or a host that holds one of its disks. */
  readonly $container?: Text;
  readonly CPUs?: { readonly number?: Amount; readonly max?: Amount } | null | undefined;
  /** `static`: minimum and maximum. In bytes. */
  readonly memory?: { readonly static?: readonly number[] | null | undefined } | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  /** Reasons by operation. */
  readonly blockedOperations?: Readonly<Record<string, unknown>> | null | undefined;
  readonly boot?: { readonly order?: Text; readonly firmware?: Text } | null | undefined;
  /** IDs of its network interfaces. */
  readonly VIFs?: readonly string[] | null | undefined;
  /** IDs of the links to its disks. */
  readonly $VBDs?: readonly string[] | null | undefined;
  /** Who made it from what, as Xen Orchestra writes it soon after the beginning. */
  readonly creation?:
    { readonly date?: unknown; readonly template?: Text; readonly user?: Text } | null | undefined;
  /** In seconds since the epoch, while it runs. */
  readonly startTime?: Amount;
  readonly snapshots?: readonly string[] | null | undefined;
  readonly current_operations?: Readonly<Record<string, unknown>> | null | undefined;
  readonly pvDriversDetected?: Flag;
  /** The version of the guest tools, or `false`. */
  readonly xenTools?: unknown;
}

/** A template: what a VM is made from, and what a VM is at first. */
export interface RawTemplate extends RawVm {
  /** Of a default template, the ID is another one. */
  readonly uuid?: Text;
  readonly isDefaultTemplate?: Flag;
}

/** A storage repository. Sizes are in bytes. */
export interface RawStorage {
  readonly id: string;
  readonly $pool?: Text;
  /** The pool if it is shared, otherwise its host. */
  readonly $container?: Text;
  readonly name_label?: Text;
  readonly content_type?: Text;
  readonly SR_type?: Text;
  readonly shared?: Flag;
  readonly size?: Amount;
  readonly physical_usage?: Amount;
  /** `thin` or `thick`. */
  readonly allocationStrategy?: Text;
  readonly inMaintenanceMode?: Flag;
}

/** A network. */
export interface RawNetwork {
  readonly id: string;
  readonly $pool?: Text;
  readonly name_label?: Text;
}

/** A pool. */
export interface RawPool {
  readonly id: string;
  readonly name_label?: Text;
  /** ID of the host that leads it. */
  readonly master?: Text;
  readonly default_SR?: Text;
}

/** A host. */
export interface RawHost {
  readonly id: string;
  readonly $pool?: Text;
  readonly name_label?: Text;
  readonly tags?: readonly string[] | null | undefined;
  readonly enabled?: Flag;
}

/** A network interface of a VM or a template. */
export interface RawVif {
  readonly id: string;
  readonly $VM?: Text;
  readonly $network?: Text;
  readonly $pool?: Text;
  readonly device: string | number;
  readonly MAC: string;
  /** In bytes. */
  readonly MTU?: Amount;
}

/** The link between a VM or a template and a disk. */
export interface RawVbd {
  readonly id: string;
  readonly VM?: Text;
  /** ID of the disk; absent for an empty drive. */
  readonly VDI?: Text;
  readonly position?: string | number | null | undefined;
  readonly is_cd_drive?: Flag;
  readonly read_only?: Flag;
}

/** A disk. */
export interface RawVdi {
  readonly id: string;
  readonly $pool?: Text;
  readonly $SR?: Text;
  readonly $VBDs?: readonly string[] | null | undefined;
  readonly name_label?: Text;
  readonly name_description?: Text;
  /** In bytes. */
  readonly size: number;
}

/** A task of the REST API that made a VM. Times are milliseconds by the server's clock. */
export interface RawTask {
  readonly id: string;
  /** `pending`, `success`, `failure` or `interrupted`. */
  readonly status: string;
  readonly start?: Amount;
  readonly end?: Amount;
  readonly properties?:
    | {
        readonly args?:
          { readonly name_label?: unknown; readonly template?: unknown } | null | undefined;
      }
    | null
    | undefined;
  /** Of a success, the ID of the VM; of a failure, the error. */
  readonly result?: unknown;
}

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

const OWN_NAMES = `name_label:/^${MACHINE_PREFIX}/`;
/** VMs whose names, marks or tags are of our form. */
export const OWN_VMS: string = `|(${OWN_NAMES} name_description:/vino uid=/ tags:/^vino:uid=/)`;
/** Disks whose names are of our form. */
export const OWN_DISKS: string = OWN_NAMES;

/** What inventories do not read anyway. What cannot be read is missing: nothing changes because of an inventory. */
const MORE = {
  name_description: v.fallback(text, undefined),
  CPUs: v.fallback(v.nullish(v.object({ number: v.nullish(v.number()) })), undefined),
  blockedOperations: v.fallback(v.nullish(v.record(v.string(), v.unknown())), undefined),
  boot: v.fallback(v.nullish(v.object({ order: text, firmware: text })), undefined),
  VIFs: v.fallback(texts, undefined),
  $VBDs: v.fallback(texts, undefined),
  creation: v.fallback(v.nullish(v.object({ template: text, user: text })), undefined),
  startTime: v.fallback(v.nullish(v.number()), undefined),
  pvDriversDetected: v.fallback(flag, undefined),
  xenTools: v.optional(v.unknown()),
};

/** See {@linkcode Followed}. */
export const FOLLOWED: Followed = {
  vms: {
    fields: Object.keys(MORE)
      .filter((field) => field !== "CPUs")
      .join(","),
    schema: v.intersect([COLLECTIONS.vms.schema, v.object(MORE)]),
    filter: OWN_VMS,
  },
  hosts: { fields: "enabled", schema: COLLECTIONS.hosts.schema },
  isOurs: (vm) => {
    if (vm.name_label?.startsWith(MACHINE_PREFIX)) return true;
    // It may be a copy of one, with its description.
    return "name_description" in vm && String(vm.name_description).includes("vino uid=");
  },
};
