/**
 * The data of the debug pages. The composition root fills it in.
 * @module
 */

/** What the cloud says about a Node's machine. */
interface PresenceView {
  readonly kind: "present" | "absent" | "unknown" | "foreign";
  /** Why the presence is unknown, in one word. */
  readonly reason?: string;
  /** The same as a sentence for operators. */
  readonly message?: string;
}

/** A machine as the cloud shows it. */
interface InstanceView {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  /** Power state, pool, host and other facts of the cloud, by name. */
  readonly details: Readonly<Record<string, string>>;
  /** URL of its page in the cloud. Absent: the cloud has none. */
  readonly page?: string;
}

/** An address of a Node. */
export interface AddressView {
  readonly type: string;
  readonly address: string;
}

/** A place that holds machines: a pool, a host, a zone … */
export interface PlaceView {
  /** The kind of place, in words of the cloud. */
  readonly kind: string;
  readonly id: string;
  readonly name?: string;
}

/** Desired and actual values. */
interface Compared<T> {
  /** Absent if the machine is unknown. */
  readonly wanted?: T;
  readonly actual: T;
}

/** The last reconcile of a Node. Times are ISO 8601. */
export interface ReconcileView {
  readonly at: string;
  /** One word: `unchanged`, `changed`, `failed` … */
  readonly outcome: string;
  readonly error?: string;
}

/** A condition of an object. */
export interface ConditionView {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** An Event that this process wrote about an object, or several equal ones. */
export interface EventView {
  /** `Normal`, `Warning`. */
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  /** Of the last one; ISO 8601. */
  readonly at: string;
}

/** Whether a Node is about to be deleted, and what delays it. */
interface DeletionView {
  /** One word: `waiting`, `confirm`, `blocked`, `unconfirmed`. */
  readonly state: string;
  /** Why, as one word. */
  readonly reason?: string;
  /** The same as a sentence for operators. */
  readonly message?: string;
}

/** Whether a Node is out of service, so that Kubernetes detaches its volumes. */
interface OutOfServiceView {
  /** One word: `tainted`, `taintedByOthers`, `waiting`, `confirm`, `blocked`. */
  readonly state: string;
  /** Why, for people. */
  readonly message?: string;
}

/** Everything about one Node that explains what Landfall does with it. */
export interface NodeView {
  readonly name: string;
  readonly providerId?: string;
  /** The provider ID of its machine. Landfall never changes the provider ID of a Node. */
  readonly wantedProviderId?: string;
  /** Whether it still has its taint and waits for initialisation. */
  readonly isUninitialized?: boolean;
  /** How its machine was found. */
  readonly matchedBy?: string;
  /**
   * The places that hold its machine, the largest first. If the cloud does not say, they come from the labels of the
   * Node.
   */
  readonly places?: readonly PlaceView[];
  readonly presence: PresenceView;
  readonly instance: InstanceView | null;
  /** Only the labels that Landfall owns, by key. The actual ones are shown also while the machine is unknown. */
  readonly labels: Compared<Readonly<Record<string, string>>>;
  readonly addresses: Compared<readonly AddressView[]>;
  /** Who else has addresses of it or its machine, and what to do. Absent: there is no conflict. */
  readonly addressConflict?: string;
  /** Status of the condition Ready. */
  readonly ready: string;
  /** Absent if the machine exists. */
  readonly deletion?: DeletionView;
  /** Absent when there is nothing to tell, or its controller does not run. */
  readonly outOfService?: OutOfServiceView;
  readonly lastReconcile: ReconcileView | null;
  /** When it is next reconciled without a change; ISO 8601. */
  readonly nextReconcileAt?: string;
  /** What this process wrote, the newest first. @default {nothing} */
  readonly events?: readonly EventView[];
}

/** How full an address pool is. */
export interface PoolUsageView {
  readonly pool: string;
  /** `IPv4` or `IPv6`. */
  readonly family: string;
  readonly used: number;
  /** All addresses of the family. */
  readonly total: number;
}

/** Whether one part of the cloud (a pool, a zone, a file) is complete. */
interface CoverageView {
  readonly id: string;
  readonly name?: string;
  readonly complete: boolean;
  readonly reason?: string;
}

/** The newest inventory, and the result of the last refresh. */
export interface InventoryView {
  /** Age in seconds, from the request; `null` before the first inventory. */
  readonly ageSeconds: number | null;
  /** When Landfall asked for it; ISO 8601. */
  readonly observedAt?: string;
  readonly coverage: readonly CoverageView[];
  /** Counts by name: `instances`, `undecodable` … */
  readonly counts: Readonly<Record<string, number>>;
  /** Why the last refresh failed, if it did. */
  readonly lastError?: string;
  readonly lastRefreshDurationMs?: number;
}

/** Which of several replicas leads. */
export interface ElectionView {
  /** Name of the Lease. */
  readonly lease: string;
  /** This process. */
  readonly identity: string;
  /** The process that holds the Lease; empty if none does. */
  readonly holder: string;
  readonly isLeading: boolean;
}

/** Whether this process works on the objects of a kind, and what it waits for. */
export interface ServingView {
  /** The Lease of the kind. Absent without leader election: this process works on them. */
  readonly election?: ElectionView;
  /** Kinds that the API server does not serve yet, with group and version. */
  readonly missing: readonly string[];
}

/** What a process runs, and what it waits for. */
export interface ProcessView {
  /** Name of the machine that it runs on. */
  readonly host: string;
  /** A Lease for each election; none without leader election. */
  readonly elections: readonly ElectionView[];
  readonly controllers: readonly {
    readonly name: string;
    /** The Lease that it waits for; absent without leader election. */
    readonly lease?: string;
    /** Whether it may act here: this process holds its Lease. */
    readonly isRunning: boolean;
  }[];
  /** The kinds of objects that its controllers read. */
  readonly kinds: readonly {
    /** With group and version: `galleries.example.org/v1`. */
    readonly kind: string;
    /** Which of its objects: `labelSelector=a`. Absent: all of them. */
    readonly selection?: string;
    /** `missing`: the API server does not serve it. `waiting`: the first list is not there yet. */
    readonly state: "synced" | "waiting" | "missing";
  }[];
}

/** The process itself. */
export interface StatusView {
  /** Name of the cloud's provider. */
  readonly provider: string;
  /** Name of the machine that the process runs on. */
  readonly host: string;
  /** The Lease that Nodes and load balancers wait for. Absent without leader election: the only process. */
  readonly election?: ElectionView;
  /** Further Leases, which controllers of other kinds wait for. @default {none} */
  readonly moreElections?: readonly ElectionView[];
}
