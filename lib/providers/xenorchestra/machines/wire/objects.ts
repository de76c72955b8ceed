/**
 * The objects that machines are made of, with only the fields that Landfall uses, as in xo-server 5.207.
 * @module
 */

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
