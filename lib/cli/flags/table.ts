/**
 * Every flag that Landfall knows, in one table: parsing, `--help` and docs/reference/flags.md follow it.
 *
 * Names and forms are those of the Go cloud controller managers (k8s.io/cloud-provider, `options`), so that their
 * manifests keep working; defaults differ where a comment says so.
 * @module
 */
import type { ControllerDefinition } from "../../controllers/definition.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import { PROVIDERS } from "../../providers/mod.ts";
import { INAPPLICABLE_FLAGS } from "./inapplicable.ts";
import type { FlagSpec } from "./spec.ts";

/** Those that stand before the flags of controllers. */
const FIRST_FLAGS: readonly FlagSpec[] = [
  {
    name: "cloud-provider",
    type: "string",
    default: PROVIDERS[0].name,
    help: "The cloud to ask about machines",
    effect: "applies",
  },
  {
    name: "cloud-config",
    type: "string",
    default: "",
    help: "File with the settings of the cloud; empty: environment variables only",
    effect: "applies",
  },
  {
    name: "kubeconfig",
    type: "string",
    default: "",
    help: "Kubeconfig file; empty: KUBECONFIG, then the service account of the pod",
    effect: "applies",
  },
  {
    name: "master",
    type: "string",
    default: "",
    help: "URL of the Kubernetes API server; overrides the one of the kubeconfig",
    effect: "applies",
  },
  {
    name: "controllers",
    type: "list",
    default: "*",
    help: 'Controllers to run: "*" all, "foo" that one, "-foo" not that one; the first match wins',
    effect: "applies",
  },
];

const LATER_FLAGS: readonly FlagSpec[] = [
  {
    // Go: 1. A Node waits for the API server only, so many at once cost little and a slow one holds up nobody.
    name: "concurrent-node-syncs",
    type: "int",
    default: "16",
    help: "How many Nodes are worked on at once; at least 1",
    effect: "applies",
  },
  {
    name: "leader-elect",
    type: "bool",
    default: "true",
    help: "Act only while holding a Lease, so that one of several replicas does",
    effect: "applies",
  },
  {
    name: "leader-elect-lease-duration",
    type: "duration",
    default: "15s",
    help: "How long replicas wait for a leader that has stopped renewing",
    effect: "applies",
  },
  {
    name: "leader-elect-renew-deadline",
    type: "duration",
    default: "10s",
    help: "How long a leader tries to renew before it stops acting; less than the lease duration",
    effect: "applies",
  },
  {
    name: "leader-elect-retry-period",
    type: "duration",
    default: "2s",
    help: "How often a replica tries to get or to renew the Lease",
    effect: "applies",
  },
  {
    name: "leader-elect-resource-lock",
    type: "string",
    default: "leases",
    help: "Kind of object that replicas agree by; leases is the only one",
    effect: "applies",
    choices: ["leases"],
  },
  {
    name: "leader-elect-resource-name",
    type: "string",
    default: "cloud-controller-manager",
    help: "Name of the Lease; each cloud controller manager of a cluster needs its own",
    effect: "applies",
  },
  {
    name: "leader-elect-resource-namespace",
    type: "string",
    default: "kube-system",
    help: "Namespace of the Lease",
    effect: "applies",
  },
  {
    name: "debug-address",
    type: "string",
    default: "127.0.0.1:10260",
    help: "Loopback host:port or unix socket path for probes, /metrics and /debug; empty: off",
    effect: "applies",
  },
  {
    name: "secure-port",
    type: "int",
    default: "10258",
    help: "HTTPS port for probes, and for /metrics, /configz and /debug with a token; 0: off",
    effect: "applies",
  },
  {
    name: "bind-address",
    type: "string",
    default: "0.0.0.0",
    help: "IP address that --secure-port listens at; 0.0.0.0 or ::, all of both families",
    effect: "applies",
  },
  {
    name: "tls-cert-file",
    type: "string",
    default: "",
    help: "Certificate for --secure-port in PEM, read again when it changes; empty: one is made",
    effect: "applies",
  },
  {
    name: "tls-private-key-file",
    type: "string",
    default: "",
    help: "Private key of --tls-cert-file in PEM",
    effect: "applies",
  },
  {
    name: "authorization-always-allow-paths",
    type: "list",
    default: "/healthz,/readyz,/livez",
    help: "Paths on --secure-port that need no token; a * at the end stands for anything",
    effect: "applies",
  },
  {
    name: "logging-format",
    type: "string",
    default: "text",
    help: "Form of log records: text or json, one per line on standard error",
    effect: "applies",
    choices: ["text", "json"],
  },
  {
    name: "v",
    short: "v",
    type: "int",
    default: "0",
    help: "Verbosity of the log; debug records from 4 on",
    effect: "applies",
  },
  {
    name: "version",
    type: "bool",
    default: "false",
    help: "Print the version and exit",
    effect: "applies",
  },
  {
    name: "help",
    short: "h",
    type: "bool",
    default: "false",
    help: "Print this help and exit",
    effect: "applies",
  },
];

const REMOVED_FLAGS: readonly FlagSpec[] = [
  {
    name: "address",
    type: "string",
    default: "",
    help: "use --debug-address=127.0.0.1:10260, or --bind-address with --secure-port",
    effect: "removed",
  },
  {
    name: "port",
    type: "int",
    default: "0",
    help: "use --debug-address=127.0.0.1:10260, or --secure-port",
    effect: "removed",
  },
];

/** Every flag, with those that controllers bring; those that apply first. */
export function listFlags(registry: readonly ControllerDefinition[]): readonly FlagSpec[] {
  const own = new Map(registry.flatMap(({ flags }) => flags).map((flag) => [flag.name, flag]));
  return [
    ...FIRST_FLAGS,
    ...[...own.values()].map(({ range: _range, ...flag }): FlagSpec => ({
      ...flag,
      effect: "applies",
    })),
    ...LATER_FLAGS,
    ...INAPPLICABLE_FLAGS,
    ...REMOVED_FLAGS,
  ];
}

/** Every flag of Landfall as it is. */
export const FLAGS: readonly FlagSpec[] = listFlags(CONTROLLERS);
