/**
 * What the Redfish service needs of the machines behind it. It speaks no Redfish, and knows no cloud.
 * @module
 */

/** A user name and its password. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** What a machine starts from. */
export type SystemDevice = "disk" | "network" | "cd";

/** What a client asks of the power of a machine. `off` is hard; the graceful ones ask the guest. */
export type SystemAction =
  "on" | "off" | "gracefulOff" | "restart" | "gracefulRestart" | "cycle" | "pause" | "resume";

/** What a machine starts from instead of its own order, and how often. */
export interface SystemOverride {
  readonly duration: "never" | "once" | "always";
  /** Absent: nothing is overridden. */
  readonly device?: SystemDevice;
}

/** What a client wants to change of the override; what is absent stays. */
export interface OverrideChange {
  readonly duration?: SystemOverride["duration"];
  /** `none` ends the override. */
  readonly device?: SystemDevice | "none";
  /** A machine keeps its firmware: only the one that it has is accepted. */
  readonly firmware?: "bios" | "uefi";
}

/** A machine. */
export interface SystemReading {
  readonly id: string;
  readonly name: string;
  readonly power: "running" | "stopped" | "paused" | "suspended" | "unknown";
  readonly boot: SystemOverride;
  readonly firmware: "bios" | "uefi" | "unknown";
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly interfaces: readonly { readonly mac: string; readonly network?: string }[];
}

/** Why a change is refused. */
export type SystemRefusal =
  | "state"
  | "notGraceful"
  | "busy"
  | "blocked"
  | "denied"
  | "noRoom"
  | "notOurs"
  | "unsupported"
  | "firmware";

/**
 * An answer. `silent`: what is behind does not answer, so nothing is known; a change may have been done all the same.
 *
 * Messages are for clients: what is wrong and what to do; no full stop, no secret.
 */
export type Answer<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "refused"; readonly refusal: SystemRefusal; readonly message: string }
  | { readonly kind: "silent"; readonly message: string };

/** The machines, each with its own user and password. */
export interface RedfishBackend {
  /** Whether this process may act. Another one answers if not. */
  isLeading(): boolean;
  /** The IDs of the machines whose user and password these are, in order. None: no machine has them. */
  findSystems(credentials: Credentials, signal: AbortSignal): Promise<Answer<readonly string[]>>;
  /** Reads a machine now; `undefined` if it is not one of those that may be shown. */
  read(id: string, signal: AbortSignal): Promise<Answer<SystemReading | undefined>>;
  /** Changes the power. Resolves when it has begun. What is so already is done. */
  reset(id: string, action: SystemAction, signal: AbortSignal): Promise<Answer<void>>;
  /** Changes the override. What was done is not lost when this process ends. */
  setBoot(id: string, change: OverrideChange, signal: AbortSignal): Promise<Answer<void>>;
}
