/**
 * The CustomResourceDefinitions of Vinos and IPPools. Only what writes manifests and reference pages loads them.
 * @module
 */
import type { PrinterColumn } from "../../../kube/kinds/crd.ts";
import type { KindDefinition } from "../../definition.ts";
import { AGE_COLUMN, listConditionWords, toCrd, toReadyColumns } from "../../kinds/crd.ts";
import { NAME_RULE } from "../../kinds/parts.ts";
import { IP_POOLS } from "./ip_pool.ts";
import { POOL_SPEC } from "./schema/ip_pool.ts";
import { SPEC } from "./schema/spec.ts";
import { STATUS } from "./schema/status.ts";
import { VINOES } from "./vino.ts";
import { CONDITION_WORDS } from "./words.ts";

const VINO_COLUMNS: readonly PrinterColumn[] = [
  ...toReadyColumns("Whether all machines are complete and published."),
  {
    name: "Machines",
    type: "string",
    jsonPath: ".status.counts.summary",
    description: "Complete machines, and machines that the spec wants.",
  },
  {
    name: "Unwanted",
    type: "integer",
    jsonPath: ".status.counts.unwanted",
    description: "Machines that the spec does not want, and that exist or may exist.",
  },
  {
    name: "Hosts",
    type: "integer",
    jsonPath: ".status.counts.published",
    description: "BareMetalHosts of all these machines.",
  },
  {
    name: "Differences",
    type: "string",
    jsonPath: '.status.conditions[?(@.type=="MachinesDiffer")].reason',
    description: "Whether complete machines are as the spec says: the reason of MachinesDiffer.",
    priority: 1,
  },
  AGE_COLUMN,
];

/** Vinos, as a kind that Kubernetes does not have. */
export const VINO_KIND: KindDefinition = {
  crd: toCrd({
    resource: VINOES,
    // kubectl takes the singular, too: `vino`.
    shortNames: [],
    columns: VINO_COLUMNS,
    description: "Which virtual machines are made, and published as BareMetalHosts.",
    spec: { schema: SPEC, description: "Which machines are wanted." },
    status: { schema: STATUS, description: "Which machines there are." },
    rule: NAME_RULE,
  }),
  about:
    "A Vino makes virtual machines on hosts of Xen Orchestra, and publishes each as a BareMetalHost of metal3 in its " +
    "namespace.",
  conditions: listConditionWords(CONDITION_WORDS),
};

/** IPPools, as a kind that Kubernetes does not have. */
export const IP_POOL_KIND: KindDefinition = {
  crd: toCrd({
    resource: IP_POOLS,
    shortNames: [],
    columns: [
      {
        name: "Subnet",
        type: "string",
        jsonPath: ".spec.subnet",
        description: "The subnet of the addresses.",
      },
      AGE_COLUMN,
    ],
    description: "Which addresses of a subnet machines have.",
    spec: { schema: POOL_SPEC, description: "The addresses of a subnet." },
  }),
  about:
    "An IPPool records which addresses and MAC addresses of a subnet the machines of Vinos have. Landfall never " +
    "deletes one: without addresses, it stays for the next Vino with that subnet.",
  conditions: [],
};
