/**
 * The schema of `spec`, from which its check, the CRD and the reference page come. The ports of services must differ.
 * @module
 */
import * as v from "valibot";
import {
  type Rule,
  type Schema,
  form,
  labelKey,
  labelKeyOrEmpty,
  labelValue,
  labels,
  list,
  mapOf,
  object,
  objectName,
  oneOf,
  optional,
  required,
  text,
  textSet,
  trueOrFalse,
  wholeNumber,
  withRules,
} from "../../../kinds/parts.ts";
import type {
  Auth,
  HostCount,
  JumpHost,
  LabelRequirement,
  LabelSelector,
  LoadBalancerControlPlane,
  LoadBalancerWorker,
  NodeSet,
  PortRange,
  Scheduling,
  SipClusterSpec,
  SipServices,
} from "../sip_cluster.ts";
import { DEFAULT_IMAGE as DEX_IMAGE } from "../../services/auth/words.ts";
import { DEFAULT_IMAGE as HAPROXY_IMAGE } from "../../services/load_balancer/words.ts";
import { parseIp } from "../../../../core/net/ip.ts";

/** More hosts than this are a typing error. */
const ROLE_HOSTS_MAX = 5000;

const REQUIREMENT: Schema<LabelRequirement> = withRules(
  object<LabelRequirement>({
    key: required(labelKey(), "The key of the label."),
    operator: required(
      oneOf(["In", "NotIn", "Exists", "DoesNotExist"]),
      "How the label compares with the values.",
    ),
    values: optional(
      list(labelValue(), 256),
      "The values for In and NotIn. Exists and DoesNotExist have none.",
    ),
  }),
  [
    {
      cel:
        "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 " +
        ": !has(self.values) || size(self.values) == 0",
      message: "In and NotIn need values, Exists and DoesNotExist have none",
      holds: ({ operator, values = [] }) =>
        (operator === "In" || operator === "NotIn") === values.length > 0,
    },
  ],
);

const SELECTOR: Schema<LabelSelector> = object<LabelSelector>({
  matchLabels: optional(labels(), "Labels that a host must have."),
  matchExpressions: optional(list(REQUIREMENT, 64), "Further demands. All must hold."),
});

const COUNT: Schema<HostCount> = object<HostCount>({
  active: optional(wholeNumber(0, ROLE_HOSTS_MAX), "Hosts that are used.", 0),
  standby: optional(
    wholeNumber(0, ROLE_HOSTS_MAX),
    "Spare hosts, for example for upgrades. They have the label sip.airshipit.org/standby=true.",
    0,
  ),
});

const NODE_SET: Schema<NodeSet> = object<NodeSet>({
  labelSelector: optional(SELECTOR, "Which BareMetalHosts qualify. Empty: all."),
  topologyKey: optional(
    labelKeyOrEmpty(),
    "A label of BareMetalHosts, such as vino.airshipit.org/rack. No two hosts of the role have the same value of it. " +
      "A host without the label is not limited. Empty: no limit.",
  ),
  topologyKeys: optional(
    textSet(labelKey(), 8),
    "Further labels with the same meaning. With several, each of them limits the choice.",
  ),
  count: optional(COUNT, "How many hosts the role has."),
});

/** The schema of `spec.nodes`. */
const NODES: Schema<Record<string, NodeSet>> = withRules(mapOf(NODE_SET, 2), [
  {
    cel: "self.all(role, role in ['ControlPlane', 'Worker'])",
    message: "the roles are ControlPlane and Worker",
    holds: (nodes) =>
      Object.keys(nodes).every((role) => role === "ControlPlane" || role === "Worker"),
  },
]);

/** The schema of `spec.scheduling`. */
const SCHEDULING: Schema<Scheduling> = object<Scheduling>({
  spreadAcrossRoles: optional(
    trueOrFalse(),
    "Whether hosts of different roles must differ in the topology labels, too.",
    false,
  ),
  releaseConsumedHosts: optional(
    trueOrFalse(),
    "Whether the cluster may give back hosts that have a consumer or are provisioned.",
    false,
  ),
});

/** Entries of one service. */
const ENTRIES_MAX = 8;
/** Each port is a listener of the load balancer and a port of its Service. */
const RANGE_MAX = 256;
const PORT_MAX = 65_535;

const IMAGE = form(/^\S*$/, 1024, "the name of an image, without blanks");
const ABOUT_IMAGE = "Image of the container.";
const INTERFACE = form(/^\S+$/, 253, "the ID of a network, without blanks");
const ABOUT_INTERFACE =
  "ID of the network in the network data of the hosts from which their addresses are taken, such as oam-ipv4. " +
  "Hosts need a static address there.";
/**
 * What a kube-apiserver takes as the URL of an issuer: https, and no user, query or fragment. Source:
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#using-authentication-configuration
 */
const ISSUER = new RegExp(
  String.raw`^https://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?` +
    "(/([-A-Za-z0-9._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*)?$",
);
/** A cluster may have another range than the usual 30000 to 32767, so the API server has the last word. */
const NODE_PORT = wholeNumber(0, PORT_MAX);
const ABOUT_NODE_PORT =
  "Port on the Nodes of this cluster, within the range of its API server, usually 30000 to 32767. " +
  "0: Kubernetes chooses one.";

/** What every service may have. */
const COMMON = {
  nodeLabels: optional(labels(), "Labels of the Nodes that the Pods run on. Empty: on every Node."),
  clusterIP: optional(clusterIp(), "Cluster IP of the Service. Empty: Kubernetes chooses one."),
} as const;
const BALANCER_IMAGE = optional(IMAGE, `${ABOUT_IMAGE} Empty: ${HAPROXY_IMAGE}.`);
const REQUIRED_INTERFACE = required(INTERFACE, ABOUT_INTERFACE);
const REQUIRED_NODE_PORT = required(NODE_PORT, ABOUT_NODE_PORT);

const CONTROL_PLANE = object<LoadBalancerControlPlane>({
  image: BALANCER_IMAGE,
  nodeInterfaceId: REQUIRED_INTERFACE,
  nodePort: REQUIRED_NODE_PORT,
  ...COMMON,
});

const RANGE = withRules(
  object<PortRange>({
    start: required(wholeNumber(1, PORT_MAX), "The first port."),
    end: required(wholeNumber(1, PORT_MAX), "The last port."),
  }),
  [
    {
      cel: "self.start <= self.end",
      message: "start must not be greater than end",
      holds: ({ start, end }) => start <= end,
    },
    {
      cel: `self.end - self.start < ${RANGE_MAX}`,
      message: `a range has at most ${RANGE_MAX} ports`,
      holds: ({ start, end }) => end - start < RANGE_MAX,
    },
  ],
);

const WORKER = object<LoadBalancerWorker>({
  image: BALANCER_IMAGE,
  nodeInterfaceId: REQUIRED_INTERFACE,
  nodePort: optional(
    NODE_PORT,
    "Of old manifests: all ports of nodePortRange are used, and one outside of it has no effect.",
  ),
  nodePortRange: required(
    RANGE,
    "Ports on the Nodes of this cluster. Each leads to the same port of the worker hosts.",
  ),
  ...COMMON,
});

const JUMP_HOST = object<JumpHost>({
  image: required(
    form(/^\S+$/, 1024, "the name of an image, without blanks"),
    `${ABOUT_IMAGE} It has sshd. There is no default.`,
  ),
  nodeInterfaceId: REQUIRED_INTERFACE,
  nodePort: REQUIRED_NODE_PORT,
  nodeSSHPrivateKeys: required(
    objectName(),
    "Name of a Secret in the same namespace. Each of its keys is a file with a private key for the hosts.",
  ),
  sshAuthorizedKeys: optional(
    list(text(16_384), 256),
    "Public keys of the people who may log in, as in authorized_keys.",
  ),
  bmc: optional(
    object<NonNullable<JumpHost["bmc"]>>({
      proxy: optional(
        trueOrFalse(),
        "Whether programs in the container use the proxy of its environment. Otherwise it has NO_PROXY=*.",
        false,
      ),
    }),
    "How the management controllers of hosts are reached.",
  ),
  ...COMMON,
});

const AUTH = withRules(
  object<Auth>({
    image: optional(IMAGE, `${ABOUT_IMAGE} Empty: ${DEX_IMAGE}.`),
    nodeInterfaceId: optional(
      text(253),
      "Without a meaning here: an OIDC provider needs no address of a host. Old manifests have it.",
    ),
    nodePort: REQUIRED_NODE_PORT,
    issuerURL: optional(
      form(ISSUER, 2048, "a URL that begins with https://, without user, query and fragment"),
      "URL of the issuer, as clients reach it.",
    ),
    clientID: optional(
      form(/^[-A-Za-z0-9._~]+$/, 253, "the ID of a client: letters, digits and - . _ ~"),
      "ID of the tenant's API servers among the clients in the configuration of Dex.",
      "kubernetes",
    ),
    configSecret: optional(
      objectName(),
      "Name of a Secret in the same namespace with the configuration of Dex, key config.yaml.",
    ),
    tlsSecret: optional(
      objectName(),
      "Name of a Secret of type kubernetes.io/tls in the same namespace.",
    ),
    caSecret: optional(
      objectName(),
      "Name of a Secret in the same namespace with a CA. Old manifests have only this.",
    ),
    ...COMMON,
  }),
  [
    {
      cel: "has(self.caSecret) || has(self.configSecret) && has(self.issuerURL) && has(self.tlsSecret)",
      message: "an OIDC provider needs configSecret, issuerURL and tlsSecret",
      holds: ({ caSecret, configSecret, issuerURL, tlsSecret }) =>
        [configSecret, issuerURL, tlsSecret].every((one) => one !== undefined) ||
        caSecret !== undefined,
    },
  ],
);

/** Where the entries of a list have their ports. */
interface PortFields {
  readonly list: keyof SipServices;
  readonly start: string;
  readonly end: string;
}

const SINGLE = { start: "nodePort", end: "nodePort" };
const LISTS: readonly PortFields[] = [
  { list: "loadBalancerControlPlane", ...SINGLE },
  { list: "loadBalancerWorker", start: "nodePortRange.start", end: "nodePortRange.end" },
  { list: "jumpHost", ...SINGLE },
  { list: "auth", ...SINGLE },
];

/** One rule for each list, and one for each pair of lists: CEL cannot put lists together at a bounded cost. */
const PORT_RULES: readonly Rule<SipServices>[] = LISTS.flatMap((one, at) => [
  withinList(one),
  ...LISTS.slice(at + 1).map((other) => betweenLists(one, other)),
]);

/** The schema of `spec.services`. */
const SERVICES: Schema<SipServices> = withRules(
  object<SipServices>({
    loadBalancerControlPlane: optional(
      list(CONTROL_PLANE, ENTRIES_MAX),
      "Load balancers for the API servers of the cluster.",
    ),
    loadBalancerWorker: optional(
      list(WORKER, ENTRIES_MAX),
      "Load balancers for what the workers of the cluster serve.",
    ),
    jumpHost: optional(list(JUMP_HOST, ENTRIES_MAX), "Hosts for ssh to the hosts of the cluster."),
    auth: optional(list(AUTH, ENTRIES_MAX), "OIDC providers for the cluster: Dex."),
  }),
  PORT_RULES,
);

function clusterIp(): Schema<string> {
  return v.pipe(
    text(45),
    v.metadata({ anyOf: [{ format: "ipv4" }, { format: "ipv6" }, { maxLength: 0 }] }),
    v.check((address) => address === "" || parseIp(address) !== undefined, "must be an IP address"),
  );
}

function withinList({ list, start, end }: PortFields): Rule<SipServices> {
  // Another rule refuses a range that ends before it starts.
  const free = start === end ? `a.${start} == 0` : `a.${start} > a.${end}`;
  const overlap = `a.${start} <= b.${end} && b.${start} <= a.${end}`;
  return {
    cel: `!has(self.${list}) || self.${list}.all(a, ${free} || self.${list}.exists_one(b, ${overlap}))`,
    message: `the entries of ${list} must have different ports, except 0`,
    holds: (services) => {
      const ranges = listRanges(services, list);
      return ranges.every(
        (a) => a.start > a.end || ranges.filter((b) => overlaps(a, b)).length === 1,
      );
    },
  };
}

function betweenLists(one: PortFields, other: PortFields): Rule<SipServices> {
  // A range has no 0, and 0 is below every other port.
  const free = one.start === one.end ? `a.${one.start} == 0 || ` : "";
  const apart = `a.${one.start} > b.${other.end} || b.${other.start} > a.${one.end}`;
  return {
    cel:
      `!has(self.${one.list}) || !has(self.${other.list}) || ` +
      `self.${one.list}.all(a, ${free}self.${other.list}.all(b, ${apart}))`,
    message: `${one.list} and ${other.list} must have different ports, except 0`,
    holds: (services) =>
      listRanges(services, one.list).every((a) =>
        listRanges(services, other.list).every((b) => !overlaps(a, b)),
      ),
  };
}

/** The ports that are chosen by the spec. 0 lets Kubernetes choose. */
function listRanges(services: SipServices, list: keyof SipServices): PortRange[] {
  const ranges = (services[list] ?? []).map((entry) =>
    "nodePortRange" in entry ? entry.nodePortRange : { start: entry.nodePort, end: entry.nodePort },
  );
  return ranges.filter(({ start }) => start !== 0);
}

function overlaps(a: PortRange, b: PortRange): boolean {
  return a.start <= b.end && b.start <= a.end;
}

/** The schema of `spec`. */
export const SPEC: Schema<SipClusterSpec> = object<SipClusterSpec>({
  nodes: optional(
    NODES,
    "The hosts of the cluster by role: ControlPlane and Worker. All roles get all that they want, or none gets more.",
  ),
  services: required(SERVICES, "The services that stand before the cluster. May be {}."),
  scheduling: optional(SCHEDULING, "How hosts are chosen and given back."),
});
