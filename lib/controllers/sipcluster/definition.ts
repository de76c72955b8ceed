/**
 * The controller of SIPClusters for the registry.
 * @module
 */
import { parseList } from "../../core/text/values.ts";
import { type ControllerDefinition, readTextFlag } from "../definition.ts";
import {
  ERROR_GRACE_FLAG,
  HOST_NAMESPACES_FLAG,
  NETWORK_DATA_FLAG,
  TOLERATIONS_FLAG,
} from "./flags.ts";
import { BARE_METAL_HOSTS } from "../../kube/kinds/bare_metal_host.ts";
import { SIP_CLUSTERS } from "./resource/sip_cluster.ts";
import { listRights } from "./rights.ts";
import { DEX_RULE } from "./services/auth/words.ts";
import { JUMP_HOST_RULE } from "./services/jump_host/names.ts";
import { ACCOUNT_PREFIX } from "./services/names.ts";
import { CONFIG_MAPS, DEPLOYMENTS, OWNED_SERVICES } from "./services/owned_kinds.ts";
import {
  CLUSTER_NAME,
  CLUSTER_NAMESPACE,
  COMPONENT,
  EVENT_WORDS,
  FINALIZER,
  FORCE_RELEASE,
  LEASE,
  NAME,
  NODE_TYPE,
  PART_OF_SIP,
  REBOOT_REQUEST,
  SIP_CLUSTER_LABEL,
  STANDBY,
  WITHOUT_METAL3,
} from "./words.ts";

/** Chooses BareMetalHosts for the clusters of tenants. */
export const sipClusterController: ControllerDefinition = {
  name: NAME,
  aliases: [],
  isOffByDefault: true,
  kind: SIP_CLUSTERS,
  needsCloud: false,
  lease: LEASE,
  folder: "sipcluster",
  confinement: {
    labels: [SIP_CLUSTER_LABEL, `${PART_OF_SIP.key}=${PART_OF_SIP.value}`],
    accounts: [ACCOUNT_PREFIX],
    roleRules: [DEX_RULE, JUMP_HOST_RULE],
  },
  component: COMPONENT,
  events: EVENT_WORDS,
  words: [
    {
      word: CLUSTER_NAMESPACE,
      where: "label",
      meaning: "Landfall sets it on a BareMetalHost: the namespace of the SIPCluster that has it.",
    },
    {
      word: CLUSTER_NAME,
      where: "label",
      meaning:
        "Landfall sets it on a BareMetalHost: the name of the SIPCluster that has it. A host with this label cannot " +
        "be taken. Which SIPCluster has it is in the status of the SIPCluster, and not in the label.",
    },
    {
      word: NODE_TYPE,
      where: "label",
      meaning: "Landfall sets it on a BareMetalHost: its role, `ControlPlane` or `Worker`.",
    },
    {
      word: STANDBY,
      where: "label",
      meaning: "Landfall sets it to `true` on a BareMetalHost that is a standby of its role.",
    },
    {
      word: WITHOUT_METAL3,
      where: "label",
      meaning:
        "You set it on a BareMetalHost that is `unmanaged` or `externally provisioned`, with any value: SIPClusters " +
        "may take the host, although Cluster API cannot use it.",
    },
    {
      word: REBOOT_REQUEST,
      where: "annotation",
      meaning:
        "Landfall sets it on a BareMetalHost with `reboot.metal3.io`: the last request of a jump host that it did.",
    },
    {
      word: FINALIZER,
      where: "finalizer",
      meaning:
        "Landfall sets it on a SIPCluster before it labels the first host, and removes it when no host has its labels.",
    },
    {
      word: FORCE_RELEASE,
      where: "annotation",
      meaning:
        "You set it to `true` on a SIPCluster that is being deleted: hosts that are in use lose their labels, too.",
    },
  ],
  flags: [ERROR_GRACE_FLAG, HOST_NAMESPACES_FLAG, NETWORK_DATA_FLAG, TOLERATIONS_FLAG],
  watches: [SIP_CLUSTERS, BARE_METAL_HOSTS, DEPLOYMENTS, OWNED_SERVICES, CONFIG_MAPS],
  loadKinds: async () => [(await import("./resource/crd.ts")).SIP_CLUSTER_KIND],
  loadProgramKinds: async () => [(await import("./services/auth/dex_crds.ts")).DEX_PROGRAM_KINDS],
  listNamespaces: (flags) =>
    [...new Set(parseList(readTextFlag(flags, HOST_NAMESPACES_FLAG)))].map((namespace) => ({
      namespace,
      flag: HOST_NAMESPACES_FLAG.name,
      use: "for the hosts of SIPClusters",
      isForHosts: true,
    })),
  listRights,
  inspect: async (...search) => (await import("./inspection.ts")).inspectHosts(...search),
  load: () => import("./mod.ts"),
};
