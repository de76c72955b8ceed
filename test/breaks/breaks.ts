/**
 * Every deliberate break, by what it breaks.
 * @module
 */
import { ACCESS_BREAKS } from "./groups/access.ts";
import { BOUND_BREAKS } from "./groups/bounds.ts";
import type { Break } from "./break.ts";
import { CLOUD_BREAKS } from "./groups/cloud.ts";
import { CLOUDSTACK_BREAKS } from "./groups/cloudstack.ts";
import { DELETION_BREAKS } from "./groups/deletion.ts";
import { KUBERNETES_BREAKS } from "./groups/kubernetes.ts";
import { LOAD_BALANCER_LOOK_BREAKS } from "./groups/load_balancers/looks.ts";
import { LOAD_BALANCER_PLAN_BREAKS } from "./groups/load_balancers/plans.ts";
import { LOAD_BALANCER_STEP_BREAKS } from "./groups/load_balancers/steps.ts";
import { HOST_BREAKS } from "./groups/machines/hosts.ts";
import { MACHINE_BREAKS } from "./groups/machines/machines.ts";
import { LEADERSHIP_BREAKS } from "./groups/leadership.ts";
import { NODE_BREAKS } from "./groups/nodes.ts";
import { OUT_OF_SERVICE_BREAKS } from "./groups/out_of_service.ts";
import { POOL_BREAKS } from "./groups/pools.ts";
import { REDFISH_BREAKS } from "./groups/machines/redfish.ts";
import { SECRET_BREAKS } from "./groups/secrets.ts";
import { LABEL_BREAKS } from "./groups/labels.ts";
import { SERVICE_BREAKS } from "./groups/load_balancers/services.ts";
import { SETTINGS_BREAKS } from "./groups/settings.ts";
import { SIP_CLUSTER_BREAKS } from "./groups/sip_clusters.ts";

/** Breaks that belong together. */
export interface BreakGroup {
  readonly title: string;
  readonly breaks: readonly Break[];
}

/** All groups, in the order of the documentation. */
export const BREAK_GROUPS: readonly BreakGroup[] = [
  { title: "Deletion", breaks: DELETION_BREAKS },
  { title: "Out of service", breaks: OUT_OF_SERVICE_BREAKS },
  { title: "Custom labels and addresses", breaks: LABEL_BREAKS },
  { title: "Settings", breaks: SETTINGS_BREAKS },
  { title: "Writes to Nodes", breaks: NODE_BREAKS },
  { title: "Leadership and workers", breaks: LEADERSHIP_BREAKS },
  { title: "The API server", breaks: KUBERNETES_BREAKS },
  { title: "The cloud", breaks: CLOUD_BREAKS },
  { title: "Apache CloudStack", breaks: CLOUDSTACK_BREAKS },
  { title: "Load balancers of Services", breaks: SERVICE_BREAKS },
  { title: "Looks at load balancers", breaks: LOAD_BALANCER_LOOK_BREAKS },
  { title: "Plans of load balancers", breaks: LOAD_BALANCER_PLAN_BREAKS },
  { title: "Steps of load balancers", breaks: LOAD_BALANCER_STEP_BREAKS },
  { title: "Address pools", breaks: POOL_BREAKS },
  { title: "Virtual machines", breaks: MACHINE_BREAKS },
  { title: "Hosts of virtual machines", breaks: HOST_BREAKS },
  { title: "Management controllers", breaks: REDFISH_BREAKS },
  { title: "SIPClusters", breaks: SIP_CLUSTER_BREAKS },
  { title: "Who may look", breaks: ACCESS_BREAKS },
  { title: "Bounds", breaks: BOUND_BREAKS },
  { title: "What is said", breaks: SECRET_BREAKS },
];

/** All breaks. */
export const BREAKS: readonly Break[] = BREAK_GROUPS.flatMap(({ breaks }) => breaks);
