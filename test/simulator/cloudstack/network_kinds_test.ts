import { describe, expect, test } from "bun:test";
import {
  createNetworkKinds,
  type NetworkKind,
} from "../../../lib/simulator/cloudstack/network_kinds.ts";
import { CloudStackState } from "../../../lib/simulator/cloudstack/world/state.ts";

describe("createNetworkKinds()", () => {
  const { world, networks, vms, vpc, aclList, ownerId } = createNetworkKinds();
  const state = new CloudStackState(world);

  test.each<[NetworkKind, string, string | undefined]>([
    ["isolated", "Lb Firewall", undefined],
    ["simple", "Lb Firewall", undefined],
    ["open", "Lb", undefined],
    ["tier", "Lb NetworkACL", "k8s-acl"],
    ["tierAllow", "Lb NetworkACL", "default_allow"],
    ["tierDeny", "Lb NetworkACL", "default_deny"],
    ["shared", "", undefined],
  ])("%s offers %j and has the list %p", (kind, services, acl) => {
    const network = networks[kind];
    const filters = ["Lb", "Firewall", "NetworkACL"];
    expect(filters.filter((one) => network.services.includes(one)).join(" ")).toBe(services);
    expect(state.aclLists.get(network.aclId ?? "")?.name).toBe(acl);
    expect(network.vpcId).toBe(acl === undefined ? undefined : vpc.id);
    expect(vms[kind].map(({ nics }) => nics[0]?.networkId)).toEqual([network.id, network.id]);
    expect(state.vms.get(vms[kind][0]?.id ?? "")?.name).toBe(`${kind.toLowerCase()}-1`);
  });

  test("one network knows no stickiness", () => {
    expect([networks.simple.stickiness, networks.isolated.stickiness]).toEqual([[], undefined]);
  });

  test("the list refuses what it does not name before", () => {
    const items = [...state.aclItems.values()].filter(({ listId }) => listId === aclList.id);
    expect(items.map(({ number, action }) => [number, action])).toEqual([
      [1, "Allow"],
      [100, "Deny"],
    ]);
  });

  test("every router has an address of its own, and others are free", () => {
    const ips = [...state.publicIps.values()];
    expect(ips.filter((ip) => ip.isSourceNat && ip.accountId === ownerId)).toHaveLength(4);
    expect(ips.filter((ip) => ip.state === "Free")).toHaveLength(20);
  });

  test("everything can belong to a project", () => {
    const made = createNetworkKinds({ isInProject: true, freeIps: 1, vms: 1 });
    const owners = [...(made.world.vms ?? []), ...(made.world.vpcs ?? [])].map(
      (one) => one.accountId,
    );
    expect(new Set(owners)).toEqual(new Set([made.ownerId]));
    const project = made.world.projects?.find(({ id }) => id === made.projectId);
    expect(project?.accountId).toBe(made.ownerId);
    expect([made.vms.tier.length, made.world.publicIps?.length]).toEqual([1, 5]);
  });
});
