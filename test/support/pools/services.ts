/**
 * Services in memory that address pools serve, as the controller would drive them: observe, plan, apply, write.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type {
  LoadBalancerPlan,
  LoadBalancerSpec,
} from "../../../lib/cloud/capabilities/load_balancers.ts";
import { AddressPools } from "../../../lib/cloud/pools/address_pools.ts";
import type { PoolStep } from "../../../lib/cloud/pools/plan.ts";
import { type LoadBalancerSettings, LOAD_BALANCERS } from "../../../lib/cloud/pools/settings.ts";
import { ManualClock } from "../manual_clock.ts";

/** A Service that asks for TCP 80 and one IPv4 address. */
export function toSpec(
  name: string,
  {
    namespace = "web",
    ...fields
  }: Partial<LoadBalancerSpec> & { readonly namespace?: string } = {},
): LoadBalancerSpec {
  return {
    owner: { namespace, name, uid: `uid-${namespace}-${name}` },
    annotations: {},
    labels: {},
    ingress: [],
    ports: [{ protocol: "TCP", port: 80, nodePort: 30_080 }],
    trafficPolicy: "Cluster",
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
    backends: [],
    ...fields,
  };
}

/** Settings as a file writes them. @throws {Error} if they cannot be used */
export function toSettings(...pools: readonly object[]): LoadBalancerSettings {
  const { settings, issues } = LOAD_BALANCERS.parse({ pools });
  if (issues.length > 0) throw new Error(issues.map(({ message }) => message).join("; "));
  return settings;
}

/** More rounds for one Service mean that its plan never comes to rest. */
const ROUNDS_MAX = 5;

/** The Services of a cluster, and the process that serves them. */
export class PooledServices {
  readonly clock: ManualClock = new ManualClock();
  readonly #specs = new Map<string, LoadBalancerSpec>();
  #pools: AddressPools;
  /** How often the status or the record was written. */
  writes = 0;

  constructor(settings: LoadBalancerSettings) {
    this.#pools = new AddressPools({ settings, clock: this.clock });
  }

  get pools(): AddressPools {
    return this.#pools;
  }

  /** Adds a Service, or puts another state in place of its own. */
  put(spec: LoadBalancerSpec): LoadBalancerSpec {
    this.#specs.set(spec.owner.uid, spec);
    return spec;
  }

  get({ owner }: Pick<LoadBalancerSpec, "owner">): LoadBalancerSpec {
    const spec = this.#specs.get(owner.uid);
    if (spec === undefined) throw new Error(`no Service ${owner.name}`);
    return spec;
  }

  /** Changes some fields of a Service, as people do. */
  edit(one: Pick<LoadBalancerSpec, "owner">, fields: Partial<LoadBalancerSpec>): LoadBalancerSpec {
    return this.put({ ...this.get(one), ...fields });
  }

  delete({ owner }: Pick<LoadBalancerSpec, "owner">): void {
    this.#specs.delete(owner.uid);
  }

  all(): LoadBalancerSpec[] {
    return [...this.#specs.values()];
  }

  /** The addresses that the status of a Service shows. */
  shown(one: Pick<LoadBalancerSpec, "owner">): string[] {
    return this.get(one).ingress.flatMap((entry) => ("ip" in entry ? entry.ip : []));
  }

  /** Uses another process, which knows only the Services. */
  restart(settings: LoadBalancerSettings): void {
    this.#pools = new AddressPools({ settings, clock: this.clock });
  }

  /** Plans once, from a new look. */
  async plan(one: Pick<LoadBalancerSpec, "owner">): Promise<LoadBalancerPlan<PoolStep>> {
    const view = await this.#pools.observe({ claims: () => this.#specs.values(), maxAgeMs: 0 });
    return this.#pools.plan(view, this.get(one));
  }

  /** Applies one step. */
  async apply(step: PoolStep): Promise<void> {
    await this.#pools.apply(step);
  }

  /** Writes what a plan wants to be shown. */
  write(one: Pick<LoadBalancerSpec, "owner">, { ingress, record }: LoadBalancerPlan): void {
    const spec = this.get(one);
    if (ingress === undefined) return;
    if (isDeepStrictEqual(spec.ingress, ingress) && spec.record === record) return;
    this.writes += 1;
    this.edit(one, { ingress, ...(record !== undefined && { record }) });
  }

  /** Brings a Service to rest, and returns its last plan. */
  async settle(one: Pick<LoadBalancerSpec, "owner">): Promise<LoadBalancerPlan<PoolStep>> {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const plan = await this.plan(one);
      const [step] = plan.steps;
      if (step === undefined) {
        this.write(one, plan);
        return plan;
      }
      await this.apply(step);
    }
    throw new Error(`Service ${one.owner.name} does not come to rest`);
  }
}

/** Settles the first Service of these pools. */
export async function settleFirst(
  settings: LoadBalancerSettings,
  service: LoadBalancerSpec,
): Promise<{ readonly services: PooledServices; readonly spec: LoadBalancerSpec }> {
  const services = new PooledServices(settings);
  const spec = services.put(service);
  await services.settle(spec);
  return { services, spec };
}
