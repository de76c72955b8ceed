/**
 * The flag table against itself.
 * @module
 */
import { expect, test } from "bun:test";
import { FLAGS } from "../../lib/cli/flag_table.ts";

test("P-01 the flag table has every name once, in kebab case, with help", () => {
  const names = FLAGS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))).toEqual([]);
  expect(FLAGS.filter(({ help }) => help === "" || /[.\n|]$/.test(help))).toEqual([]);
});

test("P-01 the flag table has the flags that manifests of other managers carry", () => {
  const wanted =
    "cloud-provider cloud-config kubeconfig master controllers node-status-update-frequency " +
    "node-monitor-period concurrent-node-syncs concurrent-node-status-updates concurrent-service-syncs " +
    "route-reconciliation-period configure-cloud-routes allocate-node-cidrs cluster-cidr " +
    "cidr-allocator-type cluster-name allow-untagged-cloud use-service-account-credentials " +
    "min-resync-period controller-start-interval kube-api-qps kube-api-burst kube-api-content-type " +
    "leader-elect leader-elect-lease-duration leader-elect-renew-deadline leader-elect-retry-period " +
    "leader-elect-resource-lock leader-elect-resource-name leader-elect-resource-namespace " +
    "enable-leader-migration leader-migration-config bind-address secure-port cert-dir tls-cert-file " +
    "tls-private-key-file tls-cipher-suites tls-min-version tls-curve-preferences tls-sni-cert-key " +
    "disable-http2-serving http2-max-streams-per-connection permit-port-sharing " +
    "permit-address-sharing authentication-kubeconfig authorization-kubeconfig " +
    "authentication-skip-lookup authentication-tolerate-lookup-failure " +
    "authentication-token-webhook-cache-ttl authorization-webhook-cache-authorized-ttl " +
    "authorization-webhook-cache-unauthorized-ttl authorization-always-allow-paths client-ca-file " +
    "requestheader-client-ca-file profiling contention-profiling feature-gates webhooks " +
    "webhook-bind-address webhook-secure-port webhook-cert-dir v vmodule logging-format " +
    "log-flush-frequency version help node-sync-period external-cloud-volume-plugin address port";
  const names = new Set(FLAGS.map(({ name }) => name));
  expect(wanted.split(" ").filter((name) => !names.has(name))).toEqual([]);
});
