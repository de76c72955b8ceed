/**
 * The server's global settings that change what a client meets. They can be changed while it runs.
 * @module
 */

/** How often an account may ask. */
interface Throttling {
  /** Requests in one interval. */
  readonly max: number;
  /** Length of the interval, in milliseconds. */
  readonly intervalMs: number;
}

/** The settings. */
export interface Settings {
  /** What `listCapabilities` says. */
  version: string;
  /** Entries of a list without pages, and the largest page. */
  defaultPageSize: number;
  /** Refuses state changes by GET, requests without `expires`, and those that expire in more than 15 minutes. */
  enforcesPostAndTimestamps: boolean;
  /** Root administrators are never throttled. */
  throttling: Throttling | undefined;
  /** The code for a command that the role does not allow: 432 since 4.22, 401 before. */
  refusesBy: 401 | 432;
  /** How `name` is compared: equality since 4.20, any part of the name before. */
  nameMatch: "equal" | "part";
  /** Whether ports of firewall rules are sent as text: numbers are usual. */
  sendsPortsAsText: boolean;
  /** Milliseconds that a job takes. */
  jobMs: number;
  /** Content type of JSON. */
  jsonType: string;
  /** How far the server's clock is ahead, in milliseconds. */
  clockSkewMs: number;
  /** Whether answers have a `Date`: a proxy in front adds it, the server itself sends none. */
  sendsDate: boolean;
  /** Public addresses that one account may have. */
  publicIpsMax: number;
  /** Whether `listAsyncJobs` lists jobs that ended within a day, as before 4.12. */
  listsEndedJobs: boolean;
  /** Milliseconds after which the server forgets an event. */
  eventsKeptMs: number;
  /** Whether `listPublicIpAddresses` shows users the free ones, when they ask for them. */
  showsFreeIps: boolean;
}

/** Settings as a new installation has them. */
export function toSettings(changes: Partial<Settings> = {}): Settings {
  return {
    version: "4.22.0.0",
    defaultPageSize: 500,
    enforcesPostAndTimestamps: false,
    throttling: undefined,
    refusesBy: 432,
    nameMatch: "equal",
    sendsPortsAsText: false,
    jobMs: 200,
    jsonType: "application/json; charset=UTF-8",
    clockSkewMs: 0,
    sendsDate: false,
    publicIpsMax: Infinity,
    listsEndedJobs: false,
    eventsKeptMs: 15 * 86_400_000,
    showsFreeIps: true,
    ...changes,
  };
}

/** Whether the server is of a version or newer. @param version Major and minor: `4.18` */
export function isSince(settings: Settings, version: string): boolean {
  return settings.version.localeCompare(version, "en", { numeric: true }) >= 0;
}
