/**
 * The section `loadBalancers`.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { isInCidr } from "../../../lib/core/net/ip.ts";
import { LOAD_BALANCERS } from "../../../lib/cloud/pools/settings.ts";

const NAME =
  "must be a name like that of a Namespace: lower-case letters, digits and dashes, at most 63";
const FORMS =
  "must be a CIDR, a range or an address, for example 192.0.2.0/28, 192.0.2.10-192.0.2.20 or 2001:db8::/64";
const POOL = { name: "a", addresses: ["192.0.2.10"] };

function listLines(written: unknown): string[] {
  const { settings, issues } = LOAD_BALANCERS.parse(written);
  if (issues.length > 0) expect(settings).toEqual(LOAD_BALANCERS.standard);
  return issues.map(({ path, message }) => `${path}: ${message}`);
}

describe("LOAD_BALANCERS", () => {
  test.each([undefined, null, "", {}, { pools: null, announce: "" }, { pools: [] }])(
    "takes %j for no pools",
    (written) => {
      expect(LOAD_BALANCERS.parse(written)).toEqual({
        settings: { pools: [], announce: "none", sharing: [] },
        issues: [],
        warnings: [],
      });
    },
  );

  test("reads pools, and fills in what is not written", () => {
    const full = {
      name: "web-1",
      addresses: ["192.0.2.16/28", "192.0.2.40-192.0.2.50", "2001:db8::/64"],
      namespaces: ["web", "shop"],
      selector: { "example.org/tier": "gold", empty: "" },
      shareable: true,
      autoAssign: false,
    };
    const bare = { ...POOL, namespaces: null, selector: "", shareable: null };
    const { settings, issues } = LOAD_BALANCERS.parse({ pools: [full, bare], announce: "kubeVip" });
    expect(issues).toEqual([]);
    expect(settings).toMatchObject({
      announce: "kubeVip",
      pools: [
        {
          name: "web-1",
          namespaces: ["web", "shop"],
          selector: { "example.org/tier": "gold", empty: "" },
          isShareable: true,
          isAutoAssigned: false,
        },
        { name: "a", isShareable: false, isAutoAssigned: true },
      ],
    });
    expect(settings.pools.map(({ ranges }) => ranges.length)).toEqual([3, 1]);
    expect(Object.keys(settings.pools[1] ?? {})).not.toContain("namespaces");
  });

  test("reads who may share addresses; a CIDR there means each of its addresses", () => {
    const addresses = ["192.0.2.0/30", "198.51.100.1-198.51.100.9", "2001:db8::1"];
    const sharing = [{ addresses, namespaces: ["web", "*"] }];
    const { settings, issues } = LOAD_BALANCERS.parse({ sharing });
    expect(issues).toEqual([]);
    const [rule] = settings.sharing;
    expect(rule?.namespaces).toEqual(["web", "*"]);
    const isIn = (ip: string): boolean | undefined =>
      rule?.addresses.some((one) => isInCidr(ip, one));
    expect(["192.0.2.0", "192.0.2.3", "198.51.100.9", "2001:db8::1"].map(isIn)).not.toContain(
      false,
    );
    expect(["192.0.2.4", "198.51.100.10", "2001:db8::2"].map(isIn)).not.toContain(true);
  });

  const bad: readonly [unknown, readonly string[]][] = [
    [
      { sharing: [{ addresses: ["x"], namespaces: ["Web"] }, {}] },
      [
        `loadBalancers.sharing.0.addresses.0: ${FORMS}`,
        `loadBalancers.sharing.0.namespaces.0: ${NAME}, or * for all`,
        "loadBalancers.sharing.1.addresses: required",
        "loadBalancers.sharing.1.namespaces: required",
      ],
    ],
    [{ pools: [{ ...POOL, selector: {} }] }, ["loadBalancers.pools.0.selector: must not be empty"]],
    [[], ["loadBalancers: must be a block of settings (key: value), but is a list"]],
    [7, ["loadBalancers: must be a block of settings (key: value), but is 7"]],
    [
      { pools: {}, announce: "bgp" },
      [
        "loadBalancers.announce: must be none or kubeVip",
        "loadBalancers.pools: must be a list, for example [a pool (name, addresses, …)], but is a block (key: value)",
      ],
    ],
    [
      { pools: [{}, 3, [], { ...POOL, shareable: "yes", autoAssign: 1 }] },
      [
        "loadBalancers.pools.0.name: required",
        "loadBalancers.pools.0.addresses: required",
        "loadBalancers.pools.1: must be a pool (name, addresses, …), but is 3",
        "loadBalancers.pools.2.name: required",
        "loadBalancers.pools.2.addresses: required",
        'loadBalancers.pools.3.shareable: must be true or false, but is "yes"',
        "loadBalancers.pools.3.autoAssign: must be true or false, but is 1",
      ],
    ],
    [
      {
        pools: [
          { name: "A", addresses: [] },
          { name: 1, addresses: ["x", 5] },
        ],
      },
      [
        `loadBalancers.pools.0.name: ${NAME}`,
        "loadBalancers.pools.0.addresses: must not be an empty list",
        `loadBalancers.pools.1.name: ${NAME}, but is 1`,
        `loadBalancers.pools.1.addresses.0: ${FORMS}`,
        "loadBalancers.pools.1.addresses.1: must be text, but is a number; write it in quotes",
      ],
    ],
    [
      { pools: [{ ...POOL, namespaces: ["Web", ""], selector: { "-": "x", a: 1, b: "y z" } }] },
      [
        `loadBalancers.pools.0.namespaces.0: ${NAME}`,
        `loadBalancers.pools.0.namespaces.1: ${NAME}, but is empty`,
        "loadBalancers.pools.0.selector.-: must be a label key that Kubernetes accepts",
        "loadBalancers.pools.0.selector.a: must be text, but is a number; write it in quotes",
        'loadBalancers.pools.0.selector.b: must be a label value: at most 63 letters, digits, "-", "_" or ".", ' +
          "with a letter or digit at both ends",
      ],
    ],
    [
      {
        pools: [
          { name: "a", addresses: ["10.0.0.0/8", "10.1.0.0-10.1.0.3", "y"] },
          { name: "a", addresses: ["10.255.255.254", "2001:db8::/32", "2001:db8:1::7"] },
        ],
      },
      [
        `loadBalancers.pools.0.addresses.2: ${FORMS}`,
        "loadBalancers.pools.1.name: is also the name of pools.0",
        "loadBalancers.pools.0.addresses.1: has addresses that pools.0.addresses.0 has, too",
        "loadBalancers.pools.1.addresses.0: has addresses that pools.0.addresses.0 has, too",
        "loadBalancers.pools.1.addresses.2: has addresses that pools.1.addresses.1 has, too",
      ],
    ],
  ];
  test.each(bad)("reports every problem of %j at once, with its place", (written, lines) => {
    expect(listLines(written)).toEqual([...lines]);
  });

  test("two pools may have neighbours, and the network address of the other one's subnet", () => {
    const pools = [
      { name: "a", addresses: ["192.0.2.0/28", "192.0.2.16/28"] },
      { name: "b", addresses: ["192.0.2.0", "192.0.2.15-192.0.2.16"] },
    ];
    expect(listLines({ pools })).toEqual([]);
  });

  test("refuses too much before it looks at any of it", () => {
    const many = Array.from({ length: 100_000 }, () => ({ name: "a", addresses: ["x"] }));
    expect(listLines({ pools: many })).toContain("loadBalancers.pools: must have at most 256");
    const addresses = Array.from({ length: 600 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
    const pools = [
      { name: "a", addresses },
      { name: "b", addresses: addresses.map((one) => one.replace("10.0", "10.1")) },
    ];
    expect(listLines({ pools })).toEqual([
      "loadBalancers.pools: must have at most 1024 items in all addresses",
    ]);
  });

  test("never repeats what may be a secret", () => {
    const secret = "s3cr3t-t0ken-abcdef";
    const pools = [
      {
        name: `X${secret}`,
        addresses: [secret],
        namespaces: [`X${secret}`],
        selector: { a: `${secret} ` },
      },
    ];
    const lines = listLines({ pools, announce: secret });
    expect(lines.length).toBeGreaterThan(4);
    for (const line of lines) expect(line).not.toContain(secret);
  });
});
