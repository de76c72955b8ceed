/**
 * Services as the API server treats them: defaults, what it allocates, what it refuses.
 * @module
 */
import type { FieldProblem } from "../api_error.ts";
import { stringAt, type JsonObject } from "../patches/json.ts";
import type { Collection } from "../store.ts";
import { ServiceAllocation } from "./allocation.ts";
import { withDefaults } from "./defaults.ts";
import { chooseFamilies } from "./families.ts";
import { specOf, textsAt, typeOf } from "./service.ts";
import { dropUseless, keepAllocated } from "./updates.ts";
import { ingressProblems, serviceProblems } from "./validation.ts";

/** A Service as it would be stored, and why it may not be. */
interface Completed {
  readonly service: JsonObject;
  readonly problems: readonly FieldProblem[];
}

/** What differs between clusters. */
export interface ServiceRuleOptions {
  /** Ranges of cluster IPs, one or one of each family. @default ["10.96.0.0/12"] */
  readonly clusterIpRanges?: readonly string[];
  /** First and last node port. @default [30000, 32767] */
  readonly nodePortRange?: readonly [number, number];
}

/** The rules for Services of one cluster. */
export class ServiceRules {
  readonly #allocation: ServiceAllocation;

  /** @param services Where they are stored, still empty */
  constructor(services: Collection, options: ServiceRuleOptions = {}) {
    this.#allocation = new ServiceAllocation(services, {
      clusterIps: options.clusterIpRanges ?? ["10.96.0.0/12"],
      nodePorts: options.nodePortRange ?? [30_000, 32_767],
    });
  }

  /** A new Service. It begins without a status. */
  create(service: JsonObject): Completed {
    return this.#complete({ ...service, status: {} }, undefined);
  }

  /** A Service after a write that is not of its status. */
  update(before: JsonObject, after: JsonObject): Completed {
    const typed = { ...after, spec: { ...specOf(after), type: typeOf(after) || "ClusterIP" } };
    return this.#complete(dropUseless(before, keepAllocated(before, typed)), before);
  }

  /** A Service after a write of its status. */
  updateStatus(after: JsonObject): Completed {
    const service = withDefaults(after);
    return { service, problems: ingressProblems(service) };
  }

  #complete(wish: JsonObject, before: JsonObject | undefined): Completed {
    const service = withClusterIps(withDefaults(wish));
    const problems = serviceProblems(service, before);
    if (problems.length > 0) return { service, problems };
    const ported = this.#allocation.withNodePorts(service, before);
    const addressed = this.#withAddresses(ported.service, before);
    return { ...addressed, problems: [...ported.problems, ...addressed.problems] };
  }

  #withAddresses(service: JsonObject, before: JsonObject | undefined): Completed {
    if (typeOf(service) === "ExternalName") return { service, problems: [] };
    const chosen = chooseFamilies(service, this.#allocation.families);
    if (chosen.problems.length > 0) return { service, problems: chosen.problems };
    const { families, policy } = chosen;
    const allocated = this.#allocation.withClusterIps(service, families, before);
    const spec = { ...specOf(allocated.service), ipFamilies: families, ipFamilyPolicy: policy };
    return { ...allocated, service: { ...allocated.service, spec } };
  }
}

/** `clusterIP` and the first of `clusterIPs` are the same: what names only one names both. */
function withClusterIps(service: JsonObject): JsonObject {
  const spec = specOf(service);
  const [one, list] = [stringAt(spec, "clusterIP"), textsAt(spec, "clusterIPs")];
  if (one === "" || list[0] === one) return service;
  return { ...service, spec: { ...spec, clusterIPs: [one] } };
}
