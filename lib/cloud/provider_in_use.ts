/**
 * The provider with the settings in use. When the settings change, another provider replaces it: the one before
 * finishes what runs, and hands over what stays true.
 * @module
 */
import type { LoadBalancers } from "./capabilities/load_balancers.ts";
import type { Machines } from "./capabilities/machines.ts";
import type { ProvenOff } from "./capabilities/proven_off.ts";
import { CloudError } from "./errors.ts";
import type { Instance, NodeIdentity } from "./instance.ts";
import type { Inventory } from "./inventory/inventory.ts";
import {
  type Changes,
  type Presence,
  type Provider,
  type ReadOptions,
  toUnknown,
} from "./provider.ts";
import type { ProviderDefinition, ProviderDeps, SettingsChange } from "./provider_definition.ts";
import { assert } from "../core/errors.ts";
import { InheritedMetrics } from "../core/metrics.ts";

const TOO_EARLY = "Waiting for the first inventory since the settings changed";
const NOTHING: ReadonlySet<never> = new Set();

/** What a step was planned from. */
interface Planned {
  readonly steps: readonly object[];
}

/**
 * Asks the provider in use.
 *
 * Guarantees: an answer of the cloud always comes from the provider that is in use when the caller gets the answer.
 * After a change of settings there is no direct answer before the first inventory. No step is applied that was planned
 * as another user or for another cloud. Requests to a cloud, or as a user, that is no longer in use are aborted, except
 * for changes.
 */
export class ProviderInUse implements Provider {
  readonly name: string;
  readonly providedNodeIps: Provider["providedNodeIps"];
  readonly changes?: Changes;
  readonly provenOff?: ProvenOff;
  readonly loadBalancers?: LoadBalancers;
  readonly machines?: Machines;
  readonly toPlaces?: NonNullable<Provider["toPlaces"]>;
  readonly toPage?: NonNullable<Provider["toPage"]>;
  readonly #definition: ProviderDefinition;
  readonly #deps: ProviderDeps;
  #settings: unknown;
  #provider: Provider;
  /** Aborts when another user or another cloud is asked. */
  #abandonment = new AbortController();
  /** Whether there was an inventory with the settings in use. */
  #isSettled = true;
  /** Where views and steps come from: another object for another user or cloud. */
  readonly #origins = new WeakMap<object, object>();
  /** What controllers asked for once: the next provider does it, too. */
  readonly #preparations = new Map<string, (provider: Provider) => void>();

  /** @throws {ConfigError} as `ProviderDefinition.create` */
  constructor(definition: ProviderDefinition, settings: unknown, deps: ProviderDeps) {
    this.#definition = definition;
    this.#settings = settings;
    this.#deps = {
      ...deps,
      metrics: new InheritedMetrics(deps.metrics),
      onOtherUser: () => this.#replace(this.#settings, "otherUser"),
    };
    const first = definition.create(settings, this.#deps);
    this.#provider = first;
    this.name = first.name;
    this.providedNodeIps = first.providedNodeIps;
    if (first.toPlaces) this.toPlaces = first.toPlaces.bind(first);
    // Other settings may name another address.
    if (first.toPage) this.toPage = (instance) => this.#provider.toPage?.(instance) ?? "";
    if (first.changes) this.changes = this.#followChanges();
    if (first.provenOff) this.provenOff = this.#followPower();
    if (first.loadBalancers) this.loadBalancers = this.#followLoadBalancers();
    if (first.machines) this.machines = this.#followMachines();
  }

  /**
   * Uses other settings from now on: all of them, or none.
   *
   * @throws {ConfigError} as `ProviderDefinition.create`; the old settings stay in use
   * @returns Whether they name the same cloud as before. If not, the caller forgets its observations
   */
  replace(settings: unknown): "sameCloud" | "otherCloud" {
    const change = this.#definition.compare?.(this.#settings, settings) ?? "otherCloud";
    this.#replace(settings, change);
    return change === "otherCloud" ? change : "sameCloud";
  }

  get unmanaged(): NonNullable<Provider["unmanaged"]> {
    return this.#provider.unmanaged ?? NOTHING;
  }

  get originLabels(): Readonly<Record<string, string>> {
    return this.#provider.originLabels ?? {};
  }

  get labelKeys(): ReadonlySet<string> {
    return this.#provider.labelKeys ?? NOTHING;
  }

  get refreshIntervalMs(): number {
    return this.#provider.refreshIntervalMs;
  }

  listInventory(interest: readonly NodeIdentity[], signal: AbortSignal): Promise<Inventory> {
    return this.#ask(
      (provider, both) => provider.listInventory(interest, both),
      () => (this.#isSettled = true),
      signal,
    );
  }

  findInstance(inventory: Inventory, node: NodeIdentity): Presence {
    return this.#provider.findInstance(inventory, node);
  }

  async readInstance(
    inventory: Inventory,
    node: NodeIdentity,
    signal: AbortSignal,
    options?: ReadOptions,
  ): Promise<Presence> {
    const presence = await this.#askOnce(
      (provider, both) => provider.readInstance(inventory, node, both, options),
      signal,
    );
    return presence ?? toUnknown("noInventory", TOO_EARLY);
  }

  toInstanceId(providerId: string): string | undefined {
    return this.#provider.toInstanceId?.(providerId);
  }

  #replace(settings: unknown, change: SettingsChange): void {
    const { handover: from } = this.#provider;
    this.#provider = this.#definition.create(settings, this.#deps, { change, from });
    this.#settings = settings;
    this.#isSettled = false;
    for (const prepare of this.#preparations.values()) prepare(this.#provider);
    if (change === "sameUser") return;
    const before = this.#abandonment;
    this.#abandonment = new AbortController();
    before.abort(new Error("the settings changed"));
  }

  /**
   * Asks, and asks again if the provider was replaced meanwhile, whether there was an answer or not.
   *
   * @param onAnswer Called with the answer, while the provider that gave it is in use
   */
  async #ask<R>(
    work: (provider: Provider, signal: AbortSignal) => Promise<R>,
    onAnswer: (answer: R) => void,
    signal: AbortSignal,
  ): Promise<R> {
    for (;;) {
      const asked = this.#provider;
      try {
        const answer = await work(asked, this.#withAbandonment(signal));
        if (asked !== this.#provider) continue;
        onAnswer(answer);
        return answer;
      } catch (error) {
        if (asked === this.#provider || signal.aborted) throw error;
      }
    }
  }

  /** @returns `undefined` before an inventory with the settings in use, and if the provider was replaced meanwhile */
  async #askOnce<R>(
    work: (provider: Provider, signal: AbortSignal) => Promise<R>,
    signal: AbortSignal,
  ): Promise<R | undefined> {
    if (!this.#isSettled) return undefined;
    const asked = this.#provider;
    try {
      const answer = await work(asked, this.#withAbandonment(signal));
      return asked === this.#provider ? answer : undefined;
    } catch (error) {
      if (asked === this.#provider || signal.aborted) throw error;
      return undefined;
    }
  }

  #withAbandonment(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#abandonment.signal]);
  }

  #prepare(what: string, prepare: (provider: Provider) => void): void {
    this.#preparations.set(what, prepare);
    prepare(this.#provider);
  }

  /** Remembers where the steps of a plan come from. */
  #notePlan<P extends Planned>(view: object, plan: P): P {
    const origin = this.#origins.get(view);
    if (origin !== undefined) for (const step of plan.steps) this.#origins.set(step, origin);
    return plan;
  }

  async #apply(step: object, apply: () => Promise<void>): Promise<void> {
    const origin = this.#origins.get(step);
    if (origin === undefined || origin === this.#abandonment) return await apply();
    throw new CloudError("unreachable", "the settings changed since this was planned");
  }

  #followChanges(): Changes {
    return this.#follow<Changes>(
      ({ changes }) => changes,
      () => ({
        watchChanges: async (onHint, signal) => {
          while (!signal.aborted) {
            const { changes } = this.#provider;
            await changes?.watchChanges(onHint, this.#withAbandonment(signal));
          }
        },
        readInstances: async (ids, signal) => {
          const read = await this.#askOnce(
            async ({ changes }, both) => await changes?.readInstances?.(ids, both),
            signal,
          );
          return read ?? new Map<string, Instance>();
        },
      }),
    );
  }

  #followPower(): ProvenOff {
    return this.#follow<ProvenOff>(
      ({ provenOff }) => provenOff,
      (now) => ({
        prepare: () => this.#prepare("power", ({ provenOff }) => provenOff?.prepare?.()),
        readPower: async (question, signal) => {
          const ask = (_: Provider, both: AbortSignal) => now().readPower(question, both);
          const reading = await this.#askOnce(ask, signal);
          return reading ?? { kind: "unproven", message: TOO_EARLY };
        },
      }),
    );
  }

  #followLoadBalancers(): LoadBalancers {
    return this.#follow<LoadBalancers>(
      ({ loadBalancers }) => loadBalancers,
      (now) => ({
        setClusterIds: (ids) =>
          this.#prepare("clusterIds", ({ loadBalancers }) => loadBalancers?.setClusterIds(ids)),
        observe: (question, signal) =>
          this.#observe((both) => now().observe(question, both), signal),
        plan: (view, spec) => this.#notePlan(view, now().plan(view, spec)),
        planRelease: (view, claim) => this.#notePlan(view, now().planRelease(view, claim)),
        apply: (step, record, signal) => this.#apply(step, () => now().apply(step, record, signal)),
      }),
    );
  }

  #followMachines(): Machines {
    return this.#follow<Machines>(
      ({ machines }) => machines,
      (now) => ({
        follow: () => this.#prepare("machines", ({ machines }) => machines?.follow()),
        observe: (question, signal) =>
          this.#observe((both) => now().observe(question, both), signal),
        plan: (view, spec, record) => this.#notePlan(view, now().plan(view, spec, record)),
        planRemoval: (view, identity, record) =>
          this.#notePlan(view, now().planRemoval(view, identity, record)),
        apply: (step, context, signal) =>
          this.#apply(step, () => now().apply(step, context, signal)),
        power: this.#follow(({ machines }) => machines?.power),
      }),
    );
  }

  #observe<V extends object>(
    look: (signal: AbortSignal) => Promise<V>,
    signal: AbortSignal,
  ): Promise<V> {
    const noteOrigin = (view: V): unknown => this.#origins.set(view, this.#abandonment);
    return this.#ask((_, both) => look(both), noteOrigin, signal);
  }

  /**
   * Returns an object that offers what a part of the provider in use offers.
   *
   * @param over What is not left to that part
   */
  #follow<T extends object>(
    find: (provider: Provider) => T | undefined,
    over: (now: () => T) => Partial<T> = () => ({}),
  ): T {
    const now = (): T => {
      const part = find(this.#provider);
      assert(part !== undefined, "a cloud can do the same with all settings");
      return part;
    };
    const own = over(now);
    return new Proxy(now(), {
      get: (_first, key): unknown => {
        if (Object.hasOwn(own, key)) return Reflect.get(own, key);
        const part = now();
        const value: unknown = Reflect.get(part, key);
        return typeof value === "function" ? value.bind(part) : value;
      },
    });
  }
}
