/**
 * Writes Services: finalizer, status and the record of a cloud, all through the status subresource.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { LoadBalancerIngress } from "../../cloud/capabilities/load_balancers.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { isKubeError, KubeError } from "../../kube/api/errors.ts";
import {
  hasCloudLoadBalancer,
  LOAD_BALANCER_CLEANUP,
  type Service,
  SERVICES,
} from "../../kube/kinds/service.ts";
import { trimObject } from "../../kube/kinds/resource.ts";
import { hasDroppedIpMode, showsAnnotations, showsIngress } from "./spec.ts";
import { RECORD } from "./words.ts";

/** What a {@linkcode ServiceWriter} needs. */
interface ServiceWriterOptions {
  readonly client: Pick<KubeClient, "patch" | "read">;
  /** The fields that a plan reads. If another program changed one of them, the write waits for a new plan. */
  readonly inputs: (service: Service) => readonly unknown[];
}

/** What a Service shows of its load balancer. */
export interface ShownState {
  readonly ingress?: readonly LoadBalancerIngress[];
  readonly annotations?: Readonly<Record<string, string | undefined>>;
}

/** The body of a merge patch, from the Service as it is. */
type ToBody = (service: Service) => { readonly metadata?: object; readonly status?: object };

/** How often a write is repeated because other programs write the same Service. */
const TRIES_MAX = 4;

/**
 * Patches Services with the resourceVersion of the plan. If another program wrote fields that do not matter here, it
 * reads the Service and tries again.
 */
export class ServiceWriter {
  readonly #options: ServiceWriterOptions;
  #dropsIpMode = false;

  constructor(options: ServiceWriterOptions) {
    this.#options = options;
  }

  /** Whether the API server does not keep `ipMode`: known from its last answer. */
  get dropsIpMode(): boolean {
    return this.#dropsIpMode;
  }

  /**
   * Adds the finalizer.
   *
   * @throws {KubeError} as every write here; `conflict` if the Service changed in what matters, `notFound` if it is
   * gone, also if another one has its name
   */
  async addFinalizer(service: Service, signal: AbortSignal): Promise<void> {
    const toBody: ToBody = ({ metadata: { finalizers = [] } }) => ({
      metadata: { finalizers: [...new Set([...finalizers, LOAD_BALANCER_CLEANUP])] },
    });
    await this.#patch(service, { toBody, isSame: this.#isSameInput(service) }, signal);
  }

  /** Replaces the status, and sets annotations; `undefined` removes one. What is not named stays. */
  async show(
    service: Service,
    { ingress, annotations = {} }: ShownState,
    signal: AbortSignal,
  ): Promise<void> {
    const toBody: ToBody = () => ({
      metadata: { annotations: toAnnotationPatch(annotations) },
      ...(ingress && { status: toStatus(ingress) }),
    });
    const isSame = this.#isSameInput(service);
    const answer = await this.#patch(service, { toBody, isSame }, signal);
    if (ingress?.some((one) => "ip" in one && one.ipMode !== undefined)) {
      this.#dropsIpMode = hasDroppedIpMode(answer, ingress);
    }
  }

  /** Keeps or removes the record of the cloud, also if other fields change meanwhile. */
  async setRecord(service: Service, text: string | undefined, signal: AbortSignal): Promise<void> {
    const toBody: ToBody = () => ({ metadata: { annotations: { [RECORD]: text ?? null } } });
    const known = service.metadata.annotations?.[RECORD];
    const isSame = ({ metadata }: Service): boolean => metadata.annotations?.[RECORD] === known;
    await this.#patch(service, { toBody, isSame }, signal);
  }

  /**
   * Removes the finalizer, the record and the status at once. A Service that is gone is right, too. One that has none
   * of them is not written.
   *
   * @param annotations Of other programs; `undefined` removes one
   */
  async release(
    service: Service,
    annotations: ShownState["annotations"],
    signal: AbortSignal,
  ): Promise<void> {
    const wanted = { ...annotations, [RECORD]: undefined };
    const isDone = showsIngress(service, [], this) && showsAnnotations(service, wanted);
    if (isDone && !hasCloudLoadBalancer(service)) return;
    const changes = toAnnotationPatch(wanted);
    const toBody: ToBody = ({ metadata: { finalizers = [] } }) => ({
      metadata: {
        finalizers: finalizers.filter((one) => one !== LOAD_BALANCER_CLEANUP),
        annotations: changes,
      },
      status: toStatus([]),
    });
    try {
      await this.#patch(service, { toBody, isSame: this.#isSameInput(service) }, signal);
    } catch (error) {
      if (!isKubeError(error, "notFound")) throw error;
    }
  }

  #isSameInput(service: Service): (fresh: Service) => boolean {
    const { inputs } = this.#options;
    return (fresh) => isDeepStrictEqual(inputs(fresh), inputs(service));
  }

  async #patch(
    service: Service,
    { toBody, isSame }: { readonly toBody: ToBody; readonly isSame: (fresh: Service) => boolean },
    signal: AbortSignal,
  ): Promise<Service> {
    const { client } = this.#options;
    const { name, namespace = "", uid } = service.metadata;
    let current = service;
    for (let tries = 1; ; tries += 1) {
      const { metadata, status } = toBody(current);
      const { resourceVersion } = current.metadata;
      const body = { metadata: { ...metadata, resourceVersion }, ...(status && { status }) };
      const path = { namespace, name, subresource: "status" };
      try {
        return await client.patch(SERVICES, path, { type: "merge", body }, signal);
      } catch (error) {
        if (!isKubeError(error, "conflict") || tries >= TRIES_MAX) throw error;
        const fresh = trimObject(
          SERVICES,
          await client.read(SERVICES, { namespace, name }, signal),
        );
        // Another one has its name: for the old one this is the same as an answer 404.
        if (fresh.metadata.uid !== uid) {
          throw new KubeError("notFound", error.message, { cause: error });
        }
        if (!isSame(fresh)) throw error;
        // The write may have been done although its answer was lost.
        if (changesNothing(fresh, toBody(fresh))) return fresh;
        current = fresh;
      }
    }
  }
}

/** Whether a merge patch leaves an object as it is. */
function changesNothing(object: object, patch: object): boolean {
  const fields = new Map(Object.entries(object));
  return Object.entries(patch).every(([name, value]: [string, unknown]) => {
    const now: unknown = fields.get(name);
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
      return isDeepStrictEqual(now ?? null, value);
    }
    return changesNothing(typeof now === "object" && now !== null ? now : {}, value);
  });
}

function toStatus(ingress: readonly LoadBalancerIngress[]): object {
  return { loadBalancer: { ingress: ingress.length === 0 ? null : ingress } };
}

/** In a merge patch, `null` removes a field. */
function toAnnotationPatch(
  annotations: NonNullable<ShownState["annotations"]>,
): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [key, value ?? null]),
  );
}
