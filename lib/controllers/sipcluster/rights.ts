/**
 * Rights that the SIPCluster controller needs in addition to those of every controller.
 *
 * Everywhere, it sees what it watches, and writes SIPClusters. All else is needed only where SIPClusters or their hosts
 * are. On all namespaces, these rights make its account as good as cluster-admin: who can write and read any Secret
 * gets the token of any account. RBAC can name an object only if its name is known before, so it cannot divide Secrets.
 * Landfall never lists or watches them.
 * @module
 */
import { type Right, toRights } from "../../kube/access/rights.ts";
import { DEX_GROUP, DEX_KINDS, DEX_VERBS } from "./services/auth/words.ts";

/** Verbs that it takes to apply an object and to delete it again. An object that is applied and missing is created. */
const APPLY_VERBS = ["get", "create", "patch", "delete"] as const;

const SIP = { group: "airship.airshipit.org", resource: "sipclusters" };
const RBAC = "rbac.authorization.k8s.io";
const OF_HOSTS = { scope: "hosts" } as const;
const OF_TENANTS = { scope: "tenants" } as const;
const OPTIONAL = { mandatory: false, ...OF_TENANTS } as const;
const PEOPLE = "to make the accounts of jump hosts and OIDC providers";

/** Rights to label hosts, to make services, and to report. */
export function listRights(): Right[] {
  return [
    ...toRights(SIP, ["patch"], "to set the finalizer of SIPClusters"),
    ...toRights({ ...SIP, subresource: "status" }, ["patch"], "to report on SIPClusters"),
    // Clusters with the admission plugin OwnerReferencesPermissionEnforcement ask for it.
    ...toRights(
      { ...SIP, subresource: "finalizers" },
      ["update"],
      "to let a SIPCluster own what is made for it",
      { mandatory: false },
    ),
    ...toRights(
      { group: "metal3.io", resource: "baremetalhosts" },
      ["get", "patch"],
      "to label BareMetalHosts, and to have them rebooted",
      OF_HOSTS,
    ),
    ...toRights(
      { group: "", resource: "secrets" },
      ["get"],
      "to read the network data of hosts, and the host keys of jump hosts",
      OF_HOSTS,
    ),
    ...toRights(
      { group: "", resource: "secrets" },
      ["create", "delete"],
      "to make the host keys of jump hosts, and to remove them",
      OF_TENANTS,
    ),
    ...toRights(
      { group: "apps", resource: "deployments" },
      APPLY_VERBS,
      "to run load balancers, jump hosts and OIDC providers",
      OF_TENANTS,
    ),
    ...toRights(
      { group: "", resource: "services" },
      APPLY_VERBS,
      "to give them node ports",
      OF_TENANTS,
    ),
    ...toRights(
      { group: "", resource: "configmaps" },
      APPLY_VERBS,
      "to make the files of load balancers and jump hosts, and for the requests of jump hosts",
      OF_TENANTS,
    ),
    ...toRights(
      { group: "policy", resource: "poddisruptionbudgets" },
      APPLY_VERBS,
      "to keep one Pod of each service while Nodes are drained",
      OF_TENANTS,
    ),
    ...toRights({ group: "", resource: "serviceaccounts" }, APPLY_VERBS, PEOPLE, OPTIONAL),
    ...toRights({ group: RBAC, resource: "roles" }, APPLY_VERBS, PEOPLE, OPTIONAL),
    ...toRights({ group: RBAC, resource: "rolebindings" }, APPLY_VERBS, PEOPLE, OPTIONAL),
    // A Role can only give what its writer has.
    ...Object.keys(DEX_KINDS).flatMap((resource) =>
      toRights(
        { group: DEX_GROUP, resource },
        DEX_VERBS,
        "to let Dex, the OIDC provider, keep its state",
        OPTIONAL,
      ),
    ),
  ];
}
