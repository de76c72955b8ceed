/**
 * A double of the metal3 provider of Cluster API: machines take hosts at random, and give them back.
 * @module
 */
import type { ApiObject, JsonObject, ObjectAccess } from "../kubernetes/mod.ts";
import { objectAt, stringAt } from "../kubernetes/patches/json.ts";
import {
  annotationsOf,
  consumerOf,
  hasImage,
  hasLabels,
  isLeaving,
  isPaused,
  pathOf,
  stateOf,
} from "./host_state.ts";
import { BARE_METAL_HOST, UNHEALTHY } from "./kinds.ts";

/** A machine that wants a host. */
interface MachinePlan {
  readonly namespace: string;
  readonly name: string;
  /** `hostSelector.matchLabels` of its template. */
  readonly hostSelector: Readonly<Record<string, string>>;
  /** Preferred, not required. */
  readonly failureDomain?: string;
}

/** A machine, and the host that it has. */
interface MachineView extends MachinePlan {
  /** `namespace/name`. Absent: it waits for one. */
  readonly host?: string;
  /** Whether it was deleted, and its host is not given back yet. */
  readonly isLeaving: boolean;
}

const CONSUMER_KIND = "Metal3Machine";
const FAILURE_DOMAIN = "infrastructure.cluster.x-k8s.io/failure-domain";
const IMAGE = { url: "https://images.example.org/node.qcow2", format: "qcow2" };

/**
 * The machines of all clusters.
 *
 * Source: `chooseHost`, `setHostSpec`, `setHostConsumerRef` and `Delete` of cluster-api-provider-metal3.
 */
export class ClusterApi {
  readonly #objects: ObjectAccess;
  readonly #pick: (count: number) => number;
  readonly #machines = new Map<string, MachinePlan>();
  readonly #leaving = new Set<string>();

  /** @param pick A whole number from 0 and below `count`, by chance */
  constructor(objects: ObjectAccess, pick: (count: number) => number) {
    this.#objects = objects;
    this.#pick = pick;
  }

  /** All machines in the order in which they came. */
  list(): readonly MachineView[] {
    return [...this.#machines].map(([key, plan]) => {
      const host = this.#findHost(plan);
      return {
        ...plan,
        ...(host !== undefined && { host: toKey(pathOf(host)) }),
        isLeaving: this.#leaving.has(key),
      };
    });
  }

  add(plan: MachinePlan): void {
    this.#machines.set(toKey(plan), plan);
  }

  /** Deletes a machine: it stays until its host is deprovisioned. */
  remove(machine: Pick<MachinePlan, "namespace" | "name">): void {
    this.#leaving.add(toKey(machine));
  }

  /**
   * Does one step for every machine: a new one takes a host, a deleted one lets the host be cleaned and then go.
   *
   * @returns What happened, in sentences
   */
  step(): readonly string[] {
    return [...this.#machines].flatMap(([key, plan]) => {
      const host = this.#findHost(plan);
      if (this.#leaving.has(key)) return this.#release(key, plan, host);
      return host === undefined ? this.#take(plan) : [];
    });
  }

  #take(plan: MachinePlan): readonly string[] {
    const fit = this.#hosts(plan.namespace).filter((host) => isFree(host, plan));
    const { failureDomain } = plan;
    const preferred = fit.filter(
      (host) => failureDomain !== undefined && hasLabels(host, { [FAILURE_DOMAIN]: failureDomain }),
    );
    const choices = preferred.length > 0 ? preferred : fit;
    const host = choices[this.#pick(choices.length)];
    if (host === undefined) return [];
    const { namespace, name } = plan;
    const apiVersion = "infrastructure.cluster.x-k8s.io/v1beta1";
    this.#patch(host, {
      online: true,
      image: IMAGE,
      consumerRef: { apiVersion, kind: CONSUMER_KIND, namespace, name },
    });
    return [`${name} took ${host.metadata.name}`];
  }

  #release(key: string, { name }: MachinePlan, host: ApiObject | undefined): readonly string[] {
    if (host === undefined) {
      this.#machines.delete(key);
      this.#leaving.delete(key);
      return [`${name} is gone`];
    }
    if (isPaused(host)) return [];
    if (hasImage(host)) {
      this.#patch(host, { image: null, online: false });
      return [`${name} has ${host.metadata.name} cleaned`];
    }
    if (["provisioning", "provisioned", "deprovisioning"].includes(stateOf(host))) return [];
    this.#patch(host, { consumerRef: null });
    return [`${name} gave ${host.metadata.name} back`];
  }

  #findHost({ namespace, name }: MachinePlan): ApiObject | undefined {
    return this.#hosts(namespace).find((host) => {
      const consumer = consumerOf(host);
      if (consumer?.kind !== CONSUMER_KIND) return false;
      return consumer.namespace === namespace && consumer.name === name;
    });
  }

  #hosts(namespace: string): readonly ApiObject[] {
    return this.#objects.list(BARE_METAL_HOST.plural, namespace);
  }

  #patch(host: ApiObject, spec: JsonObject): void {
    this.#objects.patch(BARE_METAL_HOST.plural, pathOf(host), { spec });
  }
}

/** Whether a machine may take a host: exactly what the provider asks. */
function isFree(host: ApiObject, { hostSelector }: MachinePlan): boolean {
  if (consumerOf(host) !== undefined || isLeaving(host) || isPaused(host)) return false;
  if (UNHEALTHY in annotationsOf(host)) return false;
  if (stringAt(objectAt(host, "status"), "errorMessage") !== "") return false;
  return hasLabels(host, hostSelector) && ["available", "ready"].includes(stateOf(host));
}

function toKey({ namespace, name }: Pick<MachinePlan, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}
