/**
 * A double of metal3's operator: each step moves every host one state on, as its spec asks.
 * @module
 */
import type { ApiObject, ObjectAccess } from "../kubernetes/mod.ts";
import { finalizersOf } from "../kubernetes/writes.ts";
import type { Json, JsonObject } from "../kubernetes/patches/json.ts";
import { patchHostStatus } from "./hosts.ts";
import {
  annotationsOf,
  hasBmc,
  hasImage,
  isExternallyProvisioned,
  isLeaving,
  isPaused,
  pathOf,
  stateOf,
} from "./host_state.ts";
import { BARE_METAL_HOST, HARDWARE_DETAILS, HOST_FINALIZER, REBOOT } from "./kinds.ts";

/** The next state of a host without work, by the state. */
const ONWARD: Readonly<Record<string, string>> = {
  "": "registering",
  unmanaged: "registering",
  registering: "inspecting",
  inspecting: "preparing",
  preparing: "available",
  ready: "available",
};

/** What a step did. */
interface OperatorReport {
  /** `namespace/name` of hosts that are in another state now, with that state. */
  readonly moved: readonly (readonly [key: string, state: string])[];
  /** Those that were restarted because of the annotation. */
  readonly rebooted: readonly string[];
}

/** Does one step for every host. Paused ones stay as they are. Nothing to do: writes nothing. */
export function operateHosts(objects: ObjectAccess): OperatorReport {
  const moved: [string, string][] = [];
  const rebooted: string[] = [];
  for (const host of objects.list(BARE_METAL_HOST.plural)) {
    if (isPaused(host)) continue;
    const path = pathOf(host);
    adopt(objects, host);
    const key = `${path.namespace}/${path.name}`;
    if (REBOOT in annotationsOf(host)) {
      const annotations = { [REBOOT]: null };
      objects.patch(BARE_METAL_HOST.plural, path, { metadata: { annotations } });
      rebooted.push(key);
    }
    const state = nextState(host);
    if (state === "deleted") letGo(objects, host);
    else if (state !== stateOf(host)) {
      patchHostStatus(objects, path, { provisioning: { state } });
    } else continue;
    moved.push([key, state]);
  }
  return { moved, rebooted };
}

function nextState(host: ApiObject): string {
  const state = stateOf(host);
  const wantsImage = hasImage(host) && !isLeaving(host);
  switch (state) {
    case "provisioning":
      return wantsImage ? "provisioned" : "deprovisioning";
    case "provisioned":
      return wantsImage ? state : "deprovisioning";
    case "deprovisioning":
      return isLeaving(host) ? "deleting" : "available";
    case "deleting":
      return "deleted";
    case "available":
      if (isLeaving(host)) return "deleting";
      return wantsImage ? "provisioning" : state;
    default:
      if (isLeaving(host)) return hasBmc(host) ? "deleting" : "deleted";
      // Also a host that its spec calls installed: nothing can be switched on or off.
      if (!hasBmc(host)) return "unmanaged";
      if (state === "registering" && isExternallyProvisioned(host)) return "externally provisioned";
      return ONWARD[state] ?? state;
  }
}

/** Marks a new host, and takes the annotation about its hardware for the result of an inspection. */
function adopt(objects: ObjectAccess, host: ApiObject): void {
  const path = pathOf(host);
  const finalizers = finalizersOf(host);
  if (!finalizers.includes(HOST_FINALIZER) && !isLeaving(host)) {
    const metadata = { finalizers: [...finalizers, HOST_FINALIZER] };
    objects.patch(BARE_METAL_HOST.plural, path, { metadata });
  }
  const details = annotationsOf(host)[HARDWARE_DETAILS];
  if (typeof details !== "string" || !hasBmc(host)) return;
  const hardware: Json = JSON.parse(details);
  patchHostStatus(objects, path, { hardware });
  const annotations: JsonObject = { [HARDWARE_DETAILS]: null };
  objects.patch(BARE_METAL_HOST.plural, path, { metadata: { annotations } });
}

function letGo(objects: ObjectAccess, host: ApiObject): void {
  const finalizers = finalizersOf(host).filter((name) => name !== HOST_FINALIZER);
  objects.patch(BARE_METAL_HOST.plural, pathOf(host), { metadata: { finalizers } });
}
