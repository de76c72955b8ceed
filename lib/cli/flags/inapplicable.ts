/**
 * Flags of the Go cloud controller managers that are accepted without effect, each with its reason.
 * @module
 */
import type { FlagSpec, FlagType } from "./spec.ts";

type Row = readonly [name: string, type: FlagType, fallback: string];

const ONE_CERTIFICATE = "the HTTPS port has one certificate, TLS 1.2 or newer and HTTP/1.1";
const TOKENS_ONLY = "the HTTPS port accepts bearer tokens only";
const ONE_KUBECONFIG =
  "one kubeconfig serves all requests to the API server, access reviews included";
const FIXED_REVIEWS =
  "access reviews are cached for 10 s, and access is denied when a review fails";
const NO_ROUTES = "there is no controller for routes";
const NO_WEBHOOKS = "there are no webhooks";
const NO_GO = "it tunes the Go runtime and its libraries";
const LOG_LINES = "log records are single lines on standard error, written immediately";
const NO_SECOND_POOL = "first and later syncs share --concurrent-node-syncs";
const BOUNDED_REQUESTS = "requests to the API server are limited in parallel, not by rate";

const BY_REASON: readonly (readonly [reason: string, rows: readonly Row[]])[] = [
  [NO_SECOND_POOL, [["concurrent-node-status-updates", "int", "0"]]],
  [
    BOUNDED_REQUESTS,
    [
      ["kube-api-qps", "number", "20"],
      ["kube-api-burst", "int", "30"],
    ],
  ],
  [
    "Landfall sends JSON to the API server",
    [["kube-api-content-type", "string", "application/vnd.kubernetes.protobuf"]],
  ],
  ["watches list again when necessary", [["min-resync-period", "duration", "12h0m0s"]]],
  ["controllers start together", [["controller-start-interval", "duration", "0s"]]],
  [
    "all controllers use the credentials of the process",
    [["use-service-account-credentials", "bool", "false"]],
  ],
  ["there are no feature gates", [["feature-gates", "list", ""]]],
  [
    "there is no compatibility version to emulate",
    [
      ["emulated-version", "list", ""],
      ["emulation-forward-compatible", "bool", "false"],
      ["min-compatibility-version", "list", ""],
    ],
  ],
  [
    "load balancers belong to UIDs of the cluster, and there is no controller for routes",
    [["cluster-name", "string", "kubernetes"]],
  ],
  [
    NO_ROUTES,
    [
      ["route-reconciliation-period", "duration", "10s"],
      ["configure-cloud-routes", "bool", "true"],
      ["allocate-node-cidrs", "bool", "false"],
      ["cluster-cidr", "string", ""],
      ["cidr-allocator-type", "string", "RangeAllocator"],
    ],
  ],
  [
    "there is nothing to migrate",
    [
      ["enable-leader-migration", "bool", "false"],
      ["leader-migration-config", "string", ""],
    ],
  ],
  [
    ONE_CERTIFICATE,
    [
      ["cert-dir", "string", ""],
      ["tls-cipher-suites", "list", ""],
      ["tls-min-version", "string", ""],
      ["tls-curve-preferences", "list", ""],
      ["tls-sni-cert-key", "list", ""],
      ["disable-http2-serving", "bool", "false"],
      ["http2-max-streams-per-connection", "int", "0"],
      ["permit-port-sharing", "bool", "false"],
      ["permit-address-sharing", "bool", "false"],
    ],
  ],
  [
    ONE_KUBECONFIG,
    [
      ["authentication-kubeconfig", "string", ""],
      ["authorization-kubeconfig", "string", ""],
    ],
  ],
  [
    FIXED_REVIEWS,
    [
      ["authentication-skip-lookup", "bool", "false"],
      ["authentication-tolerate-lookup-failure", "bool", "false"],
      ["authentication-token-webhook-cache-ttl", "duration", "10s"],
      ["authorization-webhook-cache-authorized-ttl", "duration", "10s"],
      ["authorization-webhook-cache-unauthorized-ttl", "duration", "10s"],
    ],
  ],
  [
    TOKENS_ONLY,
    [
      ["client-ca-file", "string", ""],
      ["requestheader-client-ca-file", "string", ""],
      ["requestheader-allowed-names", "list", ""],
      ["requestheader-extra-headers-prefix", "list", "x-remote-extra-"],
      ["requestheader-group-headers", "list", "x-remote-group"],
      ["requestheader-username-headers", "list", "x-remote-user"],
      ["requestheader-uid-headers", "list", ""],
    ],
  ],
  [
    NO_WEBHOOKS,
    [
      ["webhooks", "list", ""],
      ["webhook-bind-address", "string", "0.0.0.0"],
      ["webhook-secure-port", "int", "10260"],
      ["webhook-disable-http2-serving", "bool", "false"],
      ["webhook-cert-dir", "string", ""],
      ["webhook-tls-cert-file", "string", ""],
      ["webhook-tls-private-key-file", "string", ""],
      ["webhook-tls-cipher-suites", "list", ""],
      ["webhook-tls-min-version", "string", ""],
      ["webhook-tls-sni-cert-key", "list", ""],
    ],
  ],
  [
    NO_GO,
    [
      ["profiling", "bool", "true"],
      ["contention-profiling", "bool", "false"],
      ["show-hidden-metrics-for-version", "string", ""],
      ["disabled-metrics", "list", ""],
      ["allow-metric-labels", "list", ""],
      ["allow-metric-labels-manifest", "string", ""],
    ],
  ],
  [
    LOG_LINES,
    [
      ["vmodule", "list", ""],
      ["log-flush-frequency", "duration", "5s"],
      ["log-json-info-buffer-size", "string", "0"],
      ["log-json-split-stream", "bool", "false"],
      ["log-text-info-buffer-size", "string", "0"],
      ["log-text-split-stream", "bool", "false"],
      ["logtostderr", "bool", "true"],
      ["alsologtostderr", "bool", "false"],
      ["stderrthreshold", "string", "2"],
      ["log-dir", "string", ""],
      ["log-file", "string", ""],
      ["log-file-max-size", "int", "1800"],
      ["log-backtrace-at", "string", ""],
      ["add-dir-header", "bool", "false"],
      ["one-output", "bool", "false"],
      ["skip-headers", "bool", "false"],
      ["skip-log-headers", "bool", "false"],
    ],
  ],
];

/** Go also accepts these without effect. */
const SILENT: readonly Row[] = [
  ["allow-untagged-cloud", "bool", "false"],
  ["node-sync-period", "duration", "0s"],
  ["external-cloud-volume-plugin", "string", ""],
];

/** Values that Go refuses are refused here, too. */
const LIMITS: Readonly<Record<string, Pick<FlagSpec, "choices" | "least">>> = {
  "concurrent-node-status-updates": { least: 0 },
};

/** Flags that are accepted without effect. */
export const INAPPLICABLE_FLAGS: readonly FlagSpec[] = [
  ...BY_REASON.flatMap(([help, rows]) => rows.map((row) => toSpec(row, help, "inapplicable"))),
  ...SILENT.map((row) => toSpec(row, "it has no effect in any cloud controller manager", "silent")),
];

function toSpec(
  [name, type, fallback]: Row,
  help: string,
  effect: "inapplicable" | "silent",
): FlagSpec {
  return { name, type, default: fallback, help, effect, ...LIMITS[name] };
}
