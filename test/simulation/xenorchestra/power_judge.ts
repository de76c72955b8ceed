/**
 * Whether a process may take a Node out of service: never while its machine runs.
 * @module
 */
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { XenOrchestraTruth } from "./truth.ts";
import type { Cloud, Surroundings } from "../world/cloud.ts";

/** What was true of a machine when the cloud answered a process about it alone. */
interface Answer {
  readonly asker: string;
  readonly vmId: string;
  readonly atMs: number;
  readonly isOff: boolean;
}

/** A change of a Node. */
interface Taken {
  readonly before: Node;
  readonly after: Node;
  /** Whether the author could not know better than that a machine is off. */
  readonly isExcused: (vmId: string) => boolean;
}

/** Longest time between the answer and the arrival of the write: that of one reconcile. */
const RECONCILE_MS = 60_000;
const KEY = "node.kubernetes.io/out-of-service";

/** Whether a Node is out of service. */
function isOutOfService({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === KEY) ?? false;
}

/** What machines it has, and whether they run. */
export interface Powering extends Pick<Cloud, "findAsked" | "providerId"> {
  readonly truth: XenOrchestraTruth;
}

/** Follows what the cloud says of single machines. */
export class PowerJudge {
  readonly #cloud: Powering;
  readonly #world: Surroundings;
  #answers: Answer[] = [];

  constructor(cloud: Powering, world: Surroundings) {
    this.#cloud = cloud;
    this.#world = world;
  }

  /** Takes in an answer of the cloud. */
  noteAnswer(asker: string, request: Request): void {
    const vmId = this.#cloud.findAsked(request);
    if (vmId === undefined) return;
    const atMs = this.#world.timeline.monotonic();
    this.#answers = this.#answers.filter((one) => one.atMs >= atMs - RECONCILE_MS);
    this.#answers.push({ asker, vmId, atMs, isOff: this.#isOff(vmId) });
  }

  /** Says what speaks against a change by which a process took a Node out of service; nothing for any other change. */
  listDoubts(author: string, { before, after, isExcused }: Taken): string[] {
    if (isOutOfService(before) || !isOutOfService(after)) return [];
    const ready = before.status?.conditions?.find(({ type }) => type === "Ready");
    const isKubeletReporting = ready !== undefined && ready.status !== "Unknown";
    const vmId = this.#cloud.providerId.exec(before.spec?.providerID ?? "")?.[1] ?? "";
    const nowMs = this.#world.timeline.monotonic();
    const last = this.#answers.findLast(
      (one) => one.asker === author && one.vmId === vmId && nowMs - one.atMs <= RECONCILE_MS,
    );
    const doubts = isKubeletReporting ? ["its kubelet reports"] : [];
    if (last === undefined) doubts.push("its machine was not asked for right before");
    else if (!last.isOff && !isExcused(vmId)) doubts.push("its machine was not off");
    return doubts;
  }

  /** Whether nothing of a machine runs, wherever it is shown: it is halted, or there is none. */
  #isOff(vmId: string): boolean {
    const vm = this.#cloud.truth.find(vmId);
    return vm === undefined || vm["power_state"] === "Halted";
  }
}
