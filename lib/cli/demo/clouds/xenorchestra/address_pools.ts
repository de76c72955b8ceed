/**
 * Services of type LoadBalancer get addresses from pools, since Xen Orchestra has no load balancers.
 * @module
 */
import { type LoadBalancerSettings, LOAD_BALANCERS } from "../../../../cloud/pools/settings.ts";
import { LOAD_BALANCER_IPS } from "../../../../cloud/pools/words.ts";
import type { ClusterView } from "../../cluster.ts";
import { type CloudStep, waitUntil } from "../../story/stage.ts";

/** The pools of docs/guides/address-pools.md, so that its Services can be tried in the demo. */
const RAW = {
  announce: "kubeVip",
  pools: [
    { name: "main", addresses: ["192.0.2.16/28", "192.0.2.40-192.0.2.50", "2001:db8::/112"] },
    {
      name: "public",
      addresses: ["198.51.100.10-198.51.100.19"],
      namespaces: ["ingress"],
      shareable: true,
    },
    { name: "reserved", addresses: ["203.0.113.7"], autoAssign: false },
  ],
};

/** The same for the controllers. */
export const ADDRESS_POOLS: LoadBalancerSettings = LOAD_BALANCERS.parse(RAW).settings;

/** The same as a settings file. */
export const SETTINGS_FILE: string = `${JSON.stringify({ [LOAD_BALANCERS.key]: RAW }, undefined, 2)}\n`;

const WEB = { namespace: "default", name: "web" } as const;
const SHOP = { namespace: "default", name: "shop" } as const;
const SPEC = { type: "LoadBalancer", ports: [{ port: 80, targetPort: 8080 }] };
const OF_MAIN = /^192\.0\.2\.\d+$/;

/** The steps, in order. */
export const POOL_STEPS: readonly CloudStep[] = [
  {
    title: `The Service ${WEB.name} of type LoadBalancer gets an address from a pool`,
    play: async (stage, signal) => {
      stage.tell(`  >  kubectl creates the Service ${WEB.name}`);
      stage.kubernetes.objects.create("services", { metadata: WEB, spec: SPEC });
      return await waitUntil(stage, signal, () => OF_MAIN.test(findAddress(stage.view, WEB)));
    },
  },
  {
    title: `The Service ${SHOP.name} asks for the same address: it waits until ${WEB.name} is deleted`,
    play: async (stage, signal) => {
      const { kubernetes, view, tell } = stage;
      const address = findAddress(view, WEB);
      const annotations = { [LOAD_BALANCER_IPS]: address };
      tell(`  >  kubectl creates the Service ${SHOP.name}, which asks for ${address || "it"}`);
      kubernetes.objects.create("services", { metadata: { ...SHOP, annotations }, spec: SPEC });
      const { name } = SHOP;
      const isTold = await waitUntil(
        stage,
        signal,
        () => view.findEvent(name, "AddressNotAvailable") !== undefined,
      );
      const hasWaited = findAddress(view, SHOP) === "" && findAddress(view, WEB) === address;
      tell(`  >  kubectl deletes the Service ${WEB.name}`);
      kubernetes.objects.delete("services", WEB);
      const hasMoved = await waitUntil(stage, signal, () => findAddress(view, SHOP) === address);
      tell(`  >  kubectl deletes the Service ${name}`);
      kubernetes.objects.delete("services", SHOP);
      return address !== "" && isTold && hasWaited && hasMoved;
    },
  },
];

/** The first address that the status of a Service shows; empty if there is none. */
function findAddress(
  { services }: ClusterView,
  { namespace, name }: typeof SHOP | typeof WEB,
): string {
  const { ingress = [] } = services.get(`${namespace}/${name}`)?.status?.loadBalancer ?? {};
  return ingress[0]?.ip ?? "";
}
