/**
 * The configuration of HAProxy that Landfall writes. It is valid for HAProxy 2.3 and later.
 * @module
 */
import type { Role } from "../../resource/sip_cluster.ts";
import type { LoadBalancerKind } from "./words.ts";
import type { Machine } from "../types.ts";
import { parseIp } from "../../../../core/net/ip.ts";

/** A host behind a load balancer. */
export interface Server {
  /** Only letters, digits, `-`, `_` and `.`, and different from those of all other servers. */
  readonly name: string;
  /** An IPv4 or IPv6 address in canonical form. */
  readonly address: string;
}

/**
 * Lists the hosts of a role with an address in a network, by name. Standby hosts are servers, too: the labels by which
 * Cluster API finds hosts do not tell them apart, so a Node may run on any of them. A host on which nothing listens
 * fails its health check and gets no connection.
 *
 * @param network ID of the network in the hosts' network data. Without it no host has an address
 */
export function listServers(
  machines: readonly Machine[],
  role: Role,
  network: string | undefined,
): Server[] {
  const found = machines.flatMap((machine) => {
    const ip = machine.role === role && network && parseIp(machine.addresses.get(network) ?? "");
    return ip ? [{ machine, address: ip.text }] : [];
  });
  const counts = new Map<string, number>();
  for (const { machine } of found) counts.set(machine.name, (counts.get(machine.name) ?? 0) + 1);
  return found
    .map(({ machine, address }) => {
      const { namespace, name } = machine;
      // No name of an object in Kubernetes has an underscore.
      const unique = counts.get(name) === 1 ? name : `${namespace}_${name}`;
      return { name: unique.replaceAll(/[^-\w.]/g, "-"), address };
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** A port that the load balancer listens on, and its servers, too. */
export interface Port {
  readonly name: string;
  readonly port: number;
}

/** What a configuration is made from. */
interface ConfigInput {
  readonly kind: LoadBalancerKind;
  readonly ports: readonly Port[];
  readonly servers: readonly Server[];
}

/** Connections of one process at most: the memory of its Pod is for so many. */
export const MAXCONN = 4000;
/** Health checks per second that one process makes at most. */
const CHECKS_PER_SECOND_MAX = 200;
/** Time between two checks of a server, in seconds. */
const CHECK_INTERVAL_S = 5;

/**
 * `POD_IP` is an environment variable: one family of addresses may be missing in a Pod, and then an address of that
 * family cannot be bound. Without the variable, the port is bound on all IPv4 addresses.
 *
 * A watch of the API server may be silent for an hour, and a shell in a Pod for four. So connections may be silent for
 * as long, and TCP keep-alive finds those whose other end is gone. A connection that a server does not accept is tried
 * on another one. `hard-stop-after` ends old connections before Kubernetes kills the Pod.
 */
const HEAD = `global
  maxconn ${MAXCONN}
  nbthread 2
  spread-checks 10
  hard-stop-after 40s
  log stdout format raw local0 notice

defaults
  mode tcp
  log global
  timeout connect 5s
  timeout queue 30s
  timeout check 3s
  timeout client 4h
  timeout server 4h
  option clitcpka
  clitcpka-idle 60s
  clitcpka-intvl 10s
  clitcpka-cnt 6
  option srvtcpka
  srvtcpka-idle 60s
  srvtcpka-intvl 10s
  srvtcpka-cnt 6
  retries 3
  option redispatch 1
`;

/** Formats a whole configuration, without the frontend of {@linkcode formatHealthFrontend}. */
export function formatConfig({ kind, ports, servers }: ConfigInput): string {
  const defaults = toDefaults(kind, ports.length * servers.length);
  const sections = ports.map(({ name, port }) =>
    [
      `listen ${name}`,
      `  bind "\${POD_IP}:${port}"`,
      ...servers.map((server) => `  server ${server.name} ${formatAddress(server, port)}`),
      "",
    ].join("\n"),
  );
  return [HEAD + defaults.map((line) => `  ${line}\n`).join(""), ...sections].join("\n");
}

/** Whether a configuration says how many connections a process has: those of its proxies do not count. */
export function limitsConnections(config: string): boolean {
  let isGlobal = false;
  for (const line of config.split("\n")) {
    const [, section] = SECTION.exec(line) ?? [];
    if (section !== undefined) isGlobal = section === "global";
    else if (isGlobal && /^\s*maxconn\s/.test(line)) return true;
  }
  return false;
}

/** A line that begins a section. */
const SECTION =
  /^\s*(global|defaults|frontend|backend|listen|peers|resolvers|mailers|userlist|cache|ring|program|http-errors)\b/;

/** The frontend that Kubernetes probes. It answers while the process runs, also if no server does. */
export function formatHealthFrontend(port: number): string {
  return `
defaults
  mode http
  timeout client 5s
  timeout http-request 5s

frontend landfall-health
  bind "\${POD_IP}:${port}"
  monitor-uri /healthz
`;
}

/** How connections are spread, and servers checked. */
function toDefaults(kind: LoadBalancerKind, serverCount: number): readonly string[] {
  const seconds = Math.max(CHECK_INTERVAL_S, Math.ceil(serverCount / CHECKS_PER_SECOND_MAX));
  const check = `check inter ${seconds}s fastinter 2s`;
  if (kind === "loadBalancerWorker") {
    // A node port of a Service with local endpoints only is open on some Nodes, and may move while connections to the
    // old Node go on. So every port is checked on its own, and nothing ends what is open.
    return ["balance roundrobin", `default-server ${check} fall 2 rise 2`];
  }
  return [
    // Watches are long: who has the fewest gets the next.
    "balance leastconn",
    // An API server that does not let anonymous users ask is as ready as others: only 5xx means that it is not.
    "option httpchk GET /readyz",
    "http-check expect ! rstatus ^5",
    `default-server ${check} downinter 2s fall 3 rise 2 check-ssl verify none on-marked-down shutdown-sessions`,
  ];
}

function formatAddress({ address }: Server, port: number): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
