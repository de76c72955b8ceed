/**
 * Services that version 1.x of the Apache provider for CloudStack served, on a real API server: Landfall takes them
 * over without a break of their traffic, and removes later what is theirs.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { toFirewallRule } from "../../../lib/simulator/cloudstack/world/firewall.ts";
import {
  type AddressSummary,
  summarizeCloud,
} from "../../../lib/simulator/cloudstack/world/summary.ts";
import { type PublicIp, toPublicIp } from "../../../lib/simulator/cloudstack/world/records.ts";
import { createSite, PINNED_IP, withoutIds } from "../../support/services/site.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import { USERNAME } from "../../support/process/cluster_rig.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { ServiceCluster } from "../../support/services/service_cluster.ts";
import {
  type LoadBalancerRuleOptions,
  toLoadBalancerRule,
} from "../../support/cloud/cloudstack_rules.ts";

const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const ASSOCIATED =
  "service.beta.kubernetes.io/cloudstack-load-balancer-ip-associated-by-controller";
const HTTP = { name: "http", port: 80, nodePort: 30_080 };
const HTTPS = { name: "https", port: 443, nodePort: 30_043 };
const OTHER = { name: "other", port: 80, nodePort: 30_081 };
const NAMED = { name: "named", port: 80, nodePort: 30_082 };
/** Addresses that the Apache provider took: for `web`, for `named`, which names it, and for a Service that is gone. */
const TAKEN_IP = "203.0.113.31";
const NAMED_IP = "203.0.113.32";
const LEFT_IP = "203.0.113.33";
/** What ends connections, or lets none begin. */
const BREAKING = /^(?:delete|remove|disassociate|disable)/;

describe.skipIf(skipsCluster())(`on a real API server, ${PROGRAM.name} takes over`, () => {
  const site = createSite("isolated");
  const [first, ...others] = site.vms;
  const { accountId, networkId, zoneId } = site.pinned;
  const toTaken = (address: string): PublicIp => ({
    ...toPublicIp(address, zoneId, accountId),
    ...(networkId !== undefined && { networkId }),
  });
  const taken = { web: toTaken(TAKEN_IP), named: toTaken(NAMED_IP), left: toTaken(LEFT_IP) };
  let started: ServiceCluster | undefined;
  let before: readonly AddressSummary[] = [];
  const use = (): ServiceCluster => {
    if (started === undefined) throw new Error("Cannot test: the cluster is not up");
    return started;
  };
  const listAddresses = (): readonly AddressSummary[] =>
    summarizeCloud(use().cloud.state).addresses;
  const find = (address: string): AddressSummary | undefined =>
    listAddresses().find((one) => one.address === address);
  /** A Service as the Apache provider leaves it, with the rules that it made. */
  const createServed = async (
    name: string,
    ip: PublicIp,
    { spec, annotations = {} }: { readonly spec: object; readonly annotations?: object },
    rules: readonly ({ readonly suffix: string } & Partial<LoadBalancerRuleOptions>)[],
  ): Promise<void> => {
    const { metadata } = await use().create(name, spec, { annotations, finalizers: [FINALIZER] });
    await use().setStatus(name, { loadBalancer: { ingress: [{ ip: ip.address }] } });
    const lbName = `a${metadata.uid?.replaceAll("-", "")}`.slice(0, 32);
    const { loadBalancerRules, firewallRules } = use().cloud.state;
    for (const { suffix, ...rest } of rules) {
      const vms = [first ?? [], others].flat();
      const options = { ip, vms, cidrList: "0.0.0.0/0", ...rest, name: `${lbName}-${suffix}` };
      const rule = toLoadBalancerRule(options);
      loadBalancerRules.set(rule.id, rule);
      const firewallRule = toFirewallRule({ ip, startPort: rule.publicPort });
      firewallRules.set(firewallRule.id, firewallRule);
    }
  };

  beforeAll(async () => {
    const publicIps = [...(site.world.publicIps ?? []), ...Object.values(taken)];
    started = await ServiceCluster.start({ ...site.world, publicIps });
    for (const node of site.nodes) await started.rig.cluster.create("/api/v1/nodes", node);
    before = listAddresses();
    // It stopped in the middle: one rule lacks backends, and one is of a port that the Service has no more. The rule
    // for 443 is older and has the name that the provider inside Kubernetes gave it.
    await createServed("web", taken.web, { spec: { ports: [HTTP, HTTPS] } }, [
      { suffix: "tcp-80", vms: first === undefined ? [] : [first] },
      { suffix: "443", publicPort: 443, privatePort: 30_043 },
      { suffix: "tcp-8080", publicPort: 8080, privatePort: 30_880 },
    ]);
    await createServed(
      "other",
      site.pinned,
      { spec: { ports: [OTHER], loadBalancerIP: PINNED_IP } },
      [{ suffix: "tcp-80", privatePort: OTHER.nodePort }],
    );
    await createServed(
      "named",
      taken.named,
      {
        spec: { ports: [NAMED], loadBalancerIP: NAMED_IP },
        annotations: { [ASSOCIATED]: "true" },
      },
      [{ suffix: "tcp-80", privatePort: NAMED.nodePort }],
    );
  }, 120_000);
  afterAll(() => started?.stop());

  test("keeps rules and addresses, adds what is missing, and no client notices", async () => {
    const { cloud, rig } = use();
    const foreign = find(LEFT_IP);
    await use().startController(PROGRAM);
    for (const name of ["web", "other", "named"]) {
      await use().untilTrue(`rest of ${name}`, async () =>
        (await use().listEvents(name)).some(({ reason }) => reason === "EnsuredLoadBalancer"),
      );
    }
    expect(withoutIds(find(TAKEN_IP) ?? {})).toMatchObject({
      tags: { "landfall.dev/service-uid": "UUID", "landfall.dev/service": "default/web" },
      loadBalancerRules: [toServed(443, HTTPS.nodePort), toServed(80, HTTP.nodePort)],
      firewallRules: [{ ports: "443-443" }, { ports: "80-80" }],
    });
    expect(find(PINNED_IP)).toMatchObject({ tags: {}, loadBalancerRules: [{ ports: "80:30081" }] });
    expect(find(NAMED_IP)).toMatchObject({
      tags: { "landfall.dev/service": "default/named" },
      loadBalancerRules: [{ ports: "80:30082" }],
    });
    expect(find(LEFT_IP)).toEqual(foreign);
    const breaking = cloud.requests.entries.filter(({ command }) => BREAKING.test(command));
    // Of the port that the Service does not have.
    expect(breaking.map(({ command }) => command)).toEqual([
      "deleteFirewallRule",
      "deleteLoadBalancerRule",
    ]);
    const statuses = (await rig.cluster.listRequests()).filter(
      ({ username, resource, body }) =>
        username === USERNAME &&
        resource === "services/status" &&
        Object.hasOwn(Object(body), "status"),
    );
    expect(statuses).toEqual([]);
  }, 60_000);

  test("removes them with their Services, and leaves what is the user's", async () => {
    for (const name of ["web", "other", "named"]) await use().remove(name);
    for (const name of ["web", "other", "named"]) await use().untilGone(name);
    const released = new Set([TAKEN_IP, NAMED_IP]);
    expect(listAddresses()).toEqual(before.filter(({ address }) => !released.has(address)));
  }, 60_000);

  function toServed(port: number, nodePort: number): object {
    const backends = site.vms.map(({ nics }) => nics[0]?.ipAddress ?? "").toSorted();
    return {
      name: `NAME-tcp-${port}`,
      description: "Managed by Landfall for default/web",
      ports: `${port}:${nodePort}`,
      state: "Active",
      applied: { privatePort: nodePort, backends },
    };
  }
});
