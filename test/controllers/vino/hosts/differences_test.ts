import { expect, test } from "bun:test";
import { listHostDifferences } from "../../../../lib/controllers/vino/hosts/differences.ts";
import { BMC, toWanted } from "../../../support/vino/wanted_hosts.ts";

const WRONG = "02:00:00:00:00:99";
const RIGHT = "02:00:00:00:00:00";
const LIVE = { bootMac: RIGHT, bmcAddress: BMC.address, isBmcOpen: false, use: undefined };
const WAY = "delete the BareMetalHost, then Landfall makes it again";
const MAC = `BareMetalHost edge-worker-0 has the bootMACAddress ${WRONG}, and no interface of its machine has it`;
const ADDRESS =
  "BareMetalHost edge-worker-0 has the bmc.address x, and metal3 does not let it change";

type Wanted = Parameters<typeof listHostDifferences>[0];
type Live = Parameters<typeof listHostDifferences>[1];

test.each<[string, Partial<Wanted>, Partial<Live>, readonly string[]]>([
  ["that is as wanted", {}, {}, []],
  ["without a MAC address", {}, { bootMac: undefined }, []],
  ["with a wrong MAC address", {}, { bootMac: WRONG }, [`${MAC}: ${WAY} with ${RIGHT}`]],
  [
    "with a wrong MAC address, in use",
    {},
    { bootMac: WRONG, use: 'is used by M "m"' },
    [`${MAC}: it is used by M "m": take it from there first, then ${WAY} with ${RIGHT}`],
  ],
  ["whose machine may get that interface still", { isBuilt: false }, { bootMac: WRONG }, []],
  ["with a wrong address", {}, { bmcAddress: "x" }, [`${ADDRESS}: ${WAY} with ${BMC.address}`]],
  ["whose address Landfall may change", {}, { bmcAddress: "x", isBmcOpen: true }, []],
  ["without a management controller", {}, { bmcAddress: undefined }, []],
])("listHostDifferences() of a host %s", (_what, wanted, live, found) => {
  const host = toWanted(0, { bmc: BMC, ...wanted });
  expect(listHostDifferences(host, { ...LIVE, ...live })).toEqual([...found]);
});

test("listHostDifferences() of the host of a machine without interfaces", () => {
  const { bootMac: _mac, ...wanted } = toWanted(0, { interfaces: [] });
  const [found] = listHostDifferences(wanted, { ...LIVE, bootMac: WRONG });
  expect(found).toEndWith(`${WAY} without one`);
});
