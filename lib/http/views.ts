/**
 * What the debug pages show. Plain data: the composition root fills it in from what it knows.
 * @module
 */

/** What the cloud says about a Node's machine. */
export interface PresenceView {
  readonly kind: "present" | "absent" | "unknown" | "foreign";
  /** Why the presence is unknown, in one word. */
  readonly reason?: string;
  /** The same for people. */
  readonly message?: string;
}

/** A machine as the cloud shows it. */
export interface InstanceView {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  /** Power state, pool, host and other facts of the cloud, by name. */
  readonly details: Readonly<Record<string, string>>;
}

/** An address of a Node. */
export interface AddressView {
  readonly type: string;
  readonly address: string;
}

/** A place that holds machines: a pool, a host, a zone … */
export interface PlaceView {
  /** What the cloud calls such a place, for people. */
  readonly kind: string;
  readonly id: string;
  readonly name?: string;
}

/** Desired and actual values. */
export interface Compared<T> {
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

/** Whether a Node is about to be deleted, and what delays it. */
export interface DeletionView {
  /** One word: `waiting`, `confirm`, `blocked`, `unconfirmed`. */
  readonly state: string;
  /** Why, as one word. */
  readonly reason?: string;
  /** The same for people. */
  readonly message?: string;
}

/** Whether a Node is out of service, so that Kubernetes detaches its volumes. */
export interface OutOfServiceView {
  /** One word: `tainted`, `taintedByOthers`, `waiting`, `confirm`, `blocked`. */
  readonly state: string;
  /** Why, for people. */
  readonly message?: string;
}

/** Everything about one Node that explains what Landfall does with it. */
export interface NodeView {
  readonly name: string;
  readonly providerId?: string;
  /** The provider ID of its machine; the provider ID of a Node is never changed. */
  readonly wantedProviderId?: string;
  /** Whether it still has its taint and waits for its cloud. */
  readonly isUninitialized?: boolean;
  /** How its machine was found. */
  readonly matchedBy?: string;
  /** Where its machine is, the largest place first; by the labels of the Node if the cloud does not say. */
  readonly places?: readonly PlaceView[];
  readonly presence: PresenceView;
  readonly instance: InstanceView | null;
  /** Only the labels that Landfall owns, by key; the actual ones are shown also while the machine is unknown. */
  readonly labels: Compared<Readonly<Record<string, string>>>;
  readonly addresses: Compared<readonly AddressView[]>;
  /** Status of the condition Ready. */
  readonly ready: string;
  /** Absent when the machine is there. */
  readonly deletion?: DeletionView;
  /** Absent when there is nothing to tell, or its controller does not run. */
  readonly outOfService?: OutOfServiceView;
  readonly lastReconcile: ReconcileView | null;
  /** When it is next reconciled without a change; ISO 8601. */
  readonly nextReconcileAt?: string;
}

/** Whether one part of the cloud (a pool, a zone, a file) is complete. */
export interface CoverageView {
  readonly id: string;
  readonly name?: string;
  readonly complete: boolean;
  readonly reason?: string;
}

/** The newest inventory, and the result of the last refresh. */
export interface InventoryView {
  /** Seconds since it was asked for; `null` before the first one. */
  readonly ageSeconds: number | null;
  /** When it was asked for; ISO 8601. */
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
  /** This process. */
  readonly identity: string;
  /** The holder of the Lease; empty without one. */
  readonly holder: string;
  readonly isLeading: boolean;
}

/** The process itself. */
export interface StatusView {
  /** Name of the cloud's provider. */
  readonly provider: string;
  /** Name of the machine that the process runs on. */
  readonly host: string;
  /** Absent without leader election: the only process. */
  readonly election?: ElectionView;
}
