/**
 * The files of a jump host, from the machines of its cluster.
 * @module
 */
import type { Machine } from "../types.ts";
import { parseIp } from "../../../../core/net/ip.ts";

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

/**
 * `host list` and `host reboot NAME`. A reboot is a request in a ConfigMap, the only object that the jump host may
 * change; Landfall answers it there. Needs curl and jq.
 */
export const HOST: string = String.raw`#!/bin/sh
# Lists the hosts of this cluster, and asks Landfall to reboot one.
set -eu

config=/etc/opt/sip/config
account=/var/run/secrets/kubernetes.io/serviceaccount
answer_s=60

usage() {
  echo 'usage: host list' >&2
  echo '       host reboot NAME' >&2
  exit 64
}

# Asks the API server for the requests, with more arguments of curl. The token is no argument of a program.
ask() {
  case $KUBERNETES_SERVICE_HOST in
    *:*) server="[$KUBERNETES_SERVICE_HOST]" ;;
    *) server=$KUBERNETES_SERVICE_HOST ;;
  esac
  printf 'header = "Authorization: Bearer %s"\n' "$(cat "$account/token")" |
    curl --config - --silent --show-error --fail --max-time 10 --noproxy '*' --cacert "$account/ca.crt" "$@" \
      "https://$server:$KUBERNETES_SERVICE_PORT$(cat "$config/requests")"
}

change() {
  ask --request PATCH --header 'Content-Type: application/merge-patch+json' --data-binary "$1" > /dev/null
}

# Ends with the answer, if there is one.
finish() {
  answer=$(ask 2> /dev/null | jq --raw-output --arg key "answer.$id" '.data[$key] // empty')
  [ -n "$answer" ] || return 0
  printf '%s\n' "$answer" | jq --raw-output '.message'
  [ "$(printf '%s\n' "$answer" | jq --raw-output '.state')" = done ] && exit 0
  exit 1
}

uptime_s() {
  cut -d . -f 1 /proc/uptime
}

withdraw() {
  change "$(jq --null-input --compact-output --arg key "request.$id" '{data: {($key): null}}')"
}

reboot() {
  host=$(jq --raw-output --arg name "$1" \
    '.[] | select(.name == $name) | .namespace + "/" + .bareMetalHost' "$config/hosts")
  if [ -z "$host" ]; then
    printf 'host: no host of this cluster has the name %s. See: host list\n' "$1" >&2
    exit 1
  fi
  id=$(cat /proc/sys/kernel/random/uuid)
  change "$(jq --null-input --compact-output --arg key "request.$id" --arg host "$host" \
    '{data: {($key): ({host: $host, time: (now | floor)} | tojson)}}')"
  trap 'withdraw; exit 130' HUP INT TERM
  end_s=$(($(uptime_s) + answer_s))
  while [ "$(uptime_s)" -lt $end_s ]; do
    finish
    sleep 1
  done
  withdraw
  finish
  echo "host: no answer within $answer_s s. The request is withdrawn" >&2
  exit 1
}

[ $# -gt 0 ] || usage
case $1 in
  list)
    [ $# -eq 1 ] || usage
    jq --raw-output \
      '.[] | [.name, .role, (if .standby then "standby" else "active" end), .address // "-"] | @tsv' \
      "$config/hosts"
    ;;
  reboot)
    [ $# -eq 2 ] || usage
    reboot "$2"
    ;;
  *) usage ;;
esac
`;

/**
 * Starts sshd. Sessions begin with an empty environment and what one SetEnv says, so this passes on where the API
 * server is, for `host`, and the proxy of the container. Needs printenv.
 */
export const START: string = String.raw`#!/bin/sh
set -eu
pass=SetEnv
for name in KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT \
  HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy; do
  value=$(printenv "$name") || continue
  pass="$pass \"$name=$value\""
done
exec /usr/sbin/sshd -D -e -f /etc/opt/sip/config/sshd_config -o "$pass"
`;

/** Waits before a Pod ends until its sessions have ended. Kubernetes limits the time. */
export const DRAIN: string = String.raw`#!/bin/sh
# New connections go to another Pod by now.
sleep 5
while grep -qs '^sshd[^:]*: ubuntu' /proc/[0-9]*/cmdline; do
  sleep 2
done
`;
