/**
 * A VM as an instance. Pure.
 * @module
 */
import type { Instance } from "../../../cloud/instance.ts";
import { toLabelValue } from "../../../core/text/label.ts";
import type { CloudStackSettings } from "../settings/config.ts";
import type { Vm } from "../wire/schema.ts";
import { toAddresses } from "./addresses.ts";
import { formatInstanceType } from "./instance_type.ts";
import { isDead, toInstanceState } from "./power.ts";
import { formatProviderId } from "./provider_id.ts";

/** The settings that instances depend on. */
export type InstanceSettings = Pick<
  CloudStackSettings,
  "addresses" | "instanceTypeStyle" | "region"
>;

/** An instance of this cloud. */
interface CloudStackInstance extends Instance {
  /** Whose it is; absent when the server does not say. A user who sees one VM of an owner sees the others, too. */
  readonly owner?: string;
  /** Whether it runs no kubelet, because it is destroyed or was never made. */
  readonly isDead?: true;
}

const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({});

/** A VM as an instance, frozen. */
export function toInstance(vm: Vm, settings: InstanceSettings): CloudStackInstance {
  const { id, state, serviceofferingname: offering } = vm;
  const zone = toLabelValue(vm.zonename ?? "");
  const region = toLabelValue(settings.region ?? "") || zone;
  const instanceType = offering && formatInstanceType(offering, settings.instanceTypeStyle);
  const owner = toOwner(vm);
  return Object.freeze({
    id,
    providerId: formatProviderId(id),
    name: vm.name ?? "",
    state: toInstanceState(state),
    ...(region !== "" && { region }),
    ...(zone !== "" && { zone }),
    ...(instanceType && { instanceType }),
    ...toAddresses(vm, settings.addresses),
    labels: NO_LABELS,
    details: Object.freeze(toDetails(vm)),
    ...(owner !== undefined && { owner }),
    ...(isDead(state) && { isDead: true as const }),
  });
}

/** The owner of an instance; `undefined` when it is not known. */
export function findOwner(instance: Instance): string | undefined {
  return "owner" in instance && typeof instance.owner === "string" ? instance.owner : undefined;
}

/** Whether an instance runs no kubelet, because it is destroyed or was never made. */
export function isDeadInstance(instance: Instance): boolean {
  return "isDead" in instance && instance.isDead === true;
}

/** A project owns what was made in it; everything else belongs to an account of a domain. */
function toOwner({ account, domainid, projectid }: Vm): string | undefined {
  if (projectid) return `project ${projectid}`;
  return account && domainid ? `account ${account} of domain ${domainid}` : undefined;
}

function toDetails(vm: Vm): Record<string, string> {
  const pairs: Record<string, string | null | undefined> = {
    state: vm.state,
    zone: vm.zonename,
    serviceOffering: vm.serviceofferingname,
    account: vm.account,
    projectId: vm.projectid,
    displayName: vm.displayname === vm.name ? undefined : vm.displayname,
  };
  const known = Object.entries(pairs).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return Object.fromEntries(known);
}
