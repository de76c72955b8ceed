/**
 * Annotations of Services that address pools read or write. Users write them into clusters: they must not change.
 * @module
 */

/** Name of the pool that the addresses must come from. */
export const ADDRESS_POOL = "landfall.dev/address-pool";

/** The addresses that the Service asks for: one, or one of each family with a comma between them. */
export const LOAD_BALANCER_IPS = "landfall.dev/load-balancer-ips";

/** Services of one namespace with the same value may share an address. */
export const SHARED_ADDRESS = "landfall.dev/shared-address";

/** Where kube-vip reads the addresses of a Service. Source: https://kube-vip.io/docs/usage/kubernetes-services/ */
export const KUBE_VIP_IPS = "kube-vip.io/loadbalancerIPs";

/** With `true`, kube-vip leaves a Service alone. */
export const KUBE_VIP_IGNORE = "kube-vip.io/ignore";

/**
 * What users ask MetalLB for, in its names of today and of before. Source:
 * https://metallb.io/usage/
 */
export const METALLB_IPS: readonly string[] = [
  "metallb.io/loadBalancerIPs",
  "metallb.universe.tf/loadBalancerIPs",
];
/** See {@linkcode METALLB_IPS}. */
export const METALLB_POOL: readonly string[] = [
  "metallb.io/address-pool",
  "metallb.universe.tf/address-pool",
];
/** See {@linkcode METALLB_IPS}. */
export const METALLB_SHARED: readonly string[] = [
  "metallb.io/allow-shared-ip",
  "metallb.universe.tf/allow-shared-ip",
];

/** The annotations, for the reference page. */
export const POOL_ANNOTATIONS: readonly {
  readonly name: string;
  /** The values that it accepts. */
  readonly values: string;
  /** What it does, in whole sentences. */
  readonly meaning: string;
}[] = [
  {
    name: ADDRESS_POOL,
    values: "name of a pool",
    meaning: "The addresses come from this pool. A change moves the Service.",
  },
  {
    name: LOAD_BALANCER_IPS,
    values: "an IP address, or an IPv4 and an IPv6 address with a comma between them",
    meaning:
      "The Service gets these addresses of a pool. A change moves it. Wins over spec.loadBalancerIP.",
  },
  {
    name: SHARED_ADDRESS,
    values: "a key: at most 63 letters, digits, `-`, `_` or `.`",
    meaning:
      "Services of one namespace with the same key share an address of a shareable pool, if their ports differ. " +
      "Services of others need the word of the first one, too.",
  },
  {
    name: KUBE_VIP_IPS,
    values: "IP addresses with a comma between them, or `0.0.0.0`",
    meaning:
      "With `announce: kubeVip`, Landfall writes the addresses here for kube-vip. You set `0.0.0.0` for an address " +
      "of a DHCP server.",
  },
  {
    name: KUBE_VIP_IGNORE,
    values: "`true`",
    meaning:
      "With `announce: kubeVip`, the Service gets no address: kube-vip would not announce it.",
  },
  ...METALLB_IPS.map((name) => ({
    name,
    values: "as MetalLB reads it",
    meaning: "As `landfall.dev/load-balancer-ips`, for a Service that has no address yet.",
  })),
  ...METALLB_POOL.map((name) => ({
    name,
    values: "as MetalLB reads it",
    meaning: "As `landfall.dev/address-pool`, for a Service that has no address yet.",
  })),
  ...METALLB_SHARED.map((name) => ({
    name,
    values: "as MetalLB reads it",
    meaning:
      "As `landfall.dev/shared-address`. If the pool is not shareable, the Service gets an address of its own.",
  })),
];
