import { expect, test } from "bun:test";
import type { Vif } from "../../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import { compareInterfaces } from "../../../../../../lib/providers/xenorchestra/machines/plan/compare/interfaces.ts";
import { NAME, OWN_VIF, toSpec, toVm } from "../../scene.ts";

const WANTED = [{ name: "oam", device: "0", networkId: "net-1", mac: OWN_VIF.mac, mtu: 9000 }];

const BOTH = ["InterfaceDiffers", "InterfaceNotWanted"];

test.each<[string, readonly Vif[], readonly string[]]>([
  ["nothing", [OWN_VIF], []],
  ["a missing one", [], [`add interface oam to ${NAME}`]],
  ["another address", [{ ...OWN_VIF, mac: "02:00:00:00:00:09" }], ["InterfaceDiffers"]],
  ["another network", [{ ...OWN_VIF, networkId: "net-2" }], ["InterfaceDiffers"]],
  ["its address on another device", [{ ...OWN_VIF, device: "3" }], BOTH],
  ["one too many", [OWN_VIF, { ...OWN_VIF, device: "1" }], ["InterfaceNotWanted"]],
])("compareInterfaces() finds %s", (_what, vifs, found) => {
  const wanted = { interfaces: WANTED };
  const { differences } = compareInterfaces({ spec: toSpec(), vm: toVm(), wanted, vifs });
  expect(differences.map(({ fix, problem }) => fix?.summary ?? problem?.reason ?? "")).toEqual([
    ...found,
  ]);
});

test("compareInterfaces() adds an interface with its device, address and network", () => {
  const wanted = { interfaces: WANTED };
  const [difference] = compareInterfaces({
    spec: toSpec(),
    vm: toVm(),
    wanted,
    vifs: [],
  }).differences;
  expect(difference?.fix?.change).toEqual({
    kind: "addInterface",
    vmId: "vm-1",
    device: "0",
    networkId: "net-1",
    mac: OWN_VIF.mac,
    mtu: 9000,
  });
});

test("compareInterfaces() does not compare one whose network is not known", () => {
  const wanted = { interfaces: [] };
  const question = { spec: toSpec(), vm: toVm(), wanted, vifs: [OWN_VIF] };
  expect(compareInterfaces(question).differences).toEqual([]);
});

test("compareInterfaces() says which VM has the address of a missing one", () => {
  const wanted = { interfaces: WANTED.map((one) => ({ ...one, takenBy: "vm-9" })) };
  const question = { spec: toSpec(), vm: toVm(), wanted, vifs: [] };
  const [difference] = compareInterfaces(question).differences;
  expect(difference?.fix).toBeUndefined();
  expect(difference?.problem?.message).toContain("VM vm-9 has its MAC address");
});
