/**
 * Specs of Vinos and IPPools that are right or wrong, and what says so: for the check, the rules of the CRDs and a real
 * API server.
 * @module
 */
import type { SpecCase } from "../kinds/schemas.ts";

/** A right network, and a right role with an interface on it. */
const NETWORK = {
  name: "oam",
  subnet: "192.0.2.77/24",
  staticAllocationStart: "192.0.2.10",
  staticAllocationStop: "192.0.2.99",
};
const NODE = {
  name: "worker",
  count: 2,
  networkInterfaces: [{ name: "eth0", network: "oam" }],
};

/** Right specs of Vinos that the samples do not have. */
export const RIGHT_VINOS: readonly { readonly title: string; readonly spec: unknown }[] = [
  { title: "nothing", spec: {} },
  {
    title: "one address",
    spec: { networks: [{ ...NETWORK, staticAllocationStop: "192.0.2.10" }] },
  },
  {
    title: "roles without interfaces",
    spec: { nodes: [{ name: "a" }, { name: "b", count: 500 }] },
  },
  {
    title: "an interface that is booted from",
    spec: { networks: [NETWORK], nodes: [{ ...NODE, bootInterfaceName: "eth0" }] },
  },
  {
    title: "the smallest and the greatest machine",
    spec: {
      xenOrchestra: { cpus: 1, memory: "16Mi", disks: [{ name: "root", size: "64Ti" }] },
      nodes: [{ name: "worker", xenOrchestra: { cpus: 1024, memory: "32Ti" } }],
    },
  },
  {
    title: "options of any kind",
    spec: {
      networks: [NETWORK],
      nodes: [
        {
          name: "worker",
          networkInterfaces: [
            { name: "eth0", network: "oam", options: { vlan: "100", pf: ["a"], deep: { a: 1 } } },
          ],
        },
      ],
    },
  },
];

const network = (fields: object) => ({ networks: [{ ...NETWORK, ...fields }] });
const node = (fields: object) => ({ networks: [NETWORK], nodes: [{ ...NODE, ...fields }] });
const cloud = (xenOrchestra: object) => ({ networks: [NETWORK], xenOrchestra });
const route = (fields: object) =>
  network({
    routes: [{ network: "10.0.0.0", netmask: "255.0.0.0", gateway: "192.0.2.1", ...fields }],
  });
const without = (entry: object, key: string) =>
  Object.fromEntries(Object.entries(entry).filter(([name]) => name !== key));

const MAC = "six pairs of hexadecimal digits with colons, the first pair even";
const CREDENTIALS = "spec.bmcCredentials: needs either secretRef, or username and password";

const NETWORK_CASES: readonly SpecCase[] = [
  { title: "no spec", spec: undefined, problem: "spec: must be set", refusedBy: "types" },
  {
    title: "a network without a name",
    spec: { networks: [without(NETWORK, "name")] },
    problem: "spec.networks[0].name: must be set",
    refusedBy: "types",
  },
  {
    title: "two networks of a name",
    spec: { networks: [NETWORK, { ...NETWORK }] },
    problem: "spec.networks: must not have the same name twice",
    refusedBy: "types",
  },
  {
    title: "a subnet that is none",
    spec: network({ subnet: "192.0.2.0/33" }),
    problem: "spec.networks[0].subnet: must be a subnet in CIDR form, such as 192.0.2.0/24",
    refusedBy: "types",
  },
  {
    title: "an address as a subnet",
    spec: network({ subnet: "192.0.2.0" }),
    problem: "spec.networks[0].subnet: must be a subnet in CIDR form, such as 192.0.2.0/24",
    refusedBy: "types",
  },
  {
    title: "a first address without a last one",
    spec: { networks: [without(NETWORK, "staticAllocationStop")] },
    problem: "spec.networks[0]: staticAllocationStart and staticAllocationStop belong together",
    refusedBy: "rule",
  },
  {
    title: "addresses without a subnet",
    spec: { networks: [without(NETWORK, "subnet")] },
    problem: "spec.networks[0]: a network with static addresses needs a subnet",
    refusedBy: "rule",
  },
  {
    title: "an address outside of the subnet",
    spec: network({ staticAllocationStop: "192.0.3.1" }),
    problem: "spec.networks[0]: staticAllocationStop must be in 192.0.2.0/24",
    refusedBy: "check",
  },
  {
    title: "an address of another family",
    spec: network({ staticAllocationStart: "2001:db8::1" }),
    problem: "spec.networks[0]: staticAllocationStart must be in 192.0.2.0/24",
    refusedBy: "check",
  },
  {
    title: "addresses the wrong way round",
    spec: network({ staticAllocationStart: "192.0.2.100" }),
    problem:
      "spec.networks[0]: staticAllocationStart must not be greater than staticAllocationStop",
    refusedBy: "check",
  },
  {
    title: "an address that is none",
    spec: network({ staticAllocationStart: "192.0.2" }),
    problem: "spec.networks[0].staticAllocationStart: must be an IP address",
    refusedBy: "types",
  },
  {
    title: "a name server that is no address",
    spec: network({ dns_servers: ["dns.example.org"] }),
    problem: "spec.networks[0].dns_servers[0]: must be an IP address",
    refusedBy: "types",
  },
  ...["52:54:00:06:00", "52-54-00-06-00-00", "a:b", "53:54:00:06:00:00"].map(
    (macPrefix): SpecCase => ({
      title: `the MAC address ${macPrefix}`,
      spec: network({ macPrefix }),
      problem: `spec.networks[0].macPrefix: must be ${MAC}, but is "${macPrefix}"`,
      refusedBy: "types",
    }),
  ),
  {
    title: "a route without a gateway",
    spec: network({ routes: [{ network: "10.0.0.0", netmask: "255.0.0.0" }] }),
    problem: "spec.networks[0].routes[0].gateway: must be set",
    refusedBy: "types",
  },
  {
    title: "a gateway that is no address",
    spec: route({ gateway: "$bridge" }),
    problem: "spec.networks[0].routes[0].gateway: must be an IP address",
    refusedBy: "check",
  },
  {
    title: "a netmask with a hole",
    spec: route({ netmask: "255.0.255.0" }),
    problem: "spec.networks[0].routes[0]: netmask must be ones and then zeros",
    refusedBy: "check",
  },
  {
    title: "a gateway of another family",
    spec: route({ gateway: "2001:db8::1" }),
    problem: "spec.networks[0].routes[0]: network, netmask and gateway must be of the same family",
    refusedBy: "check",
  },
  {
    title: "a gateway that is no host",
    spec: route({ gateway: "0.0.0.0" }),
    problem:
      "spec.networks[0].routes[0].gateway: must be the address of a host: no host has 0.0.0.0",
    refusedBy: "rule",
  },
  {
    title: "a gateway that is a group of hosts",
    spec: route({ gateway: "224.0.0.1" }),
    problem:
      "spec.networks[0].routes[0].gateway: must be the address of a host: no host has 224.0.0.1",
    refusedBy: "check",
  },
  {
    title: "a name server that is no host",
    spec: network({ dns_servers: ["192.0.2.2", "::"] }),
    problem: "spec.networks[0].dns_servers[1]: must be the address of a host: no host has ::",
    refusedBy: "rule",
  },
  {
    title: "a gateway outside the subnet",
    spec: route({ gateway: "198.51.100.1" }),
    problem: "spec.networks[0]: routes[0].gateway must be in 192.0.2.0/24, but is 198.51.100.1",
    refusedBy: "check",
  },
  {
    title: "the broadcast address as a gateway",
    spec: route({ gateway: "192.0.2.255" }),
    problem:
      "spec.networks[0]: routes[0].gateway must not be the broadcast address of 192.0.2.0/24, but is 192.0.2.255",
    refusedBy: "check",
  },
  {
    title: "two default routes on one machine",
    spec: {
      networks: ["192.0.2.1", "198.51.100.1"].map((gateway, at) => ({
        name: `net${at}`,
        routes: [{ network: "0.0.0.0", netmask: "0.0.0.0", gateway }],
      })),
      nodes: [
        {
          name: "worker",
          networkInterfaces: [0, 1].map((at) => ({ name: `eth${at}`, network: `net${at}` })),
        },
      ],
    },
    problem:
      "spec: a machine must have at most one default route of each family: " +
      "role worker has 192.0.2.1 of network net0 and 198.51.100.1 of network net1 for IPv4",
    refusedBy: "check",
  },
];

const NODE_CASES: readonly SpecCase[] = [
  {
    title: "two roles of a name",
    spec: { nodes: [{ name: "a" }, { name: "a" }] },
    problem: "spec.nodes: must not have the same name twice",
    refusedBy: "types",
  },
  {
    title: "a role with a name that no machine can have",
    spec: node({ name: "Worker_1" }),
    problem:
      'spec.nodes[0].name: must be lower-case letters, digits and "-", with a letter or digit at both ends, ' +
      'but is "Worker_1"',
    refusedBy: "types",
  },
  {
    title: "a role with a long name",
    spec: node({ name: "a".repeat(33) }),
    problem: "spec.nodes[0].name: must have at most 32 characters",
    refusedBy: "types",
  },
  ...[-1, 501, 1.5].map((count): SpecCase => ({
    title: `${count} machines`,
    spec: node({ count }),
    problem: `spec.nodes[0].count: must be a whole number from 0 to 500, but is ${count}`,
    refusedBy: "types",
  })),
  {
    title: "two interfaces of a name",
    spec: node({ networkInterfaces: [NODE.networkInterfaces[0], NODE.networkInterfaces[0]] }),
    problem: "spec.nodes[0].networkInterfaces: must not have the same name twice",
    refusedBy: "types",
  },
  {
    title: "an interface on no network",
    spec: { nodes: [NODE] },
    problem:
      "spec: the network of each interface must be one of networks: interface eth0 of role worker has network oam",
    refusedBy: "rule",
  },
  {
    title: "an interface on another network",
    spec: { networks: [{ ...NETWORK, name: "other" }], nodes: [NODE] },
    problem:
      "spec: the network of each interface must be one of networks: interface eth0 of role worker has network oam",
    refusedBy: "rule",
  },
  {
    title: "a boot interface that there is not",
    spec: node({ bootInterfaceName: "eth1" }),
    problem: "spec.nodes[0]: bootInterfaceName must be the name of one of networkInterfaces",
    refusedBy: "rule",
  },
  {
    title: "a boot interface without interfaces",
    spec: { nodes: [{ name: "worker", bootInterfaceName: "eth0" }] },
    problem: "spec.nodes[0]: bootInterfaceName must be the name of one of networkInterfaces",
    refusedBy: "rule",
  },
  {
    title: "a wrong label key",
    spec: node({ bmhLabels: { "a/b/c": "x" } }),
    problem: "spec.nodes[0].bmhLabels: must have label keys as its keys",
    refusedBy: "check",
  },
  {
    title: "a disk for metal3 that is no device",
    spec: node({ rootDeviceName: "xvda" }),
    problem:
      'spec.nodes[0].rootDeviceName: must be the path of a device, such as /dev/xvda, but is "xvda"',
    refusedBy: "types",
  },
];

const CLOUD_CASES: readonly SpecCase[] = [
  {
    title: "a network in Xen Orchestra for no network",
    spec: cloud({ networks: { ao: "eth0" } }),
    problem: "spec: each key of xenOrchestra.networks must be the name of one of networks: ao",
    refusedBy: "check",
  },
  {
    title: "an unknown policy",
    spec: cloud({ deletionPolicy: "Keep" }),
    problem: "spec.xenOrchestra.deletionPolicy: must be one of Retain, Delete",
    refusedBy: "types",
  },
  {
    title: "a memory without a form",
    spec: cloud({ memory: "8 GB" }),
    problem: 'spec.xenOrchestra.memory: must be a size, such as 8Gi, but is "8 GB"',
    refusedBy: "types",
  },
  {
    title: "a memory of eight bytes",
    spec: cloud({ memory: "8" }),
    problem: "spec.xenOrchestra.memory: must be a size from 16Mi to 32Ti",
    refusedBy: "check",
  },
  {
    title: "a disk that is too large",
    spec: cloud({ disks: [{ name: "root", size: "65Ti" }] }),
    problem: "spec.xenOrchestra.disks[0].size: must be a size from 1Mi to 64Ti",
    refusedBy: "check",
  },
  {
    title: "two disks of a name",
    spec: cloud({
      disks: [
        { name: "root", size: "1Gi" },
        { name: "root", size: "2Gi" },
      ],
    }),
    problem: "spec.xenOrchestra.disks: must not have the same name twice",
    refusedBy: "types",
  },
  {
    title: "no processor",
    spec: { nodes: [{ name: "worker", xenOrchestra: { cpus: 0 } }] },
    problem: "spec.nodes[0].xenOrchestra.cpus: must be a whole number from 1 to 1024, but is 0",
    refusedBy: "types",
  },
  {
    title: "a template without a name",
    spec: cloud({ template: " " }),
    problem: 'spec.xenOrchestra.template: must be an ID or a name, but is " "',
    refusedBy: "types",
  },
  {
    title: "no credentials",
    spec: { bmcCredentials: {} },
    problem: CREDENTIALS,
    refusedBy: "rule",
  },
  {
    title: "a user without a password",
    spec: { bmcCredentials: { username: "admin" } },
    problem: CREDENTIALS,
    refusedBy: "rule",
  },
  {
    title: "a Secret and a password",
    spec: { bmcCredentials: { secretRef: { name: "bmc" }, password: "secret-word" } },
    problem: CREDENTIALS,
    refusedBy: "rule",
  },
];

/** Wrong specs of Vinos. */
export const WRONG_VINOS: readonly SpecCase[] = [...NETWORK_CASES, ...NODE_CASES, ...CLOUD_CASES];

const POOL = { subnet: "192.0.2.0/24" };
const ALLOCATED = { ip: "192.0.2.10", mac: "02:00:00:00:00:01", allocatedTo: "a" };
const allocated = (fields: object) => ({
  ...POOL,
  allocatedIPs: [
    ALLOCATED,
    { ip: "192.0.2.11", mac: "02:00:00:00:00:02", allocatedTo: "b", ...fields },
  ],
});

/** Wrong specs of IPPools. */
export const WRONG_POOLS: readonly SpecCase[] = [
  { title: "no subnet", spec: {}, problem: "spec.subnet: must be set", refusedBy: "types" },
  {
    title: "a range outside of the subnet",
    spec: { ...POOL, ranges: [{ start: "192.0.2.0", stop: "192.0.3.0" }] },
    problem: "spec: ranges[0]: stop must be in 192.0.2.0/24",
    refusedBy: "check",
  },
  {
    title: "a range of another owner, the wrong way round",
    spec: {
      ...POOL,
      allocatedRanges: [{ start: "192.0.2.9", stop: "192.0.2.8", allocatedTo: "node-1" }],
    },
    problem: "spec: allocatedRanges[0]: start must not be greater than stop",
    refusedBy: "check",
  },
  {
    title: "an address outside of the subnet",
    spec: allocated({ ip: "192.0.3.1" }),
    problem: "spec: allocatedIPs: 192.0.3.1 must be in the subnet",
    refusedBy: "check",
  },
  {
    title: "an address twice",
    spec: allocated({ ip: "192.0.2.10" }),
    problem: "spec: allocatedIPs: 192.0.2.10 must not have two owners",
    refusedBy: "check",
  },
  {
    title: "an address twice, once in another form",
    spec: {
      subnet: "2001:db8::/64",
      allocatedIPs: [
        { ...ALLOCATED, ip: "2001:db8::a" },
        { ip: "2001:DB8:0::000a", mac: "02:00:00:00:00:02", allocatedTo: "b" },
      ],
    },
    problem: "spec: allocatedIPs: 2001:db8::a must not have two owners",
    refusedBy: "check",
  },
  {
    title: "a MAC address twice, once in capitals",
    spec: {
      ...POOL,
      allocatedIPs: [
        { ...ALLOCATED, mac: "02:00:00:00:00:aa" },
        { ip: "192.0.2.11", mac: "02:00:00:00:00:AA", allocatedTo: "b" },
      ],
    },
    problem: "spec: allocatedIPs: 02:00:00:00:00:aa must not have two owners",
    refusedBy: "check",
  },
  {
    title: "an address without an owner",
    spec: { ...POOL, allocatedIPs: [without(ALLOCATED, "allocatedTo")] },
    problem: "spec.allocatedIPs[0].allocatedTo: must be set",
    refusedBy: "types",
  },
];
