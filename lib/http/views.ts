/**
 * What the debug pages show. Plain data: the composition root fills it in from what it knows.
 * @module
 */

/** What the cloud says about a Node's machine. */
export interface PresenceView {
  readonly kind: "present" | "absent" | "unknown" | "foreign";
  /** Why nothing is known, as one word. */
  readonly reason?: string;
  /** The same for people. */
  readonly message?: string;
}

/** A machine as the cloud shows it. */
export interface InstanceView {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  /** Power state, pool, host and whatever else the cloud tells, by name. */
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

/** What should be, beside what is. */
export interface Compared<T> {
  /** Absent when there is nothing to want it by: the machine is not known. */
  readonly wanted?: T;
  readonly actual: T;
}

/** How a Node was dealt with last. Times are ISO 8601. */
export interface ReconcileView {
  readonly at: string;
  /** One word: `unchanged`, `changed`, `failed` … */
  readonly outcome: string;
  readonly error?: string;
}

/** Whether a Node is about to be deleted, and what stands before it. */
export interface DeletionView {
  /** One word: `waiting`, `confirm`, `blocked`, `unconfirmed`. */
  readonly state: string;
  /** Why, as one word. */
  readonly reason?: string;
  /** The same for people. */
  readonly message?: string;
}

/** Everything about one Node that explains what Landfall does with it. */
export interface NodeView {
  readonly name: string;
  readonly providerId?: string;
  /** The provider ID that its machine asks for; one that a Node has is never changed. */
  readonly wantedProviderId?: string;
  /** Whether it still waits, tainted, for its cloud. */
  readonly isUninitialized?: boolean;
  /** By what its machine was found. */
  readonly matchedBy?: string;
  /** Where its machine is, the largest place first; by the labels of the Node while the cloud does not tell. */
  readonly places?: readonly PlaceView[];
  readonly presence: PresenceView;
  readonly instance: InstanceView | null;
  /** Only the labels that Landfall owns, by key: those that are there also while the machine is not known. */
  readonly labels: Compared<Readonly<Record<string, string>>>;
  readonly addresses: Compared<readonly AddressView[]>;
  /** Status of the condition Ready. */
  readonly ready: string;
  /** Absent when the machine is there. */
  readonly deletion?: DeletionView;
  readonly lastReconcile: ReconcileView | null;
  /** When it is looked at again by itself; ISO 8601. */
  readonly nextReconcileAt?: string;
}

/** How far one part of the cloud (a pool, a zone, a file) answered. */
export interface CoverageView {
  readonly id: string;
  readonly name?: string;
  readonly complete: boolean;
  readonly reason?: string;
}

/** The newest inventory, and how taking it goes. */
export interface InventoryView {
  /** Seconds since it was asked for; `null` before the first one. */
  readonly ageSeconds: number | null;
  /** When it was asked for; ISO 8601. */
  readonly observedAt?: string;
  readonly coverage: readonly CoverageView[];
  /** How many there are of what: `instances`, `undecodable` … */
  readonly counts: Readonly<Record<string, number>>;
  /** Why the last refresh failed, if it did. */
  readonly lastError?: string;
  readonly lastRefreshDurationMs?: number;
}

/** Which of several replicas acts. */
export interface ElectionView {
  /** This process. */
  readonly identity: string;
  /** Who holds the Lease; empty when nobody does. */
  readonly holder: string;
  readonly isLeading: boolean;
}

/** The process itself. */
export interface StatusView {
  /** Name of the cloud's provider. */
  readonly provider: string;
  /** Name of the machine that the process runs on. */
  readonly host: string;
  /** Absent when there is no election: the process acts alone. */
  readonly election?: ElectionView;
}
