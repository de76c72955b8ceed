/**
 * Rights that the Vino controller needs in addition to those of every controller.
 *
 * Hosts and Secrets of a Vino are beside it, so the rights on them are needed only where Vinos are. On all namespaces,
 * these rights make its account as good as cluster-admin: who can write and read any Secret gets the token of any
 * account. RBAC can name an object only if its name is known before. Landfall never lists or watches Secrets.
 * @module
 */
import { type Right, toRights } from "../../kube/access/rights.ts";
import type { FlagValues } from "../definition.ts";
import { findRedfishService } from "./redfish/flags.ts";
import { toSliceName } from "./redfish/words.ts";

const VINO = { group: "airship.airshipit.org", resource: "vinoes" };
const VINO_MACHINE = { group: "airship.airshipit.org", resource: "vinomachines" };
const OF_TENANTS = { scope: "tenants" } as const;
const IP_POOL = { group: "airship.airshipit.org", resource: "ippools" };

/** Rights to make machines known, and to report. */
export function listRights({ flags }: { readonly flags: FlagValues }): Right[] {
  return [
    ...toRights(VINO, ["get"], "to see right before machines change that a Vino is as it was"),
    ...toRights(VINO, ["patch"], "to set the finalizer of Vinos"),
    ...toRights({ ...VINO, subresource: "status" }, ["patch"], "to report on Vinos"),
    ...toRights(
      VINO_MACHINE,
      ["get", "create", "patch", "delete"],
      "to keep what must be known of each machine after a restart",
      OF_TENANTS,
    ),
    ...toRights(
      { ...VINO_MACHINE, subresource: "status" },
      ["patch"],
      "to report on machines, and to record those that are being made",
      OF_TENANTS,
    ),
    // Clusters with the admission plugin OwnerReferencesPermissionEnforcement ask for it.
    ...toRights(
      { ...VINO, subresource: "finalizers" },
      ["update"],
      "to let a Vino own what is made for it",
      { mandatory: false },
    ),
    ...toRights(
      { group: "metal3.io", resource: "baremetalhosts" },
      ["get", "create", "patch", "delete"],
      "to publish machines as BareMetalHosts, and to take those back that are not wanted any more",
      OF_TENANTS,
    ),
    ...toRights(
      { group: "", resource: "secrets" },
      ["get"],
      "to read user data for cloud-init and credentials of management controllers",
      OF_TENANTS,
    ),
    ...toRights(
      { group: "", resource: "secrets" },
      ["create", "patch"],
      "to write network data, credentials and boot overrides of BareMetalHosts",
      OF_TENANTS,
    ),
    ...toRights(
      { group: "", resource: "namespaces" },
      ["get"],
      "to see that a namespace is deleted with its Vinos: then the deletion of many machines needs no confirmation",
      { ...OF_TENANTS, mandatory: false },
    ),
    ...toRights(IP_POOL, ["create", "patch"], "to record which addresses machines have"),
    ...listRedfishRights(flags),
  ];
}

/**
 * Rights to point the Service for Redfish to this process, with these flags. The manifests of the controller alone do
 * not grant them: the component of the manifests and the chart do, together with the Service.
 */
function listRedfishRights(flags: FlagValues): Right[] {
  const found = findRedfishService(flags);
  if (found === undefined) return [];
  const { namespace, service, ip } = found;
  const slices = { group: "discovery.k8s.io", resource: "endpointslices", namespace };
  const purpose = "to lead clients of Redfish to the process that leads";
  return [
    ...toRights(slices, ["create"], purpose),
    ...toRights({ ...slices, name: toSliceName(service, ip) }, ["patch"], purpose),
  ];
}
