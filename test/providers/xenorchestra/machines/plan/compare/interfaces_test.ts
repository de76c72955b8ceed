import { expect, test } from "bun:test";
import type { Vif } from "../../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import {
  compareInterfaces,
  type InterfacesQuestion,
} from "../../../../../../lib/providers/xenorchestra/machines/plan/compare/interfaces.ts";
import { NAME, OWN_VIF, toSpec, toView, toVm } from "../../scene.ts";

const WANTED = [{ name: "oam", device: "0", networkId: "net-1", mac: OWN_VIF.mac, mtu: 9000 }];

function toQuestion(
  vifs: readonly Vif[],
  interfaces: InterfacesQuestion["wanted"]["interfaces"] = WANTED,
): InterfacesQuestion {
  const { stock } = toView({ vifs: { "vm-1": vifs } });
  return { spec: toSpec(), vm: toVm(), wanted: { interfaces }, stock };
}

const BOTH = ["InterfaceDiffers", "InterfaceNotWanted"];

test.each<[string, readonly Vif[], readonly string[]]>([
  ["nothing", [OWN_VIF], []],
  ["a missing one", [], [`add interface oam to ${NAME}`]],
  ["another address", [{ ...OWN_VIF, mac: "02:00:00:00:00:09" }], ["InterfaceDiffers"]],
  ["another network", [{ ...OWN_VIF, networkId: "net-2" }], ["InterfaceDiffers"]],
  ["the right MTU", [{ ...OWN_VIF, mtu: 9000 }], []],
  ["another MTU", [{ ...OWN_VIF, mtu: 1500 }], ["InterfaceDiffers"]],
  ["its address on another device", [{ ...OWN_VIF, device: "3" }], BOTH],
  ["one too many", [OWN_VIF, { ...OWN_VIF, device: "1" }], ["InterfaceNotWanted"]],
])("compareInterfaces() finds %s", (_what, vifs, found) => {
  const { differences } = compareInterfaces(toQuestion(vifs));
  expect(differences.map(({ fix, problem }) => fix?.summary ?? problem?.reason ?? "")).toEqual([
    ...found,
  ]);
});

test("compareInterfaces() adds an interface with its device, address and network", () => {
  const [difference] = compareInterfaces(toQuestion([])).differences;
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
  const { differences, parts } = compareInterfaces(toQuestion([OWN_VIF], []));
  expect(differences).toEqual([]);
  const wanted = `${OWN_VIF.mac} in network "oam", which was not found`;
  expect(parts).toEqual([{ name: "interface oam", wanted }]);
});

test("compareInterfaces() calls no interface one too many while a network is not known", () => {
  const vifs = [OWN_VIF, { device: "1", mac: "02:00:00:00:00:07", networkId: "net-2" }];
  expect(compareInterfaces(toQuestion(vifs, [])).differences).toEqual([]);
});

test("compareInterfaces() names networks, and first asks whether the spec is wrong", () => {
  const vifs = [
    { ...OWN_VIF, networkId: "net-4" },
    { ...OWN_VIF, device: "1", mac: "02:07" },
  ];
  const messages = compareInterfaces(toQuestion(vifs)).differences.map(
    ({ problem }) => problem?.message ?? "",
  );
  expect(messages[0]).toContain(
    `interface oam of ${NAME} is ${OWN_VIF.mac} in network "far" (net-4) instead of ${OWN_VIF.mac} in ` +
      'network "oam" (net-1). Correct the spec if the machine is right. Otherwise remove',
  );
  expect(messages[1]).toContain(
    'device 1, 02:07 in network "oam" (net-1). Landfall removes none. Add it to the spec, or remove it',
  );
});

test("compareInterfaces() says which MTU an interface has, and which the spec asks for", () => {
  const { differences, parts } = compareInterfaces(toQuestion([{ ...OWN_VIF, mtu: 1500 }]));
  const place = `${OWN_VIF.mac} in network "oam" (net-1)`;
  expect(differences[0]?.problem?.message).toStartWith(
    `interface oam of ${NAME} is ${place} with MTU 1500 instead of ${place} with MTU 9000. Correct the spec`,
  );
  expect(parts).toEqual([
    { name: "interface oam", wanted: `${place} with MTU 9000`, actual: `${place} with MTU 1500` },
  ]);
});

test("compareInterfaces() compares no MTU if the spec has none", () => {
  const wanted = WANTED.map(({ mtu: _any, ...one }) => one);
  const { differences, parts } = compareInterfaces(toQuestion([{ ...OWN_VIF, mtu: 9000 }], wanted));
  expect(differences).toEqual([]);
  expect(JSON.stringify(parts)).not.toContain("MTU");
});

test("compareInterfaces() says which VM has the address of a missing one", () => {
  const taken = WANTED.map((one) => ({ ...one, takenBy: "vm-9" }));
  const question = toQuestion([], taken);
  const [difference] = compareInterfaces(question).differences;
  expect(difference?.fix).toBeUndefined();
  expect(difference?.problem?.message).toContain("VM vm-9 has its MAC address");
});
