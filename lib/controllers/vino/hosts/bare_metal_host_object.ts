/**
 * The BareMetalHost of a machine as it is created. Pure.
 *
 * Afterwards metal3, Cluster API and users own its spec: Landfall only keeps labels true, and details of the hardware
 * that metal3 has not read yet, and adds a management controller to a host that has none. The host has no owner
 * reference: `clusterctl move` leaves behind what is owned by an object that it does not move, and the metal3 provider
 * of Cluster API makes itself the owner of hosts that it uses.
 * @module
 */
import type { MachineOwner } from "../../../cloud/capabilities/machines.ts";
import type { MachinePowerState } from "../../../cloud/capabilities/machine_power.ts";
import { BARE_METAL_HOSTS, HARDWARE_DETAILS } from "../../../kube/kinds/bare_metal_host.ts";
import type { KubeObject } from "../../../kube/kinds/resource.ts";
import { formatHardwareDetails } from "./hardware_details.ts";
import { toCredentialsName, toNetworkDataName } from "./names.ts";
import type { HostPatch } from "./plan.ts";
import type { HostBmc, WantedHost } from "./types.ts";
import { LABELS_RECORD, MACHINE_ID, MACHINE_NAME } from "./words.ts";

/** Annotation: metal3 does not look inside the host. */
const NO_INSPECTION = { "inspect.metal3.io": "disabled" } as const;

/** Without one metal3 takes UEFI, and a machine with another firmware can then not be inspected. */
const BOOT_MODES = { bios: "legacy", uefi: "UEFI" } as const;

/** The part of a host's spec about its management controller. */
interface BmcSpec {
  readonly address: string;
  readonly credentialsName: string;
  readonly disableCertificateVerification?: true;
}

/** The host of a machine, whole, as it is created. */
export function toBareMetalHost(
  { namespace }: Pick<MachineOwner, "namespace">,
  host: WantedHost,
): KubeObject & { readonly spec: object } {
  const { apiVersion, kind } = BARE_METAL_HOSTS;
  const { name, bootMac, rootDeviceName, isExternallyProvisioned, bmc, labels } = host;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      labels: labels.values,
      annotations: {
        ...toMachineAnnotations(host),
        ...toRecordAnnotation([...labels.recorded].filter((key) => key in labels.values)),
        ...toInspectionAnnotations(host),
      },
    },
    spec: {
      online: bmc !== undefined && isOn(host.power),
      networkData: { name: toNetworkDataName(name), namespace },
      ...(bootMac !== undefined && { bootMACAddress: bootMac }),
      ...(host.firmware !== "unknown" && { bootMode: BOOT_MODES[host.firmware] }),
      rootDeviceHints: { deviceName: rootDeviceName },
      ...(isExternallyProvisioned && { externallyProvisioned: true }),
      ...(bmc && { bmc: toBmcSpec(name, bmc) }),
    },
  };
}

/** The merge patch of a planned change, for the version of the host that the plan is for. */
export function toHostPatchBody(
  resourceVersion: string,
  wanted: WantedHost,
  { labels, record, namesMachine, describesMachine, bmc }: HostPatch,
): object {
  const annotations = {
    ...(namesMachine && toMachineAnnotations(wanted)),
    ...(describesMachine && { [HARDWARE_DETAILS]: formatHardwareDetails(wanted) }),
    ...(record && { [LABELS_RECORD]: formatRecord(record) ?? null }),
  };
  return {
    metadata: {
      resourceVersion,
      ...(labels && { labels }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    ...(bmc &&
      wanted.bmc && {
        spec: {
          bmc: toBmcSpec(wanted.name, wanted.bmc),
          // Until now nothing but a user could switch it, so this says how it is.
          ...(bmc === "first" && { online: isOn(wanted.power) }),
        },
      }),
  };
}

/** How metal3 reaches the management controller of a host. */
function toBmcSpec(host: string, { address, skipsCertificateCheck }: HostBmc): BmcSpec {
  return {
    address,
    credentialsName: toCredentialsName(host),
    ...(skipsCertificateCheck && { disableCertificateVerification: true }),
  };
}

/**
 * What `spec.online` must say when metal3 gets power over a machine: it would switch a machine off that runs, and a
 * machine on that is off. If the power is not known, off would be the worse mistake.
 */
export function isOn(power: MachinePowerState): boolean {
  return power !== "stopped" && power !== "suspended";
}

/** The annotations by which Landfall knows the machine of a host. */
function toMachineAnnotations({
  machineName,
  machineId,
}: Pick<WantedHost, "machineName" | "machineId">): Readonly<Record<string, string>> {
  return { [MACHINE_NAME]: machineName, [MACHINE_ID]: machineId };
}

/** The value of the annotation that records labels; `undefined` without any. */
function formatRecord(keys: Iterable<string>): string | undefined {
  const text = [...keys].toSorted().join(",");
  return text === "" ? undefined : text;
}

function toRecordAnnotation(keys: Iterable<string>): Readonly<Record<string, string>> {
  const record = formatRecord(keys);
  return record === undefined ? {} : { [LABELS_RECORD]: record };
}

/** metal3 inspects only hosts that it can start and that it is to install. */
function toInspectionAnnotations(host: WantedHost): Readonly<Record<string, string>> {
  const details = formatHardwareDetails(host);
  return details === undefined ? {} : { ...NO_INSPECTION, [HARDWARE_DETAILS]: details };
}
