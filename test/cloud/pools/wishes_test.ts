import { describe, expect, test } from "bun:test";
import { findSharedKey, parseWishes } from "../../../lib/cloud/pools/wishes.ts";

const POOL = "landfall.dev/address-pool";
const IPS = "landfall.dev/load-balancer-ips";
const SHARED = "landfall.dev/shared-address";
const KUBE_VIP = "kube-vip.io/loadbalancerIPs";
const FORM = "must be one IP address, or an IPv4 and an IPv6 address with a comma between them";

describe("parseWishes()", () => {
  test("reads nothing from a Service without annotations", () => {
    const wishes = parseWishes({ annotations: {} }, true);
    expect(wishes).toEqual({ addresses: new Map(), source: KUBE_VIP });
  });

  test("reads all annotations, without blanks around them", () => {
    const annotations = { [POOL]: " web ", [IPS]: " 2001:DB8::1 , 192.0.2.1 ", [SHARED]: " k " };
    expect(parseWishes({ annotations, address: "192.0.2.9" }, true)).toEqual({
      pool: "web",
      sharedKey: "k",
      source: IPS,
      addresses: new Map([
        [6, "2001:db8::1"],
        [4, "192.0.2.1"],
      ]),
    });
  });

  const kubeVip: readonly [object, boolean, string | undefined][] = [
    [{}, true, "192.0.2.7"],
    [{}, false, undefined],
    [{ record: '{"v":1,"addresses":[]}' }, true, undefined],
    [{ address: "192.0.2.8" }, true, "192.0.2.8"],
  ];
  test.each(kubeVip)(
    "with kube-vip's annotation, %j and the setting %p: %s",
    (fields, reads, address) => {
      const { addresses } = parseWishes(
        { annotations: { [KUBE_VIP]: "192.0.2.7" }, ...fields },
        reads,
      );
      expect(addresses.get(4)).toBe(address);
    },
  );

  const bad: readonly [object, string][] = [
    [{ annotations: { [IPS]: "x" } }, `${IPS} ${FORM}, but is "x"`],
    [{ annotations: { [IPS]: "192.0.2.1," } }, `${IPS} ${FORM}, but is "192.0.2.1,"`],
    [{ annotations: { [IPS]: "192.0.2.0/24" } }, `${IPS} ${FORM}, but is "192.0.2.0/24"`],
    [
      { annotations: {}, address: "192.0.2.1,192.0.2.2" },
      `spec.loadBalancerIP ${FORM}, but is "192.0.2.1,192.0.2.2"`,
    ],
    [
      { annotations: { [IPS]: "192.0.2.1,2001:db8::1,192.0.2.2" } },
      `${IPS} ${FORM}, but is "192.0.2.1,2001:db8::1,192.0.2.2"`,
    ],
    [
      { annotations: { [SHARED]: "a/b" } },
      `${SHARED} must have at most 63 letters, digits, "-", "_" or ".", but is "a/b"`,
    ],
  ];
  test.each(bad)("says what is wrong with %j", (claim, problem) => {
    const parsed = parseWishes({ annotations: {}, ...claim }, false);
    expect(parsed.problem).toBe(problem);
  });

  test("reads no key of the prototype", () => {
    expect(
      parseWishes({ annotations: Object.create({ [POOL]: "x" }) }, false).pool,
    ).toBeUndefined();
  });
});

test("findSharedKey() finds only a key that can be used", () => {
  expect(findSharedKey({ annotations: { [SHARED]: "web" } })).toBe("web");
  expect(findSharedKey({ annotations: { [SHARED]: "a b" } })).toBeUndefined();
  expect(findSharedKey({ annotations: {} })).toBeUndefined();
});
