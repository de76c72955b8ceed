/**
 * Schemas of the replies of Xen Orchestra, with only the fields that Landfall uses, as in xo-server 5.207 and older.
 * @module
 */
import * as v from "valibot";
import { parseUuid } from "../../../core/text/uuid.ts";

/** A virtual machine. */
export interface Vm {
  readonly id: string;
  readonly $pool: string;
  readonly name_label?: string | null | undefined;
  /** `Running`, `Halted`, `Paused` or `Suspended`. */
  readonly power_state?: string | null | undefined;
  /** The host while the VM runs; otherwise the pool, or a host that holds one of its disks. */
  readonly $container?: string | null | undefined;
  readonly CPUs?: { readonly max?: number | null | undefined } | null | undefined;
  /** `static`: minimum and maximum configured memory in bytes. */
  readonly memory?: { readonly static?: readonly number[] | null | undefined } | null | undefined;
  /** Addresses by `<VIF device>/ipv4/<n>`. */
  readonly addresses?: Readonly<Record<string, string>> | null | undefined;
  readonly mainIpAddress?: string | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  /** Running operations by task: `migrate_send`, `pool_migrate` … `null` if the reply has another shape. */
  readonly current_operations?: Readonly<Record<string, unknown>> | null | undefined;
}

/** A hypervisor. */
export interface Host {
  readonly id: string;
  readonly $pool?: string | null | undefined;
  readonly name_label?: string | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  /** `Running` while it answers its pool, otherwise `Halted`. Only in a direct read of one host. */
  readonly power_state?: string | null | undefined;
  /** ID of its dom0, listed under `vm-controllers`. */
  readonly controlDomain?: string | null | undefined;
  /** Whether VMs can start on it. Only in lists that follow machines. */
  readonly enabled?: boolean | null | undefined;
}

/** A pool of hosts. */
export interface Pool {
  readonly id: string;
  readonly name_label?: string | null | undefined;
  /** ID of the host that leads it. */
  readonly master?: string | null | undefined;
}

/** A network. */
export interface Network {
  readonly id: string;
  readonly name_label?: string | null | undefined;
}

/** A network interface of a VM. */
export interface Vif {
  readonly id: string;
  /** Its number in the VM, as text or as a number. */
  readonly device?: unknown;
  readonly $VM?: string | null | undefined;
  /** ID of its network. */
  readonly $network?: unknown;
}

/** A connection of Xen Orchestra to a pool. */
export interface Server {
  readonly id: string;
  readonly label?: string | null | undefined;
  readonly host?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
  readonly status?: string | null | undefined;
  readonly poolId?: string | null | undefined;
}

/** An object that belongs to a pool. */
export interface PoolMember {
  readonly id: string;
  readonly $pool?: string | null | undefined;
}

/** A minted token. */
interface MintedToken {
  readonly token: { readonly id: string; readonly expiration?: number | null | undefined };
}

const id = v.pipe(
  v.string(),
  v.nonEmpty(),
  v.transform((text) => text.toLowerCase()),
);
const isUuid = (text: string): boolean => parseUuid(text) === text;
const uuid = v.pipe(id, v.check(isUuid, "a UUID"));
const uuidOrNone = v.pipe(
  v.string(),
  v.transform((text) => text.toLowerCase()),
  v.check((text) => text === "" || isUuid(text), "a UUID"),
);
const text = v.nullish(v.string());
const texts = v.nullish(v.array(v.string()));

/** Schemas by kind of object. They remove other fields. */
export const SCHEMAS: {
  readonly vm: v.GenericSchema<unknown, Vm>;
  readonly host: v.GenericSchema<unknown, Host>;
  readonly pool: v.GenericSchema<unknown, Pool>;
  readonly network: v.GenericSchema<unknown, Network>;
  readonly vif: v.GenericSchema<unknown, Vif>;
  readonly server: v.GenericSchema<unknown, Server>;
  readonly poolMember: v.GenericSchema<unknown, PoolMember>;
  readonly mintedToken: v.GenericSchema<unknown, MintedToken>;
} = {
  vm: v.object({
    // Both become part of the provider ID, which never changes.
    id: uuid,
    $pool: uuid,
    name_label: text,
    power_state: text,
    // It may become the zone. Some servers send "" instead of no value.
    $container: v.nullish(uuidOrNone),
    CPUs: v.nullish(v.object({ max: v.nullish(v.number()) })),
    memory: v.nullish(v.object({ static: v.nullish(v.array(v.number())) })),
    addresses: v.nullish(v.record(v.string(), v.string())),
    mainIpAddress: text,
    tags: texts,
    // A VM stays readable without it.
    current_operations: v.nullish(v.fallback(v.nullable(v.record(v.string(), v.unknown())), null)),
  }),
  host: v.object({
    id: uuid,
    $pool: text,
    name_label: text,
    tags: texts,
    controlDomain: text,
    power_state: text,
    enabled: v.nullish(v.boolean()),
  }),
  pool: v.object({ id: uuid, name_label: text, master: text }),
  network: v.object({ id, name_label: text }),
  vif: v.object({
    id,
    // A problem with these fields affects only their VM: see toDevices().
    device: v.unknown(),
    $VM: text,
    $network: v.unknown(),
  }),
  server: v.object({
    id,
    label: text,
    host: text,
    enabled: v.nullish(v.boolean()),
    status: text,
    poolId: text,
  }),
  poolMember: v.object({ id, $pool: text }),
  mintedToken: v.object({
    token: v.object({ id: v.string(), expiration: v.nullish(v.number()) }),
  }),
};
