import { describe, expect, test } from "bun:test";
import { findOwner, toInstance } from "../../../../lib/providers/cloudstack/model/inventory.ts";
import { toInstance as toOther } from "../../../support/cloud/instances.ts";

const VM = "0a1b2c3d-0000-4000-8000-00000000000f";
const SETTINGS = {
  addresses: { exclude: [], externalCidrs: [] },
  instanceTypeStyle: "squeezed",
} as const;

describe("toInstance()", () => {
  test("writes what CloudStack says of a VM as label values", () => {
    const vm = {
      id: VM,
      name: "Node-1",
      state: "Running",
      zonename: "Zürich 1/2",
      serviceofferingname: "Small Instance",
      account: "ops",
      domainid: "d",
      cpunumber: 2,
      memory: 3_584,
      nic: [{ ipaddress: "10.1.0.1" }],
    };
    expect(toInstance(vm, SETTINGS)).toEqual({
      id: VM,
      providerId: `external-cloudstack://${VM}`,
      name: "Node-1",
      state: "running",
      region: "Z-rich-1-2",
      zone: "Z-rich-1-2",
      instanceType: "SmallInstance",
      addresses: [{ type: "InternalIP", address: "10.1.0.1" }],
      labels: {},
      details: {
        state: "Running",
        zone: "Zürich 1/2",
        serviceOffering: "Small Instance",
        cpus: "2",
        memory: "3.5 GiB",
        account: "ops",
      },
      owner: "account ops of domain d",
    });
  });

  test("takes the region of the settings, and leaves out what is not known", () => {
    const instance = toInstance({ id: VM, state: "Destroyed" }, { ...SETTINGS, region: "eu 1" });
    expect(instance).toEqual({
      id: VM,
      providerId: `external-cloudstack://${VM}`,
      name: "",
      state: "stopped",
      region: "eu-1",
      addresses: [],
      labels: {},
      details: { state: "Destroyed" },
      isDead: true,
    });
  });
});

describe("findOwner()", () => {
  test.each([
    [{ account: "ops", domainid: "d" }, "account ops of domain d"],
    [{ account: "ops", domainid: "d", projectid: "p" }, "project p"],
    [{ projectid: "p" }, "project p"],
    [{ account: "ops" }, undefined],
    [{}, undefined],
  ])("of %p is %p", (vm, owner) => {
    expect(findOwner(toInstance({ id: VM, ...vm }, SETTINGS))).toBe(owner);
  });

  test("is not known of an instance of another cloud", () => {
    expect(findOwner(toOther("a"))).toBeUndefined();
  });
});
