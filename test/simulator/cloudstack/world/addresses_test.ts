import { describe, expect, test } from "bun:test";
import {
  dropPortForwarding,
  dropRule,
  free,
  hasRules,
  listUsedPorts,
  toSerialKey,
  unbindIfUnused,
  wipe,
} from "../../../../lib/simulator/cloudstack/world/addresses.ts";
import {
  toLoadBalancerRule,
  toPortForwarding,
} from "../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import { toPublicIp, type PublicIp } from "../../../../lib/simulator/cloudstack/world/records.ts";
import { CloudStackState } from "../../../../lib/simulator/cloudstack/world/state.ts";

const IP: PublicIp = {
  ...toPublicIp("192.0.2.1", "z", "a"),
  vpcId: "v",
  networkId: "n",
};

/** An address of a VPC with a rule, a port forwarding and tags. */
function createState(): { readonly state: CloudStackState; readonly ip: PublicIp } {
  const tag = { key: "k", value: "v", accountId: "a" };
  const state = new CloudStackState({
    publicIps: [IP],
    loadBalancerRules: [{ ...toLoadBalancerRule({ ip: IP, name: "web" }), id: "rule" }],
    portForwardings: [
      {
        ...toPortForwarding({ ip: IP, vmId: "vm", publicPort: 90, publicEndPort: 99 }),
        id: "forwarding",
      },
    ],
    tags: [
      { ...tag, resourceType: "PublicIpAddress", resourceId: IP.id },
      { ...tag, resourceType: "LoadBalancer", resourceId: "rule" },
    ],
  });
  const ip = state.publicIps.get(IP.id);
  if (ip === undefined) throw new Error("no address");
  return { state, ip };
}

describe("the life of a public address", () => {
  test("toSerialKey() is the network's, the VPC's before that, the address's own otherwise", () => {
    const { networkId, vpcId, ...alone } = IP;
    const keys = [IP, { ...alone, vpcId: "v" }, alone].map((ip) => toSerialKey(ip));
    expect(keys).toEqual([`network/${networkId}`, `vpc/${vpcId}`, `ip/${IP.id}`]);
  });

  test("listUsedPorts() has rules and port forwardings of the address alone", () => {
    const { state } = createState();
    const ports = listUsedPorts(state, IP.id).map((one) => [one.publicPort, one.publicEndPort]);
    expect(ports).toEqual([
      [80, 80],
      [90, 99],
    ]);
    expect([hasRules(state, IP.id), hasRules(state, "other")]).toEqual([true, false]);
  });

  test("what goes last unbinds the address from its tier", () => {
    const { state, ip } = createState();
    dropRule(state, "rule");
    expect([ip.networkId, state.tags.of("rule")]).toEqual(["n", []]);
    dropPortForwarding(state, "forwarding");
    expect([ip.networkId, ip.vpcId]).toEqual([undefined, "v"]);
    dropRule(state, "rule");
    dropPortForwarding(state, "forwarding");
  });

  test("unbindIfUnused() leaves addresses alone that serve NAT or belong to no VPC", () => {
    for (const more of [{ isSourceNat: true }, { staticNatVmId: "vm" }, { vpcId: "" }]) {
      const { vpcId = "", ...rest } = { ...IP, ...more };
      const state = new CloudStackState({
        publicIps: [{ ...rest, ...(vpcId !== "" && { vpcId }) }],
      });
      unbindIfUnused(state, IP.id);
      expect(state.publicIps.get(IP.id)?.networkId).toBe("n");
    }
  });

  test("wipe() removes rules and keeps the owner; free() takes that, and the tags, too", () => {
    const { state, ip } = createState();
    wipe(state, ip);
    expect([state.loadBalancerRules.size, state.portForwardings.size]).toEqual([0, 0]);
    expect([ip.accountId, state.tags.of(IP.id).length]).toEqual(["a", 1]);
    free(state, ip);
    expect(ip).toEqual({
      id: IP.id,
      address: "192.0.2.1",
      zoneId: "z",
      state: "Free",
      isSourceNat: false,
    });
    expect(state.tags.of(IP.id)).toEqual([]);
  });
});
