/**
 * The schema of the `spec` of a Vino, from which its check, the CRD and the reference page come.
 * @module
 */
import {
  labelKey,
  labels,
  object,
  objectName,
  optional,
  required,
  type Schema,
  text,
  textSet,
  wholeNumber,
  withRules,
  anyFields,
  form,
  list,
  listBy,
  trueOrFalse,
} from "../../../kinds/parts.ts";
import { joinSome, nameSome } from "../../../kinds/problems.ts";
import {
  type BmcCredentials,
  type VinoSpec,
  type DiskDrive,
  type NamespacedName,
  ROOT_DEVICE_NAME,
  type VinoInterface,
  type VinoNode,
  BRIDGE_GATEWAY,
  type VinoNetwork,
  type VinoRoute,
} from "../vino.ts";
import {
  listDoubleDefaults,
  listGatewayProblems,
  namePart,
  ipAddress,
  macAddress,
  ofHost,
  subnet,
} from "./fields.ts";
import { XEN_ORCHESTRA, ROLE_FORM, NETWORKS_MAX } from "./xen_orchestra.ts";
import { parseIp, parseMaskedCidr } from "../../../../core/net/ip.ts";
import { listRangeProblems } from "../ip_pool.ts";

import * as v from "valibot";

const TEXT = text(253);
const IMAGE = text(1024);
const ABOUT_LIBVIRT = "Without a meaning here. Old manifests have it.";

const ROLES_MAX = 32;
/** Xen has no more network interfaces for a machine. */
const INTERFACES_MAX = 16;
/** More machines of a role, or of a role on one host, are a typing error. */
const COUNT_MAX = 500;
/**
 * Names of machines are DNS labels of at most 63 characters: `vino-`, eight characters of the UID, the role and a
 * number of at most five digits, with a `-` between each.
 */
const ROLE_LENGTH_MAX = 32;
const NAME = form(/^\S+$/, 63, "a name without blanks");

/** The schema of the name of an object and its namespace. */
const NAMESPACED_NAME: Schema<NamespacedName> = object<NamespacedName>({
  name: optional(TEXT, "Name of the object."),
  namespace: optional(TEXT, "Namespace of the object."),
});

const INTERFACE: Schema<VinoInterface> = object<VinoInterface>({
  name: required(NAME, "Name of the interface."),
  type: optional(TEXT, "Its kind. Here every interface is on a bridge."),
  network: required(text(63), "Name of its network in spec.networks."),
  mtu: optional(wholeNumber(68, 65_535), "Its MTU in bytes. Absent: that of the network."),
  options: optional(anyFields(64), ABOUT_LIBVIRT),
});

const DRIVE: Schema<DiskDrive> = object<DiskDrive>({
  name: optional(TEXT, ABOUT_LIBVIRT),
  type: optional(TEXT, ABOUT_LIBVIRT),
  path: optional(text(4096), ABOUT_LIBVIRT),
  options: optional(
    object<NonNullable<DiskDrive["options"]>>({
      sizeGb: optional(wholeNumber(0, 2_147_483_647), ABOUT_LIBVIRT),
      sparse: optional(trueOrFalse(), ABOUT_LIBVIRT),
    }),
    ABOUT_LIBVIRT,
  ),
});

const NODE: Schema<VinoNode> = withRules(
  object<VinoNode>({
    name: required(
      namePart(ROLE_LENGTH_MAX),
      "The role, such as worker. A part of machines' names.",
    ),
    count: optional(
      wholeNumber(0, COUNT_MAX),
      "How many machines. xenOrchestra.countPer says whether on each host or on all together.",
      0,
    ),
    bmhLabels: optional(
      labels(),
      "Labels of the BareMetalHosts. They win over other labels, but only Landfall sets vino.airshipit.org/vino and " +
        "labels of landfall.dev and sip.airshipit.org: these have no effect here.",
    ),
    networkDataTemplate: optional(NAMESPACED_NAME, ABOUT_LIBVIRT),
    networkInterfaces: optional(
      listBy("name", INTERFACE, INTERFACES_MAX),
      "Network interfaces of a machine, in the order of its devices.",
    ),
    rootDeviceName: optional(
      form(/^\/dev\/\S+$/, 253, "the path of a device, such as /dev/xvda"),
      "The disk on which metal3 installs a system.",
      ROOT_DEVICE_NAME,
    ),
    bootInterfaceName: optional(
      NAME,
      "The interface whose MAC address the BareMetalHost has. Absent: the first one.",
    ),
    enableVNC: optional(trueOrFalse(), ABOUT_LIBVIRT),
    libvirtTemplate: optional(TEXT, ABOUT_LIBVIRT),
    diskDrives: optional(list(DRIVE, 64), ABOUT_LIBVIRT),
    xenOrchestra: optional(ROLE_FORM, "What differs for this role from spec.xenOrchestra."),
  }),
  [
    {
      cel:
        "!has(self.bootInterfaceName) || has(self.networkInterfaces) && " +
        "self.networkInterfaces.exists(one, one.name == self.bootInterfaceName)",
      message: "bootInterfaceName must be the name of one of networkInterfaces",
      holds: ({ bootInterfaceName, networkInterfaces = [] }) =>
        bootInterfaceName === undefined ||
        networkInterfaces.some(({ name }) => name === bootInterfaceName),
    },
  ],
);

/** The schema of `spec.nodes`. */
const NODES: Schema<readonly VinoNode[]> = listBy("name", NODE, ROLES_MAX);

/** Its key in the metadata of Secrets and labels, so no blanks. */
const NETWORK_NAME = form(
  /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/,
  63,
  'letters, digits, "-", "_" and ".", with a letter or digit at both ends',
);

const ROUTE: Schema<VinoRoute> = v.pipe(
  object<VinoRoute>({
    network: required(ipAddress(), "First address of the network, such as 198.51.100.0."),
    netmask: required(ipAddress(), "Netmask in the form of an address, such as 255.255.255.0."),
    gateway: required(
      ofHost(
        v.pipe(
          text(45),
          v.check(
            (one) => one === BRIDGE_GATEWAY || parseIp(one) !== undefined,
            "must be an IP address",
          ),
        ),
      ),
      `Address of the gateway. Machines get no route to ${BRIDGE_GATEWAY}, the bridge of a host of old.`,
    ),
  }),
  v.check(isOfOneFamily, "network, netmask and gateway must be of the same family"),
  v.check(isNetmask, "netmask must be ones and then zeros"),
);

/** The schema of `spec.networks`. */
const NETWORKS: Schema<readonly VinoNetwork[]> = listBy("name", toNetwork(), NETWORKS_MAX);

function toNetwork(): Schema<VinoNetwork> {
  const fields = object<VinoNetwork>({
    name: required(NETWORK_NAME, "Name of the network."),
    subnet: optional(subnet(), "Its subnet in CIDR form, such as 192.0.2.0/24."),
    type: optional(TEXT, "Its kind of addresses: ipv4 or ipv6. The subnet says the same."),
    staticAllocationStart: optional(
      ipAddress(),
      "The first address that machines get. Absent: machines get none from here.",
    ),
    staticAllocationStop: optional(ipAddress(), "The last address that machines get."),
    dhcpAllocationStart: optional(TEXT, ABOUT_LIBVIRT),
    dhcpAllocationStop: optional(TEXT, ABOUT_LIBVIRT),
    instanceSubnetBitStep: optional(wholeNumber(0, 128), ABOUT_LIBVIRT),
    dns_servers: optional(list(ofHost(ipAddress()), 8), "Addresses of name servers."),
    routes: optional(list(ROUTE, 64), "Routes of machines."),
    macPrefix: optional(
      macAddress(),
      "Beginning of MAC addresses, six pairs with colons. Zeros at its end are free.",
    ),
    physicalInterface: optional(TEXT, ABOUT_LIBVIRT),
    libvirtTemplate: optional(TEXT, ABOUT_LIBVIRT),
    bridgeName: optional(TEXT, ABOUT_LIBVIRT),
  });
  const both = withRules(fields, [
    {
      cel: "has(self.staticAllocationStart) == has(self.staticAllocationStop)",
      message: "staticAllocationStart and staticAllocationStop belong together",
      holds: ({ staticAllocationStart: start, staticAllocationStop: stop }) =>
        (start === undefined) === (stop === undefined),
    },
    {
      cel: "!has(self.staticAllocationStart) || has(self.subnet)",
      message: "a network with static addresses needs a subnet",
      holds: ({ staticAllocationStart, subnet: block }) =>
        staticAllocationStart === undefined || block !== undefined,
    },
  ]);
  return v.pipe(
    both,
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      for (const message of listGatewayProblems(dataset.value)) addIssue({ message });
      const {
        subnet: block,
        staticAllocationStart: start,
        staticAllocationStop: stop,
      } = dataset.value;
      if (block === undefined || start === undefined || stop === undefined) return;
      const names = { start: "staticAllocationStart", stop: "staticAllocationStop" };
      for (const message of listRangeProblems(block, { start, stop }, names)) addIssue({ message });
    }),
  );
}

/** Whether the texts are addresses of one family. One that is none has its own problem. */
function isOfOneFamily({ network, netmask, gateway }: VinoRoute): boolean {
  const families = [network, netmask, gateway].flatMap((one) => parseIp(one)?.family ?? []);
  return new Set(families).size <= 1;
}

/** Whether only ones stand before zeros. An address that is none has its own problem, as has another family. */
function isNetmask({ network, netmask, gateway }: VinoRoute): boolean {
  const isReadable = parseIp(network) !== undefined && parseIp(netmask) !== undefined;
  if (!isReadable || !isOfOneFamily({ network, netmask, gateway })) return true;
  return parseMaskedCidr(network, netmask) !== undefined;
}

const CREDENTIALS: Schema<BmcCredentials> = withRules(
  object<BmcCredentials>({
    username: optional(text(256), "User name in clear text, for old manifests."),
    password: optional(
      text(1024),
      "Password in clear text, for old manifests. Everyone who may read the object knows it.",
    ),
    secretRef: optional(
      object<NonNullable<BmcCredentials["secretRef"]>>({
        name: required(objectName(), "Name of a Secret in the same namespace."),
      }),
      "A Secret with the keys username and password.",
    ),
  }),
  [
    {
      cel:
        "has(self.secretRef) ? !has(self.username) && !has(self.password) " +
        ": has(self.username) && has(self.password)",
      message: "needs either secretRef, or username and password",
      holds: ({ secretRef, username, password }) =>
        [username, password].every((one) => (one === undefined) === (secretRef !== undefined)),
    },
  ],
);

const FIELDS: Schema<VinoSpec> = object<VinoSpec>({
  nodeSelector: optional(
    object<NonNullable<VinoSpec["nodeSelector"]>>({
      matchLabels: required(labels(), "Without a meaning here: hosts are no Nodes."),
    }),
    "Without a meaning here: xenOrchestra.hosts chooses hosts. Old manifests have it.",
  ),
  configuration: optional(
    object<NonNullable<VinoSpec["configuration"]>>({
      cpuExclude: optional(TEXT, ABOUT_LIBVIRT),
    }),
    ABOUT_LIBVIRT,
  ),
  networks: optional(NETWORKS, "The networks that machines are connected to."),
  nodes: optional(NODES, "The machines by role."),
  daemonSetOptions: optional(
    object<NonNullable<VinoSpec["daemonSetOptions"]>>({
      namespacedName: optional(NAMESPACED_NAME, ABOUT_LIBVIRT),
      libvirtImage: optional(IMAGE, ABOUT_LIBVIRT),
      sushyImage: optional(IMAGE, ABOUT_LIBVIRT),
      vinoBuilderImage: optional(IMAGE, ABOUT_LIBVIRT),
      nodeAnnotatorImage: optional(IMAGE, ABOUT_LIBVIRT),
    }),
    ABOUT_LIBVIRT,
  ),
  bmcCredentials: optional(CREDENTIALS, "What the management controllers of hosts accept."),
  nodeLabelKeysToCopy: optional(
    textSet(labelKey(), 64),
    "A host in Xen Orchestra with a tag key=value gives its machines' BareMetalHosts that label, for these keys.",
  ),
  pxeBootImageHost: optional(TEXT, ABOUT_LIBVIRT),
  pxeBootImageHostPort: optional(wholeNumber(0, 65_535), ABOUT_LIBVIRT),
  xenOrchestra: optional(
    XEN_ORCHESTRA,
    "What machines are like in Xen Orchestra, and where they are. Without it no machine can be made.",
  ),
});

const RULED: Schema<VinoSpec> = withRules(FIELDS, [
  {
    cel:
      "!has(self.nodes) || self.nodes.all(node, !has(node.networkInterfaces) || " +
      "node.networkInterfaces.all(one, has(self.networks) && " +
      "self.networks.exists(network, network.name == one.network)))",
    message: "the network of each interface must be one of networks",
    holds: (spec) => listLost(spec).length === 0,
    explain: (spec) => joinSome(listLost(spec)),
  },
]);

/**
 * The schema of `spec`. No rule in CEL checks the keys of a map: their length has no limit there, so an API server
 * would expect the check to be too expensive.
 */
export const SPEC: Schema<VinoSpec> = v.pipe(
  RULED,
  v.check(
    (spec) => listDoubleDefaults(spec).length === 0,
    ({ input }) => {
      const rule = "a machine must have at most one default route of each family";
      return `${rule}: ${joinSome(listDoubleDefaults(input))}`;
    },
  ),
  v.check(
    (spec) => listLostKeys(spec).length === 0,
    ({ input }) => {
      const rule = "each key of xenOrchestra.networks must be the name of one of networks";
      return `${rule}: ${nameSome(listLostKeys(input))}`;
    },
  ),
);

/** Interfaces of which the network is none of the spec's. */
function listLost({ nodes = [], networks = [] }: VinoSpec): string[] {
  const names = new Set(networks.map(({ name }) => name));
  return nodes.flatMap(({ name: role, networkInterfaces = [] }) =>
    networkInterfaces
      .filter(({ network }) => !names.has(network))
      .map(({ name, network }) => `interface ${name} of role ${role} has network ${network}`),
  );
}

function listLostKeys({ networks = [], xenOrchestra }: VinoSpec): string[] {
  const names = new Set(networks.map(({ name }) => name));
  return Object.keys(xenOrchestra?.networks ?? {}).filter((name) => !names.has(name));
}
