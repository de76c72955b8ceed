import { expect, test } from "bun:test";
import { toIpReply } from "../../../../../lib/simulator/cloudstack/commands/addresses/ip_reply.ts";
import { createDemoWorld } from "../../../../../lib/simulator/cloudstack/mod.ts";
import { CloudStackState } from "../../../../../lib/simulator/cloudstack/world/state.ts";
import { toVpc } from "../../../../../lib/simulator/cloudstack/world/vpcs.ts";

test("toIpReply() leaves out what a free address lacks, and names the VPC of one", () => {
  const state = new CloudStackState(createDemoWorld().world);
  const [first, second, free] = state.publicIps.values();
  if (first === undefined || second === undefined || free === undefined) throw new Error("none");
  expect(toIpReply(first, state)).toMatchObject({
    ipaddress: "192.0.2.10",
    allocated: "2026-01-02T03:04:05+0000",
    issourcenat: true,
    isstaticnat: false,
    associatednetworkname: "k8s-paris",
    account: "acme",
    state: "Allocated",
    hasrules: false,
    tags: [],
  });
  expect(toIpReply(second, state)).toMatchObject({ isstaticnat: true, virtualmachinename: "cp-1" });
  const vpc = toVpc("shop", first.zoneId, first.accountId ?? "");
  state.vpcs.set(vpc.id, vpc);
  const shown = { vpcid: vpc.id, vpcname: "shop" };
  expect(toIpReply({ ...first, vpcId: vpc.id }, state)).toMatchObject(shown);
  const reply = toIpReply(free, state);
  expect(reply).toMatchObject({ state: "Free" });
  for (const field of ["allocated", "account", "associatednetworkid", "vpcid"]) {
    expect(reply).not.toHaveProperty(field);
  }
});
