/**
 * Writes what a plan wants a Service to show: addresses, annotations and the record.
 * @module
 */
import type { LoadBalancerPlan } from "../../../cloud/capabilities/load_balancers.ts";
import { toKey } from "../../../kube/cache/store.ts";
import type { Service } from "../../../kube/kinds/service.ts";
import type { Progress } from "../progress.ts";
import { showsAnnotations, showsIngress } from "../spec/status.ts";
import { RECORD } from "../words.ts";
import type { ManagedServices } from "./managed.ts";
import type { ServiceWriter, ShownState } from "./service_writer.ts";

/** What a {@linkcode ShownWriter} needs. */
interface ShownWriterOptions {
  readonly writer: Pick<ServiceWriter, "dropsIpMode" | "setAnnotations" | "setIngress">;
  readonly managed: ManagedServices;
}

/** The attempt that writes. */
interface ShownAttempt {
  readonly progress: Pick<Progress, "check">;
  readonly run: { readonly signal: AbortSignal };
}

/** Writes only what differs. */
export class ShownWriter {
  readonly #options: ShownWriterOptions;

  constructor(options: ShownWriterOptions) {
    this.#options = options;
  }

  /**
   * Writes the status that a plan asks for, with the annotations.
   *
   * @returns Whether it wrote
   * @throws {KubeError} as every write of {@linkcode ServiceWriter}
   */
  async show(
    service: Service,
    plan: LoadBalancerPlan,
    { progress, run }: ShownAttempt,
  ): Promise<boolean> {
    const { writer, managed } = this.#options;
    const { ingress } = plan;
    if (ingress === undefined) return false;
    managed.note(service).ingress = ingress;
    const annotations = toAnnotations(plan);
    const isShown = showsIngress(service, ingress, writer);
    if (isShown && showsAnnotations(service, annotations)) return false;
    progress.check({ summary: `show ${JSON.stringify(ingress)} in the status` });
    await writer.setIngress(service, { ingress, annotations }, run.signal);
    return true;
  }

  /**
   * Writes the annotations of a Service that waits, and leaves its status. Another program that writes them, too, is
   * corrected as often as one that writes the status.
   *
   * @returns Whether it wrote
   * @throws {KubeError} as every write of {@linkcode ServiceWriter}
   */
  async hold(
    service: Service,
    plan: Pick<LoadBalancerPlan, "annotations" | "record">,
    { progress, run }: ShownAttempt,
  ): Promise<boolean> {
    const { writer, managed } = this.#options;
    const annotations = toAnnotations(plan);
    if (showsAnnotations(service, annotations)) return false;
    if (managed.noteDrift(toKey(service)) !== "restore") return false;
    progress.check({ summary: `keep ${Object.keys(annotations).join(" and ")} as it must be` });
    await writer.setAnnotations(service, annotations, run.signal);
    return true;
  }
}

function toAnnotations({
  annotations,
  record,
}: Pick<LoadBalancerPlan, "annotations" | "record">): NonNullable<ShownState["annotations"]> {
  return { ...annotations, ...(record !== undefined && { [RECORD]: record }) };
}
