/**
 * Specs of SIPClusters that are wrong, and what says so: for the check, the rules of the CRD and a real API server.
 * @module
 */
import type { SpecCase } from "../kinds/schemas.ts";

/** A right entry of each service. */
const BALANCER = { image: "haproxy:2.3.2", nodeInterfaceId: "oam-ipv4", nodePort: 30001 };
const WORKER_BALANCER = {
  image: "haproxy:2.3.2",
  nodeInterfaceId: "oam-ipv4",
  nodePortRange: { start: 30002, end: 30011 },
};
const JUMP_HOST = {
  image: "quay.io/airshipit/jump-host:latest",
  nodeInterfaceId: "oam-ipv4",
  nodePort: 30000,
  nodeSSHPrivateKeys: "ssh-private-keys",
};
const AUTH = {
  image: "ghcr.io/dexidp/dex:v2.41.1",
  nodePort: 30556,
  issuerURL: "https://dex.example.org:30556",
  configSecret: "dex-config",
  tlsSecret: "dex-tls",
};

/** Right specs. */
export const RIGHT_SPECS: readonly { readonly title: string; readonly spec: unknown }[] = [
  { title: "no hosts and no services", spec: { services: {} } },
  {
    title: "roles without demands",
    spec: { nodes: { ControlPlane: {}, Worker: {} }, services: {} },
  },
  {
    title: "every field",
    spec: {
      nodes: {
        ControlPlane: {
          labelSelector: { matchLabels: { "vino.airshipit.org/flavor": "control-plane" } },
          topologyKey: "vino.airshipit.org/rack",
          topologyKeys: ["airshipit.org/server", "zone"],
          count: { active: 3, standby: 1 },
        },
        Worker: {
          labelSelector: {
            matchExpressions: [
              { key: "a", operator: "In", values: ["x", ""] },
              { key: "b", operator: "NotIn", values: ["x"] },
              { key: "c", operator: "Exists" },
              { key: "d", operator: "DoesNotExist", values: [] },
            ],
          },
          topologyKey: "",
          count: {},
        },
      },
      services: {
        loadBalancerControlPlane: [
          { ...BALANCER, nodeLabels: { "a.b/c": "d" }, clusterIP: "10.96.0.9" },
          { nodeInterfaceId: "x", nodePort: 0, clusterIP: "" },
          { nodeInterfaceId: "x", nodePort: 0, clusterIP: "fd00::9" },
        ],
        loadBalancerWorker: [
          WORKER_BALANCER,
          { ...WORKER_BALANCER, nodePortRange: { start: 30100, end: 30355 } },
        ],
        jumpHost: [{ ...JUMP_HOST, sshAuthorizedKeys: ["ssh-rsa AAAA me"], bmc: { proxy: true } }],
        auth: [AUTH, { image: "dex", nodeInterfaceId: "", nodePort: 30557, caSecret: "ca" }],
      },
      scheduling: { spreadAcrossRoles: true, releaseConsumedHosts: true },
    },
  },
  {
    title: "a nodePort beside a nodePortRange, as manifests of treasuremap have it",
    spec: {
      services: {
        loadBalancerControlPlane: [BALANCER],
        loadBalancerWorker: [{ ...WORKER_BALANCER, nodePort: BALANCER.nodePort }],
        jumpHost: [JUMP_HOST],
      },
    },
  },
  {
    title: "several entries whose ports Kubernetes chooses",
    spec: {
      services: {
        loadBalancerControlPlane: [{ ...BALANCER, nodePort: 0 }],
        jumpHost: [
          { ...JUMP_HOST, nodePort: 0 },
          { ...JUMP_HOST, nodePort: 0 },
        ],
      },
    },
  },
];

const worker = (nodes: object) => ({ nodes: { Worker: nodes }, services: {} });
const balancer = (fields: object) => ({
  services: { loadBalancerControlPlane: [{ ...BALANCER, ...fields }] },
});
const range = (start: unknown, end: unknown) => ({
  services: { loadBalancerWorker: [{ ...WORKER_BALANCER, nodePortRange: { start, end } }] },
});
const requirement = (fields: object) => worker({ labelSelector: { matchExpressions: [fields] } });
const without = (entry: object, key: string) =>
  Object.fromEntries(Object.entries(entry).filter(([name]) => name !== key));

const NODE_CASES: readonly SpecCase[] = [
  {
    title: "a role of the year 2020",
    spec: { nodes: { master: { count: { active: 1 } } }, services: {} },
    problem: "spec.nodes: the roles are ControlPlane and Worker",
    refusedBy: "rule",
  },
  {
    title: "three roles",
    spec: { nodes: { ControlPlane: {}, Worker: {}, worker: {} }, services: {} },
    problem:
      "spec.nodes: must have at most 2 keys; spec.nodes: the roles are ControlPlane and Worker",
    refusedBy: "types",
  },
  {
    title: "a negative count",
    spec: worker({ count: { active: -1 } }),
    problem: "spec.nodes.Worker.count.active: must be a whole number from 0 to 5000, but is -1",
    refusedBy: "types",
  },
  {
    title: "half a host",
    spec: worker({ count: { standby: 1.5 } }),
    problem: "spec.nodes.Worker.count.standby: must be a whole number from 0 to 5000, but is 1.5",
    refusedBy: "types",
  },
  {
    title: "a count as text",
    spec: worker({ count: { active: "3" } }),
    problem: 'spec.nodes.Worker.count.active: must be a whole number from 0 to 5000, but is "3"',
    refusedBy: "types",
  },
  {
    title: "a topology key that is no label key",
    spec: worker({ topologyKey: "rack!" }),
    problem: 'spec.nodes.Worker.topologyKey: must be a label key or empty, but is "rack!"',
    refusedBy: "types",
  },
  {
    title: "an empty key among several",
    spec: worker({ topologyKeys: [""] }),
    problem: 'spec.nodes.Worker.topologyKeys[0]: must be a label key, but is ""',
    refusedBy: "types",
  },
  {
    title: "a topology key twice",
    spec: worker({ topologyKeys: ["rack", "rack"] }),
    problem: "spec.nodes.Worker.topologyKeys: must not name anything twice",
    refusedBy: "types",
  },
  {
    title: "a wrong label value",
    spec: worker({ labelSelector: { matchLabels: { flavor: "a b" } } }),
    problem:
      'spec.nodes.Worker.labelSelector.matchLabels.flavor: must be a label value, but is "a b"',
    refusedBy: "types",
  },
  {
    title: "a wrong label key",
    spec: worker({ labelSelector: { matchLabels: { "a/b/c": "x" } } }),
    problem: "spec.nodes.Worker.labelSelector.matchLabels: must have label keys as its keys",
    refusedBy: "check",
  },
  {
    title: "an operator that does not exist",
    spec: requirement({ key: "a", operator: "Is", values: ["x"] }),
    problem:
      "spec.nodes.Worker.labelSelector.matchExpressions[0].operator: " +
      "must be one of In, NotIn, Exists, DoesNotExist",
    refusedBy: "types",
  },
  {
    title: "In without values",
    spec: requirement({ key: "a", operator: "In" }),
    problem:
      "spec.nodes.Worker.labelSelector.matchExpressions[0]: " +
      "In and NotIn need values, Exists and DoesNotExist have none",
    refusedBy: "rule",
  },
  {
    title: "Exists with values",
    spec: requirement({ key: "a", operator: "Exists", values: ["x"] }),
    problem:
      "spec.nodes.Worker.labelSelector.matchExpressions[0]: " +
      "In and NotIn need values, Exists and DoesNotExist have none",
    refusedBy: "rule",
  },
  {
    title: "a switch as text",
    spec: { services: {}, scheduling: { spreadAcrossRoles: "yes" } },
    problem: "spec.scheduling.spreadAcrossRoles: must be true or false",
    refusedBy: "types",
  },
];

const ENTRY_CASES: readonly SpecCase[] = [
  { title: "no spec", spec: undefined, problem: "spec: must be set", refusedBy: "types" },
  { title: "no services", spec: {}, problem: "spec.services: must be set", refusedBy: "types" },
  {
    title: "an entry instead of a list",
    spec: { services: { jumpHost: JUMP_HOST } },
    problem: "spec.services.jumpHost: must be a list",
    refusedBy: "types",
  },
  {
    title: "more entries than a service may have",
    spec: {
      services: { jumpHost: Array.from({ length: 9 }, () => ({ ...JUMP_HOST, nodePort: 0 })) },
    },
    problem: "spec.services.jumpHost: must have at most 8 items",
    refusedBy: "types",
  },
  {
    title: "a load balancer without a network",
    spec: { services: { loadBalancerControlPlane: [without(BALANCER, "nodeInterfaceId")] } },
    problem: "spec.services.loadBalancerControlPlane[0].nodeInterfaceId: must be set",
    refusedBy: "types",
  },
  {
    title: "a load balancer for workers without a network",
    spec: { services: { loadBalancerWorker: [without(WORKER_BALANCER, "nodeInterfaceId")] } },
    problem: "spec.services.loadBalancerWorker[0].nodeInterfaceId: must be set",
    refusedBy: "types",
  },
  {
    title: "a jump host with an empty network",
    spec: { services: { jumpHost: [{ ...JUMP_HOST, nodeInterfaceId: "" }] } },
    problem:
      'spec.services.jumpHost[0].nodeInterfaceId: must be the ID of a network, without blanks, but is ""',
    refusedBy: "types",
  },
  {
    title: "a jump host without an image",
    spec: { services: { jumpHost: [without(JUMP_HOST, "image")] } },
    problem: "spec.services.jumpHost[0].image: must be set",
    refusedBy: "types",
  },
  {
    title: "a jump host without keys",
    spec: { services: { jumpHost: [without(JUMP_HOST, "nodeSSHPrivateKeys")] } },
    problem: "spec.services.jumpHost[0].nodeSSHPrivateKeys: must be set",
    refusedBy: "types",
  },
  {
    title: "a Secret with a wrong name",
    spec: { services: { jumpHost: [{ ...JUMP_HOST, nodeSSHPrivateKeys: "My_Keys" }] } },
    problem:
      'spec.services.jumpHost[0].nodeSSHPrivateKeys: must be the name of an object, but is "My_Keys"',
    refusedBy: "types",
  },
  {
    title: "an image with a blank",
    spec: balancer({ image: "haproxy :lts" }),
    problem:
      "spec.services.loadBalancerControlPlane[0].image: " +
      'must be the name of an image, without blanks, but is "haproxy :lts"',
    refusedBy: "types",
  },
  {
    title: "a cluster IP that is none",
    spec: balancer({ clusterIP: "None" }),
    problem: "spec.services.loadBalancerControlPlane[0].clusterIP: must be an IP address",
    refusedBy: "types",
  },
  {
    title: "a wrong key of a Node's label",
    spec: balancer({ nodeLabels: { "": "x" } }),
    problem:
      "spec.services.loadBalancerControlPlane[0].nodeLabels: must have label keys as its keys",
    refusedBy: "check",
  },
  {
    title: "an OIDC provider without anything",
    spec: { services: { auth: [{ nodePort: 30556 }] } },
    problem: "spec.services.auth[0]: an OIDC provider needs configSecret, issuerURL and tlsSecret",
    refusedBy: "rule",
  },
  {
    title: "an OIDC provider without a certificate",
    spec: { services: { auth: [without(AUTH, "tlsSecret")] } },
    problem: "spec.services.auth[0]: an OIDC provider needs configSecret, issuerURL and tlsSecret",
    refusedBy: "rule",
  },
  {
    title: "an issuer without TLS",
    spec: { services: { auth: [{ ...AUTH, issuerURL: "http://dex" }] } },
    problem:
      "spec.services.auth[0].issuerURL: " +
      'must be a URL that begins with https://, without user, query and fragment, but is "http://dex"',
    refusedBy: "types",
  },
  ...["/?x=1", "#a", "/%zz", ":a", "@b", " "].map((end): SpecCase => {
    const issuerURL = `https://dex${end}`;
    return {
      title: `an issuer that no API server takes, ${issuerURL}`,
      spec: { services: { auth: [{ ...AUTH, issuerURL }] } },
      problem:
        "spec.services.auth[0].issuerURL: must be a URL that begins with https://, without user, query and " +
        `fragment, but is "${issuerURL}"`,
      refusedBy: "types",
    };
  }),
];

const PORT_CASES: readonly SpecCase[] = [
  {
    title: "no port",
    spec: { services: { loadBalancerControlPlane: [without(BALANCER, "nodePort")] } },
    problem: "spec.services.loadBalancerControlPlane[0].nodePort: must be set",
    refusedBy: "types",
  },
  {
    title: "a port above all ports",
    spec: balancer({ nodePort: 65_536 }),
    problem:
      "spec.services.loadBalancerControlPlane[0].nodePort: " +
      "must be a whole number from 0 to 65535, but is 65536",
    refusedBy: "types",
  },
  {
    title: "a range that begins with 0",
    spec: range(0, 5),
    problem:
      "spec.services.loadBalancerWorker[0].nodePortRange.start: " +
      "must be a whole number from 1 to 65535, but is 0",
    refusedBy: "types",
  },
  {
    title: "a range that ends before it starts",
    spec: range(30_011, 30_002),
    problem:
      "spec.services.loadBalancerWorker[0].nodePortRange: start must not be greater than end",
    refusedBy: "rule",
  },
  {
    title: "a range that is too long",
    spec: range(30_000, 30_256),
    problem: "spec.services.loadBalancerWorker[0].nodePortRange: a range has at most 256 ports",
    refusedBy: "rule",
  },
  ...["loadBalancerControlPlane", "jumpHost", "auth"].map((list): SpecCase => {
    const entry = { ...JUMP_HOST, ...AUTH, nodePort: 30_001 };
    return {
      title: `a port twice in ${list}`,
      spec: { services: { [list]: [entry, { ...entry, nodePort: 30_002 }, entry] } },
      problem: `spec.services: the entries of ${list} must have different ports, except 0`,
      refusedBy: "rule",
    };
  }),
  {
    title: "ranges that overlap",
    spec: {
      services: {
        loadBalancerWorker: [
          WORKER_BALANCER,
          { ...WORKER_BALANCER, nodePortRange: { start: 30_011, end: 30_020 } },
        ],
      },
    },
    problem: "spec.services: the entries of loadBalancerWorker must have different ports, except 0",
    refusedBy: "rule",
  },
  ...[
    ["loadBalancerControlPlane", "loadBalancerWorker"],
    ["loadBalancerControlPlane", "jumpHost"],
    ["loadBalancerControlPlane", "auth"],
    ["loadBalancerWorker", "jumpHost"],
    ["loadBalancerWorker", "auth"],
    ["jumpHost", "auth"],
  ].map(([one = "", other = ""]): SpecCase => {
    const entry = {
      ...JUMP_HOST,
      ...AUTH,
      nodePort: 30_005,
      nodePortRange: { start: 30_000, end: 30_010 },
    };
    return {
      title: `the same port in ${one} and ${other}`,
      spec: { services: { [one]: [entry], [other]: [entry] } },
      problem: `spec.services: ${one} and ${other} must have different ports, except 0`,
      refusedBy: "rule",
    };
  }),
];

/** Wrong specs. */
export const WRONG_SPECS: readonly SpecCase[] = [...ENTRY_CASES, ...NODE_CASES, ...PORT_CASES];
