/**
 * The flag table against itself.
 * @module
 */
import { expect, test } from "bun:test";
import type { FlagEffect } from "../../../lib/cli/flags/spec.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { FLAGS, listFlags } from "../../../lib/cli/flags/table.ts";

test("P-01 the flag table has every name once, in kebab case, with help", () => {
  const names = FLAGS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))).toEqual([]);
  expect(FLAGS.filter(({ help }) => help === "" || /[.\n|]$/.test(help))).toEqual([]);
});

test("the help of --leader-elect-resource-name names the controllers that do not use it", () => {
  const help = FLAGS.find(({ name }) => name === "leader-elect-resource-name")?.help ?? "";
  const own = CONTROLLERS.filter(({ lease }) => lease !== undefined).map(({ name }) => name);
  expect(own.length).toBeGreaterThan(0);
  expect(own.filter((name) => !help.includes(name))).toEqual([]);
});

/**
 * The flags that manifests of Go cloud controller managers carry (k8s.io/cloud-provider v0.36): their default there,
 * what becomes of them here, and our default where it is another on purpose.
 */
const CUSTOMARY: readonly (readonly [
  name: string,
  fallback: string,
  effect: FlagEffect,
  ours?: string,
])[] = [
  // Required in Go, preset by managers of one cloud.
  ["cloud-provider", "", "applies", "xenorchestra"],
  ["cloud-config", "", "applies"],
  ["kubeconfig", "", "applies"],
  ["master", "", "applies"],
  ["controllers", "*", "applies"],
  ["node-status-update-frequency", "5m0s", "applies"],
  ["node-monitor-period", "5s", "applies"],
  ["concurrent-node-syncs", "1", "applies", "16"],
  ["concurrent-node-status-updates", "0", "inapplicable"],
  ["concurrent-service-syncs", "1", "applies", "5"],
  ["route-reconciliation-period", "10s", "inapplicable"],
  ["configure-cloud-routes", "true", "inapplicable"],
  ["allocate-node-cidrs", "false", "inapplicable"],
  ["cluster-cidr", "", "inapplicable"],
  ["cidr-allocator-type", "RangeAllocator", "inapplicable"],
  ["cluster-name", "kubernetes", "inapplicable"],
  ["allow-untagged-cloud", "false", "silent"],
  ["use-service-account-credentials", "false", "inapplicable"],
  ["min-resync-period", "12h0m0s", "inapplicable"],
  ["controller-start-interval", "0s", "inapplicable"],
  ["kube-api-qps", "20", "inapplicable"],
  ["kube-api-burst", "30", "inapplicable"],
  ["kube-api-content-type", "application/vnd.kubernetes.protobuf", "inapplicable"],
  ["leader-elect", "true", "applies"],
  ["leader-elect-lease-duration", "15s", "applies"],
  ["leader-elect-renew-deadline", "10s", "applies"],
  ["leader-elect-retry-period", "2s", "applies"],
  ["leader-elect-resource-lock", "leases", "applies"],
  ["leader-elect-resource-name", "cloud-controller-manager", "applies"],
  ["leader-elect-resource-namespace", "kube-system", "applies"],
  ["enable-leader-migration", "false", "inapplicable"],
  ["leader-migration-config", "", "inapplicable"],
  ["bind-address", "0.0.0.0", "applies"],
  ["secure-port", "10258", "applies"],
  ["cert-dir", "", "inapplicable"],
  ["tls-cert-file", "", "applies"],
  ["tls-private-key-file", "", "applies"],
  ["tls-cipher-suites", "", "inapplicable"],
  ["tls-min-version", "", "inapplicable"],
  ["tls-curve-preferences", "", "inapplicable"],
  ["tls-sni-cert-key", "", "inapplicable"],
  ["disable-http2-serving", "false", "inapplicable"],
  ["http2-max-streams-per-connection", "0", "inapplicable"],
  ["permit-port-sharing", "false", "inapplicable"],
  ["permit-address-sharing", "false", "inapplicable"],
  ["authentication-kubeconfig", "", "inapplicable"],
  ["authorization-kubeconfig", "", "inapplicable"],
  ["authentication-skip-lookup", "false", "inapplicable"],
  ["authentication-tolerate-lookup-failure", "false", "inapplicable"],
  ["authentication-token-webhook-cache-ttl", "10s", "inapplicable"],
  ["authorization-webhook-cache-authorized-ttl", "10s", "inapplicable"],
  ["authorization-webhook-cache-unauthorized-ttl", "10s", "inapplicable"],
  ["authorization-always-allow-paths", "/healthz,/readyz,/livez", "applies"],
  ["client-ca-file", "", "inapplicable"],
  ["requestheader-client-ca-file", "", "inapplicable"],
  ["requestheader-allowed-names", "", "inapplicable"],
  ["requestheader-extra-headers-prefix", "x-remote-extra-", "inapplicable"],
  ["requestheader-group-headers", "x-remote-group", "inapplicable"],
  ["requestheader-username-headers", "x-remote-user", "inapplicable"],
  ["requestheader-uid-headers", "", "inapplicable"],
  ["profiling", "true", "inapplicable"],
  ["contention-profiling", "false", "inapplicable"],
  ["feature-gates", "", "inapplicable"],
  ["webhooks", "", "inapplicable"],
  ["webhook-bind-address", "0.0.0.0", "inapplicable"],
  ["webhook-secure-port", "10260", "inapplicable"],
  ["webhook-disable-http2-serving", "false", "inapplicable"],
  ["webhook-cert-dir", "", "inapplicable"],
  ["webhook-tls-cert-file", "", "inapplicable"],
  ["webhook-tls-private-key-file", "", "inapplicable"],
  ["webhook-tls-cipher-suites", "", "inapplicable"],
  ["webhook-tls-min-version", "", "inapplicable"],
  ["webhook-tls-sni-cert-key", "", "inapplicable"],
  ["v", "0", "applies"],
  ["vmodule", "", "inapplicable"],
  ["logging-format", "text", "applies"],
  ["log-flush-frequency", "5s", "inapplicable"],
  ["log-json-info-buffer-size", "0", "inapplicable"],
  ["log-json-split-stream", "false", "inapplicable"],
  ["log-text-info-buffer-size", "0", "inapplicable"],
  ["log-text-split-stream", "false", "inapplicable"],
  ["version", "false", "applies"],
  ["help", "false", "applies"],
  ["node-sync-period", "0s", "silent"],
  ["external-cloud-volume-plugin", "", "silent"],
  ["address", "", "removed"],
  ["port", "0", "removed"],
];

const rows = CUSTOMARY.map(([name, fallback, effect, ours = fallback]) => ({ name, effect, ours }));
test.each(rows)("P-01 the flag table has --$name: $effect, default $ours", (row) => {
  const spec = FLAGS.find(({ name }) => name === row.name);
  expect(spec).toMatchObject({ default: row.ours, effect: row.effect });
});

test("P-01 listFlags() has a flag that controllers bring once, and only when they are there", () => {
  const flag = { name: "own", type: "int", default: "1", help: "Mine", range: [0, 9] } as const;
  const own = CONTROLLERS.map((one) => ({ ...one, flags: [flag] }));
  expect(listFlags(own).filter(({ name }) => name === "own")).toEqual([
    {
      name: "own",
      type: "int",
      default: "1",
      help: "Mine",
      effect: "applies",
      group: "Controllers",
    },
  ]);
  expect(listFlags([]).map(({ name }) => name)).not.toContain("node-monitor-period");
  expect(listFlags(own).map(({ name }) => name)).not.toContain("node-monitor-period");
});
