/**
 * The schema of the `spec` of a Vino, from which its check, the CRD and the reference page come.
 * @module
 */
import * as v from "valibot";
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
} from "../../../kinds/parts.ts";
import { joinSome, nameSome } from "../../../kinds/problems.ts";
import type { BmcCredentials, VinoSpec } from "../vino.ts";
import { listDoubleDefaults } from "../gateways.ts";
import { NETWORKS } from "./networks.ts";
import { NAMESPACED_NAME, NODES } from "./nodes.ts";
import { XEN_ORCHESTRA } from "./xen_orchestra.ts";

const TEXT = text(253);
const IMAGE = text(1024);
const ABOUT_LIBVIRT = "Without a meaning here. Old manifests have it.";

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
