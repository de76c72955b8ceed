/**
 * The controller of Services for the registry, and the rights that it needs.
 * @module
 */
import { SHARED_WITH } from "../../cloud/address_sharing.ts";
import { NODE_SELECTOR } from "../../cloud/node_selector.ts";
import { LOAD_BALANCERS, type LoadBalancerSettings } from "../../cloud/pools/settings.ts";
import { LOAD_BALANCER_CLEANUP, SERVICES } from "../../kube/kinds/service.ts";
import type { ControllerDefinition } from "../definition.ts";
import {
  CLASS_FLAG,
  CLASSLESS_FLAG,
  judgeServiceFlags,
  SYNC_PERIOD_FLAG,
  SYNCS_FLAG,
} from "./flags.ts";
import { COMPONENT, EVENT_WORDS, EXCLUDED_NODE, NAME, RECORD, SOURCE_RANGES } from "./words.ts";
import { type Right, toRights } from "../../kube/access/rights.ts";

/** Makes load balancers for Services. */
export const serviceController: ControllerDefinition<LoadBalancerSettings> = {
  name: NAME,
  aliases: ["service-lb-controller"],
  kind: SERVICES,
  needsCloud: true,
  needs: ["loadBalancers"],
  standIn: {
    list: ({ pools }) => (pools.length > 0 ? ["loadBalancers"] : []),
    advice: "to let it run, set address pools: loadBalancers.pools in the settings file",
  },
  section: LOAD_BALANCERS,
  mayBeLeftOut: true,
  component: COMPONENT,
  events: EVENT_WORDS,
  words: [
    {
      word: LOAD_BALANCER_CLEANUP,
      where: "finalizer",
      meaning:
        "Landfall sets it on a Service before it makes anything for it, and removes it when nothing of that is left.",
    },
    {
      word: RECORD,
      where: "annotation",
      meaning:
        "Landfall's record of what it is making for a Service, so that another process can go on after a crash.",
    },
    {
      word: SOURCE_RANGES,
      where: "annotation",
      meaning:
        "You set it on a Service without spec.loadBalancerSourceRanges: CIDRs of the clients that may use it, " +
        "separated by commas.",
    },
    {
      word: NODE_SELECTOR,
      where: "annotation",
      meaning:
        "You set it on a Service: a label selector, for example `pool in (a, b),disk!=hdd`. Only Nodes with such " +
        "labels get traffic from its load balancer. With address pools, it does nothing.",
    },
    {
      word: SHARED_WITH,
      where: "annotation",
      meaning:
        "You set it on a Service: the namespaces whose Services may share its address, separated by commas, or `*` " +
        "for all. They need it of every Service that has the address.",
    },
    {
      word: EXCLUDED_NODE,
      where: "label",
      meaning: "You set it on Nodes that must not get traffic from load balancers.",
    },
  ],
  flags: [SYNCS_FLAG, SYNC_PERIOD_FLAG, CLASS_FLAG, CLASSLESS_FLAG],
  judgeFlags: judgeServiceFlags,
  watches: [SERVICES],
  listRights,
  load: () => import("./mod.ts"),
};

const ACCESS = { group: "", resource: "services" };

/** Rights to write the status, the finalizer and the record, and to know the cluster. */
export function listRights(): Right[] {
  return [
    ...toRights(
      ACCESS,
      ["get"],
      "to read a Service again that another program changed at the same time",
    ),
    ...toRights(
      { ...ACCESS, subresource: "status" },
      ["patch"],
      "to write the address, the finalizer and the record of a load balancer",
    ),
    ...toRights(
      { group: "", resource: "namespaces", name: "kube-system" },
      ["get"],
      "to mark load balancers with the ID of this cluster",
      { mandatory: false },
    ),
  ];
}
