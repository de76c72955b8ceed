/**
 * A host without neighbours: a network namespace of one process, gone with it.
 * @module
 */

/** What a host has beside 127.0.0.1 and ::1. */
export interface LoneHost {
  /** Addresses with their prefixes: `fd00::11/128`. */
  readonly addresses: readonly string[];
  /** Settings of its kernel: `net.ipv6.bindv6only=1`. @default {none} */
  readonly sysctls?: readonly string[];
}

/** A command on such a host. */
interface PlacedCommand {
  /** Runs it there; it keeps its process ID. */
  readonly command: readonly string[];
  /** What a command begins with that is to run on the same host. */
  enter(pid: number): readonly string[];
}

/** Puts a command on a host of its own. */
export function placeOnLoneHost(
  { addresses, sysctls = [] }: LoneHost,
  command: readonly string[],
): PlacedCommand {
  const steps = [
    "ip link set lo up",
    ...sysctls.map((setting) => `sysctl -qw ${setting}`),
    ...addresses.map((address) => `ip address add ${address} dev lo`),
    'exec "$@"',
  ];
  return {
    command: ["unshare", "--net", "sh", "-c", steps.join(" && "), "sh", ...command],
    enter: (pid) => ["nsenter", `--target=${pid}`, "--net"],
  };
}
