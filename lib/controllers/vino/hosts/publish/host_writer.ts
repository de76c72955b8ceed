/**
 * Writes BareMetalHosts of machines. Each write is for the host as the plan saw it.
 * @module
 */
import type { MachineOwner } from "../../../../cloud/capabilities/machines.ts";
import type { Clock } from "../../../../core/clock.ts";
import { Contest } from "../../../../engine/throttle.ts";
import { type KubeClient, readIfPresent } from "../../../../kube/api/client.ts";
import { isKubeError, KubeError } from "../../../../kube/api/errors.ts";
import { type Key, toKey } from "../../../../kube/cache/store.ts";
import {
  BARE_METAL_HOSTS,
  type BareMetalHost,
  HARDWARE_DETAILS,
} from "../../../../kube/kinds/bare_metal_host.ts";
import { findDamage, trimObject, type KubeObject } from "../../../../kube/kinds/resource.ts";
import { describeRefusal } from "../../../kinds/problems.ts";
import { toHostFacts } from "../host_facts.ts";
import { describeForeign, type HostPatch, formatHardwareDetails } from "../plan.ts";
import type { WantedHost, HostBmc } from "../types.ts";
import type { MachinePowerState } from "../../../../cloud/capabilities/machine_power.ts";
import { toCredentialsName, toNetworkDataName } from "../names.ts";
import { LABELS_RECORD, MACHINE_ID, MACHINE_NAME } from "../words.ts";

/**
 * How a write ended.
 *
 * - `done`: as planned
 * - `overtaken`: the host is not as the plan saw it; plan again soon
 * - `held`: another program changes it back again and again; leave it alone for `pauseMs`
 * - `taken`, `refused`: `why` says what stands in the way
 */
export type WriteResult =
  | { readonly kind: "done"; readonly uid: string | undefined }
  | { readonly kind: "overtaken" }
  | { readonly kind: "held"; readonly pauseMs: number }
  | { readonly kind: "taken" | "refused"; readonly why: string };

type Client = Pick<KubeClient, "read" | "create" | "patch" | "delete">;

const DONE: WriteResult = { kind: "done", uid: undefined };
const OVERTAKEN: WriteResult = { kind: "overtaken" };

/** Writes hosts. Every method throws {@linkcode KubeError} if another try may help. */
export class HostWriter {
  readonly #client: Client;
  readonly #contest: Contest;
  /** `UID of the Vino`, a blank and the name of a host that does not exist. */
  readonly #proven = new Set<string>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#contest = new Contest(clock);
  }

  /** Whether the API server itself said that a Vino has no host of this name, and none was made since. */
  isProvenGone({ uid }: MachineOwner, name: string): boolean {
    return this.#proven.has(`${uid} ${name}`);
  }

  /** Notes that the API server said so, and that nothing is left to do for the host. */
  noteGone({ uid }: MachineOwner, name: string): void {
    this.#proven.add(`${uid} ${name}`);
  }

  /** Asks the API server for the host of a name. */
  async readForProof(
    { namespace }: MachineOwner,
    name: string,
    signal: AbortSignal,
  ): Promise<BareMetalHost | undefined> {
    const path = { namespace, name };
    const answer = await readIfPresent(this.#client, BARE_METAL_HOSTS, path, signal);
    const damage = answer && findDamage(BARE_METAL_HOSTS, answer);
    if (damage !== undefined)
      throw new KubeError("unavailable", `Cannot use BareMetalHost ${name}: ${damage}`);
    return answer && trimObject(BARE_METAL_HOSTS, answer);
  }

  /** Forgets a proof: the host exists, or is being made. */
  forgetProof({ uid }: MachineOwner, name: string): void {
    this.#proven.delete(`${uid} ${name}`);
  }

  /** Forgets a Vino that is gone. */
  forgetVino(vinoUid: string): void {
    for (const proof of this.#proven)
      if (proof.startsWith(`${vinoUid} `)) this.#proven.delete(proof);
  }

  /** Forgets a host that does not exist. */
  forget(key: Key): void {
    this.#contest.forget(key);
  }

  /** Makes a host. @returns With its UID */
  async create(owner: MachineOwner, wanted: WantedHost, signal: AbortSignal): Promise<WriteResult> {
    const { namespace, uid } = owner;
    const { name } = wanted;
    const body = toBareMetalHost(owner, wanted);
    this.forgetProof(owner, name);
    try {
      const host = await this.#client.create(BARE_METAL_HOSTS, { namespace }, body, signal);
      return { kind: "done", uid: host.metadata.uid };
    } catch (error) {
      if (!isKubeError(error, "alreadyExists")) return toResult(error);
    }
    const path = { namespace, name };
    const live = await readIfPresent(this.#client, BARE_METAL_HOSTS, path, signal);
    const facts = live && toHostFacts(live);
    const isForeign = facts !== undefined && facts.vinoUid !== uid;
    return isForeign ? { kind: "taken", why: describeForeign(facts) } : OVERTAKEN;
  }

  /** Changes a host. */
  async patch(
    host: BareMetalHost,
    wanted: WantedHost,
    patch: HostPatch,
    signal: AbortSignal,
  ): Promise<WriteResult> {
    const { namespace = "", name, resourceVersion } = host.metadata;
    if (resourceVersion === undefined) return OVERTAKEN;
    const key = toKey(host);
    const pauseMs = this.#contest.pauseMs(key);
    if (pauseMs > 0) return { kind: "held", pauseMs };
    const body = toHostPatchBody(resourceVersion, wanted, patch);
    try {
      const path = { namespace, name };
      const change = { type: "merge", body } as const;
      await this.#client.patch(BARE_METAL_HOSTS, path, change, signal);
      this.#contest.noteRound(key);
      return DONE;
    } catch (error) {
      return toResult(error);
    }
  }

  /** Deletes a host, and no other of its name. */
  async delete(host: BareMetalHost, signal: AbortSignal): Promise<WriteResult> {
    const { namespace = "", name, uid, resourceVersion } = host.metadata;
    if (uid === undefined || resourceVersion === undefined) return OVERTAKEN;
    const path = { namespace, name };
    try {
      await this.#client.delete(BARE_METAL_HOSTS, path, { uid, resourceVersion }, signal);
    } catch (error) {
      if (!isKubeError(error, "notFound")) return toResult(error);
    }
    return DONE;
  }
}

/** @throws all errors that another try may end */
function toResult(error: unknown): WriteResult {
  if (!(error instanceof KubeError)) throw error;
  switch (error.kind) {
    case "conflict":
    case "alreadyExists":
      return OVERTAKEN;
    case "notFound":
    case "forbidden":
    case "invalid":
      return { kind: "refused", why: describeRefusal(error, BARE_METAL_HOSTS.kind) };
    default:
      throw error;
  }
}

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
