/**
 * Every flag that Landfall knows, in one table: parsing, `--help` and docs/reference/flags.md follow it.
 *
 * Names and forms are those of the Go cloud controller managers (k8s.io/cloud-provider, `options`), so that their
 * manifests keep working; defaults differ where a comment says so.
 * @module
 */
import type { ProviderEntry } from "../../cloud/provider_definition.ts";
import type { ControllerDefinition } from "../../controllers/definition.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import { PROVIDERS } from "../../providers/mod.ts";
import { DEFAULT_DEBUG_ADDRESS, HELP_FLAG } from "./common.ts";
import { INAPPLICABLE_FLAGS } from "./inapplicable.ts";
import type { FlagSpec } from "./spec.ts";

/** `external-cloudstack (or cloudstack)`. */
function formatNames({ name, aliases = [] }: ProviderEntry): string {
  return aliases.length === 0 ? name : `${name} (or ${aliases.join(", ")})`;
}

/** Flags before those of the controllers. */
const FIRST_FLAGS: readonly FlagSpec[] = [
  {
    name: "cloud-provider",
    type: "string",
    default: PROVIDERS[0].name,
    help: `Cloud that runs the machines: ${PROVIDERS.map(formatNames).join(", ")}`,
    effect: "applies",
    group: "Cloud",
    suggestions: PROVIDERS.map(({ name }) => name),
  },
  {
    name: "cloud-config",
    type: "string",
    default: "",
    help: "Settings file of the cloud; empty: environment variables only",
    effect: "applies",
    group: "Cloud",
    isFile: true,
  },
  {
    name: "kubeconfig",
    type: "string",
    default: "",
    help: "Kubeconfig file; empty: KUBECONFIG, then the service account of the pod, then ~/.kube/config (not for run)",
    effect: "applies",
    group: "Kubernetes",
    isFile: true,
  },
  {
    name: "master",
    type: "string",
    default: "",
    help: "URL of the Kubernetes API server; overrides the server in the kubeconfig",
    effect: "applies",
    group: "Kubernetes",
  },
  {
    name: "controllers",
    type: "list",
    default: "*",
    help: 'Controllers to run: "*" those on by default, "foo" this one, "-foo" not this one; the first match wins',
    effect: "applies",
    group: "Controllers",
  },
];

const LATER_FLAGS: readonly FlagSpec[] = [
  {
    // Go: 1. Work on a Node mostly waits for the API server: many at once cost little, and a slow one delays no other.
    name: "concurrent-node-syncs",
    type: "int",
    default: "16",
    help: "Number of Nodes to work on in parallel; at least 1",
    effect: "applies",
    group: "Controllers",
  },
  {
    name: "leader-elect",
    type: "bool",
    default: "true",
    help: "Act only while holding the Lease, so that only one replica acts",
    effect: "applies",
    group: "Leader election",
  },
  {
    name: "leader-elect-lease-duration",
    type: "duration",
    default: "15s",
    help: "How long replicas wait for a leader that stopped renewing the Lease",
    effect: "applies",
    group: "Leader election",
  },
  {
    name: "leader-elect-renew-deadline",
    type: "duration",
    default: "10s",
    help:
      "How long a leader tries to renew the Lease; it stops at most one retry period later. Less than the lease " +
      "duration",
    effect: "applies",
    group: "Leader election",
  },
  {
    name: "leader-elect-retry-period",
    type: "duration",
    default: "2s",
    help: "How often a replica tries to acquire or renew the Lease",
    effect: "applies",
    group: "Leader election",
  },
  {
    name: "leader-elect-resource-lock",
    type: "string",
    default: "leases",
    help: "Kind of the lock object; only leases is supported",
    effect: "applies",
    group: "Leader election",
    choices: ["leases"],
  },
  {
    name: "leader-elect-resource-name",
    type: "string",
    default: "cloud-controller-manager",
    help:
      "Name of the Lease: the same for all replicas of an installation, another for each other cloud controller " +
      "manager. The chart and the manifests for a cloud set it. The controllers sipcluster and vino have their own " +
      "Leases instead",
    effect: "applies",
    group: "Leader election",
  },
  {
    name: "leader-elect-resource-namespace",
    type: "string",
    default: "kube-system",
    help: "Namespace of the Lease, and of those that single controllers need",
    effect: "applies",
    group: "Leader election",
  },
  {
    name: "debug-address",
    type: "string",
    default: DEFAULT_DEBUG_ADDRESS,
    help: "Loopback host:port or unix socket path for probes, /metrics and /debug; empty: off",
    effect: "applies",
    group: "HTTP",
  },
  {
    name: "secure-port",
    type: "int",
    default: "10258",
    help: "HTTPS port for probes, and for /metrics, /configz and /debug with a token; 0: off",
    effect: "applies",
    group: "HTTP",
  },
  {
    name: "bind-address",
    type: "string",
    default: "0.0.0.0",
    help: "IP address for --secure-port; 0.0.0.0 or :: means all IPv4 and IPv6 addresses",
    effect: "applies",
    group: "HTTP",
  },
  {
    name: "tls-cert-file",
    type: "string",
    default: "",
    help: "Certificate for --secure-port in PEM, reloaded when it changes; empty: self-signed",
    effect: "applies",
    group: "HTTP",
    isFile: true,
  },
  {
    name: "tls-private-key-file",
    type: "string",
    default: "",
    help: "Private key of --tls-cert-file in PEM",
    effect: "applies",
    group: "HTTP",
    isFile: true,
  },
  {
    name: "authorization-always-allow-paths",
    type: "list",
    default: "/healthz,/readyz,/livez",
    help: "Paths on --secure-port that need no token; a * at the end matches anything",
    effect: "applies",
    group: "HTTP",
  },
  {
    name: "logging-format",
    type: "string",
    default: "text",
    help: "Format of log records: text or json, one per line on standard error",
    effect: "applies",
    group: "Log",
    choices: ["text", "json"],
  },
  {
    name: "v",
    short: "v",
    type: "int",
    default: "0",
    help: "Log verbosity; 4 or more adds debug records",
    effect: "applies",
    group: "Log",
  },
  {
    name: "version",
    type: "bool",
    default: "false",
    help: "Print the version and exit",
    effect: "applies",
  },
  HELP_FLAG,
];

const REMOVED_FLAGS: readonly FlagSpec[] = [
  {
    name: "address",
    type: "string",
    default: "",
    help: `use --debug-address=${DEFAULT_DEBUG_ADDRESS}, or --bind-address with --secure-port`,
    effect: "removed",
  },
  {
    name: "port",
    type: "int",
    default: "0",
    help: `use --debug-address=${DEFAULT_DEBUG_ADDRESS}, or --secure-port`,
    effect: "removed",
  },
];

/** Every flag of `run`, with the flags of the controllers; flags that apply come first. */
export function listFlags(registry: readonly ControllerDefinition[]): readonly FlagSpec[] {
  const own = new Map(registry.flatMap(({ flags }) => flags).map((flag) => [flag.name, flag]));
  return [
    ...FIRST_FLAGS,
    ...[...own.values()].map(({ name, type, default: standard, help }): FlagSpec => ({
      name,
      type,
      default: standard,
      help,
      effect: "applies",
      group: "Controllers",
    })),
    ...LATER_FLAGS,
    ...INAPPLICABLE_FLAGS,
    ...REMOVED_FLAGS,
  ];
}

/** Every flag of `run` with the controllers that Landfall has. */
export const FLAGS: readonly FlagSpec[] = listFlags(CONTROLLERS);
