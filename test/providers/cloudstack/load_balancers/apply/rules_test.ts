/**
 * Rules, backends and firewall rules: what a step does in CloudStack, and that the store then shows what a look shows.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { ChangeOf } from "../../../../../lib/providers/cloudstack/load_balancers/steps.ts";
import type { Rule, View } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { useApply } from "./apply_rig.ts";

const rig = useApply();

/** An address of the account without rules. */
async function takeIp(): Promise<string> {
  const done = await rig.change("associateIpAddress", { networkid: rig.networkId });
  await rig.look();
  return done.id;
}

function toRule(
  addressId: string,
  more: Partial<ChangeOf<"createRule">> = {},
): ChangeOf<"createRule"> {
  return {
    kind: "createRule",
    name: "a1-tcp-80",
    description: "Managed by Landfall for shop/web",
    addressId,
    networkId: rig.networkId,
    publicPort: 80,
    privatePort: 30_080,
    protocol: "tcp",
    algorithm: "roundrobin",
    ...more,
  };
}

/** The only rule of the view. */
function onlyRule(): Rule {
  const [rule, ...more] = [...(rig.store.view?.rules.values() ?? [])];
  if (rule === undefined || more.length > 0) throw new Error("There is not exactly one rule");
  return rule;
}

/** What the store shows, and what a look shows. */
async function compareWithLook(): Promise<readonly [unknown, unknown]> {
  const known = toComparable(rig.store.view);
  return [known, toComparable(await rig.look())];
}

function toComparable(view: View | undefined): unknown {
  const { addresses, rules, firewallRules, members } = view ?? {};
  const bare = [...(addresses?.values() ?? [])].map((one) => ({ ...one, hasRules: undefined }));
  return { addresses: bare, rules, firewallRules, members };
}

describe("rules", () => {
  test("a rule is made as asked, without backends, and the store shows it", async () => {
    const ip = await takeIp();
    expect(await rig.apply(toRule(ip))).toBeUndefined();
    expect(onlyRule()).toMatchObject({ name: "a1-tcp-80", publicPort: 80, privatePort: 30_080 });
    expect(rig.store.isValid).toBe(true);
    const [known, shown] = await compareWithLook();
    expect(known).toEqual(shown);
    expect(rig.simulator.state.firewallRules.size).toBe(0);
  });

  test("a rule takes the list of its clients", async () => {
    const ip = await takeIp();
    await rig.apply(toRule(ip, { cidrs: ["192.0.2.0/24", "10.0.0.0/8"] }));
    expect(onlyRule().cidrs).toEqual(["10.0.0.0/8", "192.0.2.0/24"]);
    expect(rig.store.isValid).toBe(true);
    await rig.apply({ kind: "updateRule", ruleId: onlyRule().id, cidrs: ["10.1.0.0/16"] });
    expect(onlyRule().cidrs).toEqual(["10.1.0.0/16"]);
    const [known, shown] = await compareWithLook();
    expect(known).toEqual(shown);
  });

  test.each([
    [(): ChangeOf<"createRule"> => toRule(rig.ipId("192.0.2.12"), { cidrs: [] })],
    [() => ({ kind: "updateRule", ruleId: "x", cidrs: [] }) as const],
    [
      () =>
        ({
          kind: "createFirewallRule",
          addressId: "x",
          protocol: "tcp",
          port: 80,
          cidrs: [],
        }) as const,
    ],
    [
      () =>
        ({
          kind: "createAclItem",
          listId: "x",
          networkId: "x",
          protocol: "tcp",
          port: 80,
          cidrs: [],
          reason: "",
        }) as const,
    ],
  ])(
    "an empty list of clients is never sent: CloudStack takes it for everyone (%#)",
    async (toChange) => {
      await rig.look();
      expect(String(await rig.apply(toChange()))).toContain("names at least one block");
      expect(rig.commands()).toEqual([]);
    },
  );

  test("a rule is renamed and gets another algorithm", async () => {
    const ip = await takeIp();
    await rig.apply(toRule(ip));
    const { id } = onlyRule();
    await rig.apply({ kind: "updateRule", ruleId: id, name: "a1-tcp-81", algorithm: "source" });
    expect(onlyRule()).toMatchObject({ id, name: "a1-tcp-81", algorithm: "source" });
    const [known, shown] = await compareWithLook();
    expect(known).toEqual(shown);
  });

  test("backends come and go, and the rule goes with them", async () => {
    const ip = await takeIp();
    await rig.apply(toRule(ip));
    const { id: ruleId } = onlyRule();
    const vmIds = [rig.idOf("worker-1"), rig.idOf("worker-2")];
    await rig.apply({ kind: "addBackends", ruleId, vmIds });
    expect(rig.store.view?.members.get(ruleId)).toEqual(new Set(vmIds));
    await rig.apply({ kind: "removeBackends", ruleId, vmIds: vmIds.slice(0, 1) });
    expect(rig.store.view?.members.get(ruleId)).toEqual(new Set(vmIds.slice(1)));
    const [known, shown] = await compareWithLook();
    expect(known).toMatchObject({ members: (shown as { members: unknown }).members });
    await rig.apply({ kind: "deleteRule", ruleId });
    const [without, shownWithout] = await compareWithLook();
    expect(without).toEqual(shownWithout);
    expect(rig.simulator.state.loadBalancerRules.size).toBe(0);
  });
});

describe("a step whose look is out of date", () => {
  test("what is to be deleted and is gone already is no failure", async () => {
    const ip = await takeIp();
    await rig.apply(toRule(ip));
    const { id: ruleId } = onlyRule();
    await rig.change("deleteLoadBalancerRule", { id: ruleId });
    expect(await rig.apply({ kind: "deleteRule", ruleId })).toBeUndefined();
    expect(rig.store.view?.rules.size).toBe(0);
  });

  test("a backend that is there already asks for a new look instead of failing", async () => {
    const ip = await takeIp();
    await rig.apply(toRule(ip));
    const { id: ruleId } = onlyRule();
    const vmIds = [rig.idOf("worker-1")];
    await rig.change("assignToLoadBalancerRule", { id: ruleId, virtualmachineids: vmIds.join() });
    expect(await rig.apply({ kind: "addBackends", ruleId, vmIds })).toBeUndefined();
    expect(rig.store.isValid).toBe(false);
    expect((await rig.look()).members.get(ruleId)).toEqual(new Set(vmIds));
  });

  test("a port that is in use asks for a new look once, and then says so with CloudStack's words", async () => {
    const ip = await takeIp();
    await rig.change("createPortForwardingRule", {
      ipaddressid: ip,
      protocol: "tcp",
      privateport: "1",
      publicport: "80",
      virtualmachineid: rig.idOf("worker-1"),
    });
    expect(await rig.apply(toRule(ip))).toBeUndefined();
    expect(rig.store.isValid).toBe(false);
    await rig.look();
    expect(String(await rig.apply(toRule(ip)))).toContain("conflicts with rule");
    expect(await rig.apply(toRule(ip))).toBeUndefined();
  });
});

test.each([
  [8_081, "tcp", "keeps one port for itself, by default 8081"],
  [53, "udp", "takes no UDP"],
] as const)(
  "a rule for port %d by %s that the load balancer of the network refuses is one problem, said at once",
  async (publicPort, protocol, why) => {
    const network = rig.simulator.state.networks.get(rig.networkId);
    Object.assign(network ?? {}, { balancer: "HAProxy" });
    const addressId = await takeIp();
    const error = await rig.apply(toRule(addressId, { publicPort, protocol }));
    expect(error).toMatchObject({ status: 431, problem: { reason: "UnsupportedService" } });
    expect(String(error)).toContain(`port ${publicPort}: `);
    expect(String(error)).toContain(why);
    expect(rig.simulator.requests.count("createLoadBalancerRule")).toBe(1);
  },
);

test("another refusal of a rule is not taken for that one", async () => {
  const addressId = await takeIp();
  const refusal = {
    kind: "error",
    code: 530,
    text: "LB service provider cannot support this rule",
  } as const;
  rig.simulator.faults.set(refusal, { command: "createLoadBalancerRule" });
  expect(await rig.apply(toRule(addressId))).not.toHaveProperty("problem");
});
