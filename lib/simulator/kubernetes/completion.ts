/**
 * Completes objects on their way into the store: defaults, what is allocated, and why they are refused.
 * @module
 */
import { type FieldProblem, invalid } from "./api_error.ts";
import { without, type JsonObject } from "./patches/json.ts";
import { validate } from "./schema/validation.ts";
import { ServiceRules } from "./services/mod.ts";
import type { Collection } from "./store.ts";
import {
  bindingProblems,
  deploymentProblems,
  secretProblems,
  withDeploymentDefaults,
  withSecretData,
} from "./workloads.ts";
import { subjectOf, type Target } from "./writes.ts";

interface Completed {
  readonly object: JsonObject;
  readonly problems: readonly FieldProblem[];
}

/** What the server does with an object between a request and the store. */
export class Completion {
  readonly #services: ServiceRules;

  /** @param services Where Services are stored, still empty */
  constructor(services: Collection) {
    this.#services = new ServiceRules(services);
  }

  /**
   * The object as it is stored.
   *
   * @param before What it replaces; `undefined` if it is new
   * @throws ApiError 422 when it is wrong
   */
  complete(target: Target, wanted: JsonObject, before: JsonObject | undefined): JsonObject {
    const { kind } = target;
    const isFresh = before === undefined && kind.generations !== undefined;
    const { object, problems: more } = this.#fill(
      target,
      isFresh ? without(wanted, "status") : wanted,
      before,
    );
    const problems = [...validate(kind, object, before), ...more];
    if (problems.length > 0) throw invalid(subjectOf(target), problems);
    return object;
  }

  #fill(target: Target, wanted: JsonObject, before: JsonObject | undefined): Completed {
    switch (target.kind.isCustom ? "" : target.kind.kind) {
      case "Service": {
        const { service, problems } = this.#fillService(target, wanted, before);
        return { object: service, problems };
      }
      case "Deployment": {
        const object = withDeploymentDefaults(wanted);
        return { object, problems: deploymentProblems(object, before) };
      }
      case "Secret": {
        const object = withSecretData(wanted);
        return { object, problems: secretProblems(object, before) };
      }
      case "RoleBinding": {
        return { object: wanted, problems: bindingProblems(wanted, before) };
      }
      default:
        return { object: wanted, problems: [] };
    }
  }

  #fillService(
    target: Target,
    service: JsonObject,
    before: JsonObject | undefined,
  ): ReturnType<ServiceRules["create"]> {
    if (before === undefined) return this.#services.create(service);
    if (target.subresource === "status") return this.#services.updateStatus(service);
    return this.#services.update(before, service);
  }
}
