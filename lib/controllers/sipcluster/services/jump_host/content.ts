/**
 * The files of a jump host, from the machines of its cluster.
 * @module
 */
import { parseIp } from "../../../../core/net/ip.ts";
import type { Machine } from "../types.ts";

/** A machine as people name it on the jump host. */
export interface Host {
  /** Its name; with its namespace if that is not the one of the cluster, so that it stands for no other name. */
  readonly name: string;
  readonly machine: Machine;
  /** Absent if it has none on the network of the jump host. */
  readonly address?: string;
}

/** Where the files are in the container. */
export const PATHS = {
  config: "/etc/opt/sip/config",
  hostKeys: "/etc/opt/sip/host-keys",
  nodeKeys: "/etc/opt/sip/ssh-private-keys",
  scripts: "/opt/sip/bin",
  home: "/home/ubuntu",
} as const;

/** The port of sshd in the container: only root could have 22. */
export const SSHD_PORT = 2222;
/** The user of the original image, whom existing commands name. */
const USER = "ubuntu";
/** The file that `sshrc` writes. */
const IDENTITIES = `${PATHS.home}/.ssh/identities`;

/**
 * Names the machines of a cluster, in their order.
 *
 * @param home The namespace of the cluster
 * @param network ID of the network from which addresses are taken
 */
export function toHosts(
  machines: readonly Machine[],
  home: string,
  network: string | undefined,
): readonly Host[] {
  return machines.map((machine) => {
    const { name, namespace, addresses } = machine;
    const address = parseIp(addresses.get(network ?? "") ?? "")?.text;
    return {
      name: namespace === home ? name : `${name}.${namespace}`,
      machine,
      ...(address !== undefined && { address }),
    };
  });
}

/** The list of machines, for `host` and other scripts: JSON, one machine a line. */
export function formatHosts(hosts: readonly Host[]): string {
  const lines = hosts.map(({ name, machine, address }) => {
    const { namespace, name: bareMetalHost, role, standby } = machine;
    return JSON.stringify({ name, namespace, bareMetalHost, role, standby, address });
  });
  return `[\n${lines.join(",\n")}\n]\n`;
}

/** What ssh on the jump host knows: the address of every machine, and which keys to offer. */
export function formatSshConfig(hosts: readonly Host[]): string {
  const blocks = hosts.map(({ name, address }) =>
    address === undefined ? "" : `Host ${name}\n  HostName ${address}\n`,
  );
  return `${blocks.join("")}Host *
  # The keys of the nodes, which sshrc lists at each login.
  Include ${IDENTITIES}
  IdentitiesOnly yes
  # A node gets another key each time it is installed: the first one that is seen counts.
  StrictHostKeyChecking accept-new
`;
}

/** Lists the keys of the nodes at each login: ssh has no pattern for them, and the Secret may have changed. */
export const SSHRC: string = `mkdir -p ${PATHS.home}/.ssh
chmod 700 ${PATHS.home}/.ssh
for key in ${PATHS.nodeKeys}/*; do
  [ -f "$key" ] && echo "IdentityFile $key"
done > ${IDENTITIES}.$$
mv ${IDENTITIES}.$$ ${IDENTITIES}
`;

/** sshd for one user that is not root. */
export const SSHD_CONFIG: string = `Port ${SSHD_PORT}
HostKey ${PATHS.hostKeys}/ssh_host_ed25519_key
PidFile none
AuthorizedKeysFile ${PATHS.config}/authorized_keys
# The folder of a mounted ConfigMap is writable for its group, but mounted read-only.
StrictModes no
UsePAM no
AuthenticationMethods publickey
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin no
AllowUsers ${USER}
AllowTcpForwarding local
AllowStreamLocalForwarding no
X11Forwarding no
PrintMotd no
LoginGraceTime 30
ClientAliveInterval 60
ClientAliveCountMax 3
Subsystem sftp internal-sftp
`;

/**
 * A line of known_hosts for clients of the jump host. It is for a name that no server has by itself, so people can add
 * it to their own file: it never counts for another server. Clients say the name with `HostKeyAlias`, at every
 * Node and port.
 */
export function formatKnownHosts(alias: string, publicKey: string): string {
  return `${alias} ${publicKey}\n`;
}
