/**
 * Names of the BareMetalHosts of machines, and of their Secrets. Frozen: they must not change.
 * @module
 */
import { shortenName } from "../../../core/text/label.ts";

/** Which machine of a Vino. */
interface HostIdentity {
  /** Name of the Vino. */
  readonly vino: string;
  readonly role: string;
  readonly index: number;
}

/**
 * The name of a host: `<vino>-<role>-<index>`, for a long one its beginning and a hash. It has at most 63 characters,
 * because installed machines often get it as their name.
 */
export function toHostName({ vino, role, index }: HostIdentity): string {
  return shortenName(`${vino}-${role}-${index}`);
}

/** So much of the name of a Vino is in the names of all its hosts, also of those that are shortened. */
const CERTAIN_LENGTH = 48;

/** Whether a host has a name that a host of a Vino can have. */
export function mayBeHostOf(vino: string, host: string): boolean {
  return host.startsWith(`${vino}-`.slice(0, CERTAIN_LENGTH));
}

/** The name of the Secret with the network data of a host. */
export function toNetworkDataName(host: string): string {
  return `${host}-network-data`;
}

/** The name of the Secret with the boot override of a host's machine. */
export function toBootOverrideName(host: string): string {
  return `${host}-boot-override`;
}

/** The name of the Secret with the user name and the password of a host's management controller. */
export function toCredentialsName(host: string): string {
  return `${host}-bmc-credentials`;
}
