import { expect, test } from "bun:test";
import {
  toAclItemReply,
  toAclListReply,
} from "../../../../../lib/simulator/cloudstack/commands/rules/acl_reply.ts";
import { CloudStackState } from "../../../../../lib/simulator/cloudstack/world/state.ts";
import {
  DEFAULT_DENY,
  toAclItem,
  toAclList,
  toVpc,
} from "../../../../../lib/simulator/cloudstack/world/vpcs.ts";

const vpc = toVpc("k8s", "zone", "account");
const list = toAclList("web", vpc);
const state = new CloudStackState({ vpcs: [vpc], aclLists: [list] });

test("toAclListReply() names the VPC of a list, unless it is every account's", () => {
  const { id, name, description } = list;
  expect(toAclListReply(list)).toEqual({ id, name, description, vpcid: vpc.id, fordisplay: true });
  expect(toAclListReply(DEFAULT_DENY)).not.toHaveProperty("vpcid");
});

test("toAclItemReply() has ports as text, and the number as one", () => {
  const cidrs = ["10.0.0.0/8", "fd00::/8"];
  const item = toAclItem({ list, number: 7, startPort: 80, endPort: 81, cidrs, reason: "why" });
  expect(toAclItemReply(item, state)).toEqual({
    id: item.id,
    protocol: "tcp",
    startport: "80",
    endport: "81",
    traffictype: "Ingress",
    state: "Active",
    cidrlist: "10.0.0.0/8,fd00::/8",
    tags: [],
    aclid: list.id,
    aclname: "web",
    number: 7,
    action: "Allow",
    fordisplay: true,
    reason: "why",
  });
});

test("toAclItemReply() leaves out what an item lacks, and calls a revoked one Deleting", () => {
  const item = toAclItem({ list, number: 1, protocol: "icmp", icmpType: 8, state: "Revoke" });
  const reply = toAclItemReply(item, state);
  expect(reply).toMatchObject({ icmptype: 8, state: "Deleting" });
  for (const field of ["startport", "endport", "icmpcode", "reason"]) {
    expect(reply).not.toHaveProperty(field);
  }
});
