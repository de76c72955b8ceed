import { describe, expect, test } from "bun:test";
import { toVmReply, toVmView } from "../../../../lib/simulator/cloudstack/commands/vm_reply.ts";
import { createDemoWorld } from "../../../../lib/simulator/cloudstack/mod.ts";
import { CloudStackState } from "../../../../lib/simulator/cloudstack/world/state.ts";

const story = createDemoWorld();
const state = new CloudStackState(story.world);
const find = (type: string) => {
  const account = [...state.accounts.values()].find((one) => one.type === type);
  if (account === undefined) throw new RangeError(type);
  return account;
};
const USER = find("user");

function show(name: string, details: readonly string[], caller = USER): Record<string, unknown> {
  const vm = [...state.vms.values()].find((one) => one.name === name);
  if (vm === undefined) throw new RangeError(name);
  // As the client gets it: fields without a value are not there.
  return JSON.parse(JSON.stringify(toVmReply(vm, toVmView(state, caller, details))));
}

const RECORDED_VM = toFields({
  string:
    "id name displayname account userid username domainid domain created state zoneid zonename " +
    "serviceofferingid serviceofferingname guestosid hypervisor",
  number: "cpunumber cpuspeed memory",
  boolean: "haenable displayvm",
  list: "securitygroup nic affinitygroup tags",
  object: "details",
});
const RECORDED_NIC = toFields({
  string:
    "id networkid networkname netmask gateway ipaddress isolationuri broadcasturi traffictype type macaddress",
  boolean: "isdefault",
  list: "secondaryip extradhcpoption",
});

function toFields(namesByType: Record<string, string>): Record<string, string> {
  const fields = Object.entries(namesByType).flatMap(([type, names]) =>
    names.split(" ").map((name) => [name, type] as const),
  );
  return Object.fromEntries(fields);
}

function toTypes(object: object): Record<string, string> {
  const types = Object.entries(object).map(
    ([name, value]) => [name, Array.isArray(value) ? "list" : typeof value] as const,
  );
  return Object.fromEntries(types);
}

describe("toVmReply()", () => {
  test("has the fields of a virtual machine, as recorded from a real server", () => {
    expect(show("cp-1", ["min", "nics", "servoff"])).toMatchObject({
      id: story.machines.get("cp-1")?.vmId,
      name: "cp-1",
      displayname: "cp-1",
      account: "acme",
      domain: "ROOT",
      created: "2026-01-02T03:04:05+0000",
      state: "Running",
      haenable: false,
      zonename: "paris",
      serviceofferingname: "Large-8 (Über)",
      cpunumber: 8,
      memory: 16_384,
      publicip: "192.0.2.11",
      displayvm: true,
      tags: [],
      nic: [
        {
          networkname: "k8s-paris",
          netmask: "255.255.255.0",
          gateway: "10.10.0.1",
          ipaddress: "10.10.0.11",
          ip6address: "fd00:10::11",
          type: "Isolated",
          isdefault: true,
          publicip: "192.0.2.11",
          secondaryip: [],
        },
      ],
    });
  });

  test("has at least the fields of a recorded one, with values of the same type", () => {
    const shown = show("worker-1", ["min", "nics", "servoff"]);
    const [nic] = Array.isArray(shown["nic"]) ? shown["nic"] : [];
    expect(toTypes(shown)).toMatchObject(RECORDED_VM);
    expect(toTypes(nic)).toMatchObject(RECORDED_NIC);
  });

  test("has only what is asked for", () => {
    const minimal = show("worker-1", ["min"]);
    expect(minimal).toMatchObject({ name: "worker-1", zonename: "paris", state: "Running" });
    for (const field of ["nic", "serviceofferingname", "publicip", "hostname"]) {
      expect(minimal).not.toHaveProperty(field);
    }
    expect(show("worker-1", ["nics"])).not.toHaveProperty("serviceofferingid");
    for (const details of [[], ["all"]]) {
      expect(show("worker-1", details)).toMatchObject({ nic: [{}], cpunumber: 2 });
    }
  });

  test("names hypervisor and instance to the root administrator only", () => {
    expect(show("worker-1", ["min"], find("admin"))).toMatchObject({
      hostname: "kvm-1",
      instancename: expect.stringMatching(/^i-2-/),
    });
    expect(show("worker-10", ["min"], find("admin"))).not.toHaveProperty("hostname");
  });

  test("may show the default interface last", () => {
    expect(show("worker-dual", ["nics"])["nic"]).toMatchObject([
      { isdefault: false, type: "Shared" },
      { isdefault: true, type: "Isolated" },
    ]);
  });

  test("sends other values when a test wants them", () => {
    const id = story.machines.get("worker-2")?.vmId ?? "";
    state.override(id, { name: 42, zonename: undefined });
    state.override(id, { nic: {} });
    const vm = state.vm(id);
    const reply = JSON.parse(JSON.stringify(toVmReply(vm, toVmView(state, USER, []))));
    expect(reply).toMatchObject({ id, name: 42, nic: {} });
    expect(reply).not.toHaveProperty("zonename");
  });
});

test("toVmView() refuses a detail that does not exist", () => {
  expect(() => toVmView(state, USER, ["nic"])).toThrow("non permitted value");
});
