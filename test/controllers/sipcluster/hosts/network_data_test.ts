/**
 * Which addresses network data give, and why some give none.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  type NetworkData,
  parseNetworkData,
  TEXT_LENGTH_MAX,
  toAddresses,
} from "../../../../lib/controllers/sipcluster/hosts/network_data.ts";

const NETWORKS = [
  { id: "oam-ipv4", type: "ipv4", link: "bond0.42", ip_address: "192.168.178.21", netmask: "24" },
  { id: "oam-ipv6", type: "ipv6", link: "bond0.42", ip_address: "2001:DB8:0:0::15" },
  { id: "pxe-ipv4", type: "ipv4_dhcp", link: "eno4" },
];
const AS_JSON = JSON.stringify({
  links: [{ id: "eno4", type: "phy", ethernet_mac_address: "52:54:00:00:00:01" }],
  networks: NETWORKS,
  services: [{ type: "dns", address: "192.168.178.1" }],
});
const AS_YAML = `
links:
- {id: eno4, type: phy, ethernet_mac_address: "52:54:00:00:00:01"}
networks:
- id: oam-ipv4
  type: ipv4
  link: bond0.42
  ip_address: 192.168.178.21
  netmask: "24"
- id: oam-ipv6
  type: ipv6
  ip_address: 2001:DB8:0:0::15
- {id: pxe-ipv4, type: ipv4_dhcp, link: eno4}
`;

/** Network data with one network `oam`. */
function toText(network: object): string {
  return JSON.stringify({ networks: [{ id: "oam", ...network }] });
}

function parse(text: string): NetworkData {
  const data = parseNetworkData(text);
  if ("problem" in data) throw new TypeError(data.problem);
  return data;
}

describe.each([
  ["JSON", AS_JSON],
  ["YAML", AS_YAML],
])("parseNetworkData() of %s", (_form, text) => {
  test("gives the IP for oam-ipv4", () => {
    expect(parse(text).addresses.get("oam-ipv4")).toBe("192.168.178.21");
  });

  test("gives every static address in canonical form, and no other", () => {
    const { addresses, problems } = parse(text);
    expect([...addresses]).toEqual([
      ["oam-ipv4", "192.168.178.21"],
      ["oam-ipv6", "2001:db8::15"],
    ]);
    expect([...problems]).toEqual([["pxe-ipv4", "DHCP"]]);
  });
});

test.each<[string, object, string]>([
  ["with a prefix length", { type: "ipv4", ip_address: "192.0.2.7/24" }, "192.0.2.7"],
  ["of IPv6 with a prefix length", { type: "ipv6", ip_address: "2001:db8::7/64" }, "2001:db8::7"],
  ["without a type", { ip_address: "192.0.2.7" }, "192.0.2.7"],
  ["with blanks", { ip_address: " 192.0.2.7 " }, "192.0.2.7"],
  ["of IPv4 in the form of IPv6", { ip_address: "::ffff:192.0.2.7" }, "192.0.2.7"],
])("parseNetworkData() takes an address %s", (_what, network, address) => {
  expect(parse(toText(network)).addresses.get("oam")).toBe(address);
});

test.each<[string, object, string]>([
  ["DHCP", { type: "ipv4_dhcp" }, "DHCP"],
  ["DHCP with an address", { type: "ipv4_dhcp", ip_address: "192.0.2.7" }, "DHCP"],
  ["DHCPv6", { type: "ipv6_dhcpv6-stateful" }, "DHCP"],
  ["autoconfiguration", { type: "ipv6_slaac" }, "DHCP"],
  ["no address", { type: "ipv4" }, "no address"],
  ["an empty address", { type: "ipv4", ip_address: "" }, "no address"],
  ["null", { type: "ipv4", ip_address: null }, "no address"],
  ["a number", { type: "ipv4", ip_address: 1.2 }, "no usable address"],
  ["a name", { type: "ipv4", ip_address: "host.example.org" }, "no usable address"],
  ["a long prefix", { type: "ipv4", ip_address: "192.0.2.7/33" }, "no usable address"],
  ["an empty prefix", { type: "ipv4", ip_address: "192.0.2.7/" }, "no usable address"],
  ["two addresses", { type: "ipv4", ip_address: "192.0.2.7 192.0.2.8" }, "no usable address"],
  ["a line break", { type: "ipv4", ip_address: "192.0.2.7\n  server x" }, "no usable address"],
  ["an octal part", { type: "ipv4", ip_address: "192.0.02.7" }, "no usable address"],
  ["a zone", { type: "ipv6", ip_address: "fe80::1%eth0" }, "no usable address"],
  ["a link-local address", { type: "ipv6", ip_address: "fe80::1" }, "no usable address"],
  ["loopback", { type: "ipv4", ip_address: "127.0.0.1" }, "no usable address"],
  ["a network", { type: "ipv4", ip_address: "10.0.0.0/24" }, "the address of the network itself"],
  ["the unspecified address", { type: "ipv4", ip_address: "0.0.0.0" }, "no usable address"],
])("parseNetworkData() refuses %s", (_what, network, problem) => {
  const { addresses, problems } = parse(toText(network));
  expect([addresses.size, problems.get("oam")]).toEqual([0, problem]);
});

test("parseNetworkData() takes the first static address of an ID", () => {
  const ips = [{ type: "ipv6_slaac" }, { ip_address: "192.0.2.1" }, { ip_address: "192.0.2.2" }];
  const text = JSON.stringify({ networks: ips.map((network) => ({ id: "oam", ...network })) });
  const { addresses, problems } = parse(text);
  expect([addresses.get("oam"), problems.size]).toEqual(["192.0.2.1", 0]);
});

test.each<[string, string]>([
  ["an ID that YAML reads as a number", "networks: [{id: 0, ip_address: 192.0.2.1}]"],
  ["entries without an ID beside it", "networks: [{}, 7, null, {id: '0', ip_address: 192.0.2.1}]"],
])("parseNetworkData() understands %s", (_what, text) => {
  expect([...parse(text).addresses]).toEqual([["0", "192.0.2.1"]]);
});

test("parseNetworkData() reads a thousand networks, and texts that look like aliases", () => {
  expect(parse(`networks: [${`${ONE},`.repeat(1_000)}]`).addresses.size).toBe(1);
  expect(parse('{"networks":[{"id":"*a &a","ip_address":"192.0.2.1"}]}').addresses.size).toBe(1);
  expect(parse(`# an *important* note\nnetworks: [${ONE}]`).addresses.size).toBe(1);
});

test.each<[string, string]>([
  ["nothing", "{}"],
  ["no networks", "links: []"],
  ["null", "networks:"],
])("parseNetworkData() of %s has no addresses", (_what, text) => {
  expect(parse(text).addresses.size).toBe(0);
});

const SECRET = "hunter2";
const ONE = "{id: a, ip_address: 192.0.2.1}";
test.each<[string, string, string]>([
  ["no YAML", `{"networks": [ ${SECRET}: {`, "network data is neither JSON nor YAML"],
  ["brackets without end", "[".repeat(100_000) + SECRET, "network data is neither JSON nor YAML"],
  [
    "too many",
    `networks: [${`${ONE},`.repeat(1_001)}]`,
    "network data has more than 1000 networks",
  ],
  ["an alias", `a: &a ${ONE}\nnetworks: [*a]`, "network data has aliases of YAML (*name)"],
  ["a merge key", `&a a: 1\nnetworks:\n- <<:  *a`, "network data has aliases of YAML (*name)"],
  ["text", SECRET, "network data has no list of networks"],
  ["an empty text", "", "network data has no list of networks"],
  ["a list", `[${SECRET}]`, "network data has no list of networks"],
  ["another shape", `networks: {a: ${SECRET}}`, "network data has no list of networks"],
  ["several documents", "networks: []\n---\nnetworks: []", "network data has no list of networks"],
  ["a book", SECRET.repeat(TEXT_LENGTH_MAX), "network data is too long"],
])(
  "parseNetworkData() of %s says what is wrong, and nothing of the text",
  (_what, text, problem) => {
    expect(parseNetworkData(text)).toEqual({ problem });
  },
);

test("parseNetworkData() is not held up by aliases that multiply", () => {
  const lines = Array.from({ length: 26 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`);
  const startMs = performance.now();
  parseNetworkData(["a0: &a0 x", ...lines, "networks: []"].join("\n"));
  expect(performance.now() - startMs).toBeLessThan(1_000);
});

describe("toAddresses()", () => {
  const data = parse(AS_JSON);

  test("gives the address on each network that is asked for", () => {
    const result = toAddresses(data, ["oam-ipv6", "oam-ipv4", "oam-ipv4"]);
    const addresses = new Map([
      ["oam-ipv6", "2001:db8::15"],
      ["oam-ipv4", "192.168.178.21"],
    ]);
    expect(result).toEqual({ kind: "addresses", addresses });
  });

  test.each<[string, string[], string]>([
    ["refuses DHCP", ["pxe-ipv4"], 'DHCP on network "pxe-ipv4"'],
    ["names a network that is not there", ["storage"], 'no network "storage"'],
    ["names the second network if the first is right", ["oam-ipv4", "x"], 'no network "x"'],
  ])("%s", (_what, networks, trouble) => {
    expect(toAddresses(data, networks)).toEqual({ kind: "trouble", trouble });
  });

  test("passes a problem with all networks on, but only if one is needed", () => {
    const problem = { problem: "no network data" };
    expect(toAddresses(problem, ["a"])).toEqual({ kind: "trouble", trouble: "no network data" });
    expect(toAddresses(problem, [])).toEqual({ kind: "addresses", addresses: new Map() });
  });
});
