/**
 * Load balancers as the pages show them, for tests.
 * @module
 */
import type {
  LeftoverView,
  LoadBalancerSource,
  LoadBalancerView,
} from "../../../lib/http/load_balancers/views.ts";
import type { PoolUsageView } from "../../../lib/http/views.ts";

/** A load balancer of `default` that is ready. */
export function toLoadBalancerView(
  name: string,
  over: Partial<LoadBalancerView> = {},
): LoadBalancerView {
  return {
    namespace: "default",
    name,
    state: "ready",
    addresses: ["192.0.2.10"],
    ports: ["tcp 80", "tcp 443"],
    backends: ["n1", "n2"],
    parts: [
      { kind: "address", name: "192.0.2.10", wanted: "ours", actual: "ours" },
      { kind: "rule", name: "tcp 80", wanted: "to 30080", actual: "to 30080" },
      { kind: "rule", name: "tcp 443", wanted: "to 30443", actual: "to 30443" },
      { kind: "firewall rule", name: "tcp 80", wanted: "0.0.0.0/0", actual: "0.0.0.0/0" },
    ],
    problems: [],
    steps: [],
    lastReconcile: { at: "2026-01-01T00:09:15Z", outcome: "unchanged" },
    ...over,
  };
}

/** One that something prevents. */
export const WAITING: LoadBalancerView = toLoadBalancerView("shop", {
  namespace: "store",
  state: "waiting",
  addresses: [],
  parts: [
    { kind: "address", name: "192.0.2.77", wanted: "associated" },
    { kind: "rule", name: "tcp 80", wanted: "to 30080", actual: "to 31999" },
    { kind: "rule", name: "udp 53", actual: "to 30053" },
  ],
  problems: [
    { reason: "AddressNotOurs", message: "the address 192.0.2.77 belongs to another network" },
    { reason: "ForeignRule", message: "left alone", isWaiting: false },
  ],
  steps: ["take 192.0.2.77", "create rule tcp 80 on 192.0.2.77"],
  notReadySince: "2026-01-01T00:03:00Z",
  lastReconcile: { at: "2026-01-01T00:09:50Z", outcome: "waiting" },
});

/** An address of a Service that does not exist any more. */
export const LEFTOVER: LeftoverView = {
  ip: "192.0.2.99",
  id: "0f3f6d3a-7c2b-4c56-9d5e-1b2a3c4d5e6f",
  service: "store/old-shop",
  serviceUid: "5b1f0c9e-1111-4222-8333-444455556666",
  rules: 2,
  asOf: "2026-01-01T00:05:00.000Z",
};

/** An address pool with few addresses left. */
export const POOL: PoolUsageView = { pool: "edge", family: "IPv4", used: 15, total: 16 };

/** Load balancers for the pages, in order of their names. */
export function toLoadBalancerSource(
  views: readonly LoadBalancerView[],
  leftovers: readonly LeftoverView[] = [],
  pools: readonly PoolUsageView[] = [],
): LoadBalancerSource {
  return {
    readServing: () => ({ missing: [] }),
    listLeftovers: () => leftovers,
    listPools: () => pools,
    list: () => views,
    find: (key) => views.find(({ namespace, name }) => `${namespace}/${name}` === key),
  };
}
