/**
 * The words of Redfish, and ours for the same.
 * @module
 */
import type { BootOverride, ManagedReading } from "../../cloud/capabilities/machine_management.ts";
import type { BootDevice, PowerAction } from "../../cloud/capabilities/machine_power.ts";

/** Values of `ResetType`. `Nmi` is not among them: a cloud cannot send it. */
export const RESET_TYPES: Readonly<Record<string, PowerAction>> = {
  On: "on",
  ForceOff: "off",
  GracefulShutdown: "gracefulOff",
  GracefulRestart: "gracefulRestart",
  ForceRestart: "restart",
  PowerCycle: "cycle",
  Pause: "pause",
  Resume: "resume",
};

/** Values of `ResetType` that need a guest that can be asked. */
export const GRACEFUL: ReadonlySet<string> = new Set(["GracefulShutdown", "GracefulRestart"]);

/** Values of `ResetType` of a manager. */
export const MANAGER_RESET_TYPES: Readonly<Record<string, "restart">> = {
  GracefulRestart: "restart",
  ForceRestart: "restart",
};

/** Values of `BootSourceOverrideTarget`. */
export const TARGETS: Readonly<Record<string, BootDevice | "none">> = {
  None: "none",
  Pxe: "network",
  Hdd: "disk",
  Cd: "cd",
};

/** Those of a machine. Without virtual media there is no CD to start from. */
export function toTargets(hasMedia: boolean): typeof TARGETS {
  return Object.fromEntries(Object.entries(TARGETS).filter(([, one]) => hasMedia || one !== "cd"));
}

/** Values of `BootSourceOverrideEnabled`. */
export const DURATIONS: Readonly<Record<string, BootOverride["duration"]>> = {
  Disabled: "never",
  Once: "once",
  Continuous: "always",
};

/** Values of `BootSourceOverrideMode`. */
export const MODES: Readonly<Record<string, "bios" | "uefi">> = { Legacy: "bios", UEFI: "uefi" };

/** Values of `PowerState`. A suspended machine does not run until it is switched on. */
export const POWER_STATES: Readonly<Record<ManagedReading["power"], string | null>> = {
  running: "On",
  stopped: "Off",
  suspended: "Off",
  paused: "Paused",
  unknown: null,
};

/** Finds the word of Redfish for one of ours. */
export function toWord<T extends string>(
  words: Readonly<Record<string, T>>,
  own: T,
): string | undefined {
  return Object.keys(words).find((word) => words[word] === own);
}

/** The path of the service. */
export const ROOT = "/redfish/v1";
/** The path of a system. */
export function toSystemPath(id: string): string {
  return `${ROOT}/Systems/${id}`;
}
/** The path of the manager of a system, which has the same ID. */
export function toManagerPath(id: string): string {
  return `${ROOT}/Managers/${id}`;
}
/** The path of the account service. */
export const ACCOUNTS_PATH: string = `${ROOT}/AccountService`;
/** The roles that the standard wants from every service, with their privileges. */
export const ROLES = {
  Administrator: [
    "Login",
    "ConfigureManager",
    "ConfigureUsers",
    "ConfigureComponents",
    "ConfigureSelf",
  ],
  Operator: ["Login", "ConfigureComponents", "ConfigureSelf"],
  ReadOnly: ["Login", "ConfigureSelf"],
} as const;
/** Name of a role. */
export type RoleId = keyof typeof ROLES;
/** What everyone has who gives the user and the password of a machine. */
export const OWN_ROLE: RoleId = "Operator";
/** The path of all sessions. */
export const SESSIONS_PATH: string = `${ROOT}/SessionService/Sessions`;
