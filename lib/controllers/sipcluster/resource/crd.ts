/**
 * The CustomResourceDefinition of SIPClusters. Only what writes manifests and reference pages loads it.
 * @module
 */
import type { PrinterColumn } from "../../../kube/kinds/crd.ts";
import type { KindDefinition } from "../../definition.ts";
import { AGE_COLUMN, listConditionWords, toCrd, toReadyColumns } from "../../kinds/crd.ts";
import { NAME_RULE } from "../../kinds/parts.ts";
import { SPEC } from "./schema/spec.ts";
import { STATUS } from "./schema/status.ts";
import { SIP_CLUSTERS } from "./sip_cluster.ts";
import { CONDITION_WORDS } from "./words.ts";

const COLUMNS: readonly PrinterColumn[] = [
  ...toReadyColumns("Whether the cluster has all hosts, and its services are available."),
  {
    name: "CP",
    type: "string",
    jsonPath: ".status.counts.ControlPlane.summary",
    description: "Hosts for the control plane: have/want.",
  },
  {
    name: "Workers",
    type: "string",
    jsonPath: ".status.counts.Worker.summary",
    description: "Hosts for workers: have/want.",
  },
  AGE_COLUMN,
];

/** SIPClusters, as a kind that Kubernetes does not have. */
export const SIP_CLUSTER_KIND: KindDefinition = {
  crd: toCrd({
    resource: SIP_CLUSTERS,
    shortNames: ["sip"],
    columns: COLUMNS,
    description: "Which BareMetalHosts a tenant's cluster has, and which services stand before it.",
    spec: { schema: SPEC, description: "What the cluster wants." },
    status: { schema: STATUS, description: "What the cluster has." },
    rule: NAME_RULE,
  }),
  about:
    "A SIPCluster chooses BareMetalHosts of metal3 for a tenant's cluster, labels them, and makes load balancers, " +
    "jump hosts and OIDC providers for it, in its own namespace.",
  conditions: listConditionWords(CONDITION_WORDS),
};
