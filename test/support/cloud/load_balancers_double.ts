/**
 * Load balancers in memory: an address for each Service, a rule for each port, and a step for each change.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type {
  LoadBalancerClaim,
  LoadBalancerIngress,
  LoadBalancerPlan,
  LoadBalancerProblem,
  LoadBalancerQuestion,
  LoadBalancerRecord,
  LoadBalancers,
  LoadBalancerSpec,
} from "../../../lib/cloud/capabilities/load_balancers.ts";

/** What a rule does. */
interface DoubleRule {
  readonly nodePort: number;
  readonly ranges: readonly string[];
  readonly backends: readonly string[];
}

/** What exists, by UID of the Service. */
interface DoubleView {
  readonly addresses: ReadonlyMap<string, string>;
  /** By UID, then by `TCP 80`. */
  readonly rules: ReadonlyMap<string, ReadonlyMap<string, DoubleRule>>;
  readonly takenAtMs: number;
}

/** A change. `rule` absent: the rule goes. */
interface DoubleStep {
  readonly summary: string;
  readonly lock?: string;
  readonly part?: string;
  readonly uid: string;
  readonly change:
    | { readonly kind: "address"; readonly isWanted: boolean; readonly asked?: string }
    | { readonly kind: "rule"; readonly name: string; readonly rule?: DoubleRule };
}

/** Annotation with the lock of all steps of a Service. */
export const NETWORK = "service.beta.kubernetes.io/test-network";
/** Annotation with a hostname that the status shows instead of the address. */
export const HOSTNAME = "service.beta.kubernetes.io/test-hostname";
/** Annotation with the `ipMode`. */
export const IP_MODE = "service.beta.kubernetes.io/test-ip-mode";

/** Load balancers in memory. */
export class LoadBalancersDouble implements LoadBalancers<DoubleView, DoubleStep> {
  readonly addresses: Map<string, string> = new Map();
  readonly rules: Map<string, Map<string, DoubleRule>> = new Map();
  clusterIds: readonly string[] | undefined;
  /** The questions so far. */
  readonly looks: {
    readonly maxAgeMs: number;
    readonly claims: readonly LoadBalancerClaim[];
    /** Of the answer. */
    readonly takenAtMs: number;
  }[] = [];
  /** The summaries of the steps that were begun, in order. */
  readonly steps: string[] = [];
  /** How many steps of each lock run now, and how many ran at most. */
  readonly running: Map<string, { now: number; most: number }> = new Map();
  /** Problems of plans, by UID. */
  readonly problems: Map<string, LoadBalancerProblem[]> = new Map();
  /** The instances of Nodes that must get no traffic, by UID, as the last plan had them. */
  readonly excluded: Map<string, ReadonlySet<string>> = new Map();
  /** Whether the cloud shows an instance: what it does not show is no backend. @default {it does} */
  isShown: (instanceId: string) => boolean = () => true;
  /** The time, in monotonic milliseconds. */
  now: () => number = () => 0;
  /** Awaited before a look is answered; may throw. */
  onLook: (question: LoadBalancerQuestion, signal: AbortSignal) => Promise<void> | void = () =>
    undefined;
  /** Awaited before a step changes anything; may throw. */
  onStep: (
    step: DoubleStep,
    signal: AbortSignal,
    record: LoadBalancerRecord,
  ) => Promise<void> | void = () => undefined;
  /** Whether steps of other ports go on after this error. @default {none do} */
  mayGoOn: (error: unknown) => boolean = () => false;
  /** Whether steps change nothing. */
  isStuck = false;
  #takenAtMs = -Infinity;
  #next = 0;

  setClusterIds(ids: readonly [string, ...string[]]): void {
    this.clusterIds = ids;
  }

  async observe(question: LoadBalancerQuestion, signal: AbortSignal): Promise<DoubleView> {
    if (this.clusterIds === undefined) throw new Error("the cluster is not known");
    const { maxAgeMs, claims } = question;
    if (!(this.#takenAtMs > this.now() - maxAgeMs)) this.#takenAtMs = this.now();
    const takenAtMs = this.#takenAtMs;
    this.looks.push({ maxAgeMs, claims: [...claims()], takenAtMs });
    await this.onLook(question, signal);
    signal.throwIfAborted();
    const rules = new Map([...this.rules].map(([uid, one]) => [uid, new Map(one)]));
    return { addresses: new Map(this.addresses), rules, takenAtMs };
  }

  plan(view: DoubleView, spec: LoadBalancerSpec): LoadBalancerPlan<DoubleStep> {
    const { uid } = spec.owner;
    this.excluded.set(uid, spec.excludedInstanceIds ?? new Set());
    const address = view.addresses.get(uid);
    const actual = view.rules.get(uid) ?? new Map<string, DoubleRule>();
    const wanted = new Map(
      spec.ports.map(({ protocol, port, nodePort = 0 }) => [
        `${protocol} ${port}`,
        {
          nodePort,
          ranges: spec.sourceRanges ?? [],
          backends: spec.backends
            .map(({ instanceId = "?" }) => instanceId)
            .filter((id) => this.isShown(id)),
        },
      ]),
    );
    const steps: DoubleStep[] = [];
    if (address === undefined) {
      const asked = spec.address === undefined ? {} : { asked: spec.address };
      const change = { kind: "address", isWanted: true, ...asked } as const;
      steps.push({ summary: "take an address", uid, ...toLock(spec), change });
    }
    for (const name of [...actual.keys()].filter((one) => !wanted.has(one))) {
      const change = { kind: "rule", name } as const;
      steps.push({ summary: `delete ${name}`, part: name, uid, ...toLock(spec), change });
    }
    for (const [name, rule] of wanted) {
      if (isDeepStrictEqual(actual.get(name), rule)) continue;
      const change = { kind: "rule", name, rule } as const;
      steps.push({ summary: `set ${name}`, part: name, uid, ...toLock(spec), change });
    }
    const problems = this.problems.get(uid) ?? [];
    const isShown = address !== undefined && steps.length === 0;
    const ingress = isShown ? { ingress: [toIngress(address, spec)] } : {};
    const names = new Set([...wanted.keys(), ...actual.keys()]);
    const parts = Array.from(names, (name) => ({
      kind: "rule",
      name,
      ...(wanted.has(name) && { wanted: JSON.stringify(wanted.get(name)) }),
      ...(actual.has(name) && { actual: JSON.stringify(actual.get(name)) }),
    }));
    return { steps, problems, parts, ...ingress };
  }

  planRelease(view: DoubleView, claim: LoadBalancerClaim): LoadBalancerPlan<DoubleStep> {
    const { uid } = claim.owner;
    const steps: DoubleStep[] = [];
    for (const name of view.rules.get(uid)?.keys() ?? []) {
      const change = { kind: "rule", name } as const;
      steps.push({ summary: `delete ${name}`, part: name, uid, ...toLock(claim), change });
    }
    const address = view.addresses.get(uid);
    if (address !== undefined) {
      const change = { kind: "address", isWanted: false } as const;
      steps.push({ summary: `release ${address}`, uid, ...toLock(claim), change });
    }
    return { steps, problems: this.problems.get(uid) ?? [], parts: [], ingress: [] };
  }

  async apply(step: DoubleStep, record: LoadBalancerRecord, signal: AbortSignal): Promise<void> {
    const lock = step.lock ?? "";
    const running = this.running.get(lock) ?? { now: 0, most: 0 };
    this.running.set(lock, running);
    running.now += 1;
    running.most = Math.max(running.most, running.now);
    this.steps.push(step.summary);
    try {
      await this.onStep(step, signal, record);
      signal.throwIfAborted();
      if (!this.isStuck) await this.#change(step, record, signal);
    } finally {
      running.now -= 1;
    }
  }

  async #change(
    { uid, change }: DoubleStep,
    record: LoadBalancerRecord,
    signal: AbortSignal,
  ): Promise<void> {
    if (change.kind === "address") {
      if (!change.isWanted) return void this.addresses.delete(uid);
      if (change.asked === undefined) this.#next += 1;
      const address = change.asked ?? `192.0.2.${this.#next}`;
      await record.save(JSON.stringify({ v: 1, ip: address }), signal);
      this.addresses.set(uid, address);
      return;
    }
    const rules = this.rules.get(uid) ?? new Map<string, DoubleRule>();
    if (change.rule === undefined) rules.delete(change.name);
    else rules.set(change.name, change.rule);
    this.rules.set(uid, rules);
    if (rules.size === 0) this.rules.delete(uid);
  }
}

function toLock({ annotations }: LoadBalancerClaim): { lock?: string } {
  const lock = annotations[NETWORK];
  return lock === undefined ? {} : { lock };
}

function toIngress(ip: string, { annotations }: LoadBalancerClaim): LoadBalancerIngress {
  const hostname = annotations[HOSTNAME];
  if (hostname !== undefined) return { hostname };
  return { ip, ipMode: annotations[IP_MODE] === "Proxy" ? "Proxy" : "VIP" };
}
