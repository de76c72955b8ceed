/**
 * In which version the API server serves PodDisruptionBudgets: `policy/v1` since Kubernetes 1.21, before that
 * `policy/v1beta1`, which Kubernetes 1.25 removed.
 * @module
 */
import type { KubeClient } from "../../../../kube/api/client.ts";
import { findServing } from "../../../../kube/cache/discovery.ts";
import { POD_DISRUPTION_BUDGETS } from "../owned_kinds.ts";
import type { OwnedObject } from "../types.ts";

const VERSIONS = [POD_DISRUPTION_BUDGETS.apiVersion, "policy/v1beta1"];

/** Asks once, and again after {@linkcode BudgetVersion.forget}. */
export class BudgetVersion {
  readonly #client: KubeClient;
  #version: string | undefined;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /**
   * The object in the version that is served; `undefined` if none is. Other kinds stay as they are.
   *
   * @throws {KubeError} if the API server does not say what it serves
   */
  async fit<T extends OwnedObject>(object: T, signal: AbortSignal): Promise<T | undefined> {
    const { resource, body } = object;
    if (resource.kind !== POD_DISRUPTION_BUDGETS.kind) return object;
    this.#version ??= await this.#find(signal);
    const apiVersion = this.#version;
    if (apiVersion === undefined) return undefined;
    return { ...object, resource: { ...resource, apiVersion }, body: { ...body, apiVersion } };
  }

  /** Asks again at the next call: the API server was replaced by another version. */
  forget(): void {
    this.#version = undefined;
  }

  async #find(signal: AbortSignal): Promise<string | undefined> {
    for (const apiVersion of VERSIONS) {
      const resource = { ...POD_DISRUPTION_BUDGETS, apiVersion };
      if ((await findServing(this.#client, resource, signal)) === "served") return apiVersion;
    }
    return undefined;
  }
}
