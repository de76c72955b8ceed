/**
 * Hosts in racks, as ViNO or a person registers them: labels, network data, credentials of the BMC.
 * @module
 */
import type { ApiObject, JsonObject, ObjectAccess, ObjectName } from "../kubernetes/mod.ts";
import { BARE_METAL_HOST, HOST_FINALIZER } from "./kinds.ts";

/** Keys of the labels that tell where a host is and what it is for. */
export const HOST_LABELS = {
  flavor: "vino.airshipit.org/flavor",
  rack: "vino.airshipit.org/rack",
  host: "vino.airshipit.org/host",
} as const;

/** A host that is to be registered. */
interface HostPlan {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly networks: readonly HostNetwork[];
}

/** A rack: how many hosts of each flavor it holds. */
export interface RackPlan {
  readonly name: string;
  readonly flavors: Readonly<Record<string, number>>;
}

/** The network whose addresses services use. */
export const OAM_NETWORK = "oam-ipv4";

/** Plans hosts `<rack>-<flavor>-<n>`, each with a label of its own for its machine and an address of 10.23.0.0/16. */
export function planHosts(namespace: string, racks: readonly RackPlan[]): readonly HostPlan[] {
  return racks.flatMap((rack, rackIndex) => {
    let slot = 0;
    return Object.entries(rack.flavors).flatMap(([flavor, count]) =>
      Array.from({ length: count }, (_, index): HostPlan => {
        slot += 1;
        const name = `${rack.name}-${flavor}-${index + 1}`;
        const { flavor: flavorKey, rack: rackKey, host: hostKey } = HOST_LABELS;
        return {
          namespace,
          name,
          labels: { [flavorKey]: flavor, [rackKey]: rack.name, [hostKey]: `${rack.name}-u${slot}` },
          networks: [{ id: OAM_NETWORK, address: `10.23.${rackIndex + 1}.${slot}` }],
        };
      }),
    );
  });
}

/** Registers a host with its Secrets. It is available at once, unless `state` says otherwise. */
export function createHost(
  objects: ObjectAccess,
  { namespace, name, labels, networks }: HostPlan,
  state: string = "available",
): ApiObject {
  const [dataName, bmcName] = [`${name}-networkdata`, `${name}-bmc-credentials`];
  createSecret(
    objects,
    { namespace, name: dataName },
    { networkData: formatNetworkData(networks) },
  );
  createSecret(objects, { namespace, name: bmcName }, { username: "root", password: "simulated" });
  objects.create(BARE_METAL_HOST.plural, {
    metadata: { namespace, name, labels, finalizers: [HOST_FINALIZER] },
    spec: {
      online: true,
      bmc: {
        address: `redfish+https://${name}.bmc.example.org/redfish/v1/Systems/System.Embedded.1`,
        credentialsName: bmcName,
      },
      networkData: { name: dataName, namespace },
    },
  });
  return patchHostStatus(
    objects,
    { namespace, name },
    {
      operationalStatus: "OK",
      errorCount: 0,
      errorMessage: "",
      poweredOn: true,
      provisioning: { state, ID: "" },
    },
  );
}

/** Gives a host other addresses: its Secret changes, the host does not. */
export function changeNetworks(
  objects: ObjectAccess,
  { namespace = "default", name }: ObjectName,
  networks: readonly HostNetwork[],
): void {
  const stringData = { networkData: formatNetworkData(networks) };
  objects.patch("secrets", { namespace, name: `${name}-networkdata` }, { stringData });
}

/** Reports an error of a host, as metal3's operator does when a machine does not start or its BMC does not answer. */
export function breakHost(objects: ObjectAccess, host: ObjectName, message: string): void {
  patchHostStatus(objects, host, {
    operationalStatus: "error",
    errorType: "power management error",
    errorMessage: message,
    errorCount: 1,
  });
}

/** Takes the error of a host back. */
export function mendHost(objects: ObjectAccess, host: ObjectName): void {
  patchHostStatus(objects, host, {
    operationalStatus: "OK",
    errorType: null,
    errorMessage: "",
    errorCount: 0,
  });
}

/** Merges into the status of a host. @throws ApiError without such a host */
export function patchHostStatus(
  objects: ObjectAccess,
  host: ObjectName,
  status: JsonObject,
): ApiObject {
  return objects.patch(BARE_METAL_HOST.plural, { ...host, subresource: "status" }, { status });
}

function createSecret(
  objects: ObjectAccess,
  path: { readonly namespace: string; readonly name: string },
  stringData: JsonObject,
): void {
  objects.create("secrets", { metadata: path, stringData });
}

/** One network of a host. */
interface HostNetwork {
  /** `oam-ipv4`. */
  readonly id: string;
  /** With or without a prefix length. Absent: the host asks a DHCP server. */
  readonly address?: string;
}

/** The text of the Secret's key, in JSON. Each network has a link of its own. */
export function formatNetworkData(networks: readonly HostNetwork[]): string {
  const toLink = (index: number): string => `eno${index + 1}`;
  return JSON.stringify({
    links: networks.map((_, index) => ({ id: toLink(index), type: "phy", mtu: 1500 })),
    networks: networks.map(({ id, address }, index) => ({
      id,
      type: toType(address),
      link: toLink(index),
      ...(address !== undefined && { ip_address: address }),
    })),
    services: [],
  });
}

function toType(address: string | undefined): string {
  if (address === undefined) return "ipv4_dhcp";
  return address.includes(":") ? "ipv6" : "ipv4";
}
