/**
 * The arithmetic of the controllers that replace and evict pods, on a few Nodes: what an upgrade and a drain come to.
 *
 * It follows Kubernetes 1.35: `pkg/controller/deployment/rolling.go` and `util/deployment_util.go`,
 * `pkg/controller/daemon/update.go`, `pkg/controller/disruption/disruption.go`, and `rollout status` of kubectl
 * (`polymorphichelpers/rollout_status.go`). A pod that fits a Node is ready in the next round, one that is deleted is
 * gone at once.
 * @module
 */
import type { Manifest } from "./deploy_tools.ts";

/** What the controllers go by. */
export interface Workload {
  readonly kind: "DaemonSet" | "Deployment";
  /** Of a Deployment. */
  readonly replicas: number;
  readonly maxSurge: number | string;
  readonly maxUnavailable: number | string;
  /** Whether a pod takes its port on the whole Node. */
  readonly hasHostPort: boolean;
  /** Of its PodDisruptionBudget, if it has one. */
  readonly budget?: { readonly maxUnavailable: number | string; readonly evictsUnready: boolean };
}

interface Pod {
  readonly revision: number;
  node: number | undefined;
  isReady: boolean;
}

/** More rounds than anything takes that ends. */
const ROUNDS_MAX = 50;

/** Reads the workload, and the budget if there is one, from the objects of an installation. */
export function readWorkload(objects: readonly Manifest[]): Workload {
  const kinds = ["DaemonSet", "Deployment"] as const;
  const kind = kinds.find((name) => objects.some((one) => one.kind === name));
  if (kind === undefined) throw new Error("Cannot find the workload");
  const spec = findSpec<WorkloadSpec>(objects, kind);
  const rolling = (spec?.updateStrategy ?? spec?.strategy)?.rollingUpdate;
  if (spec === undefined || rolling === undefined) throw new Error("Cannot find its strategy");
  const budget = findSpec<BudgetSpec>(objects, "PodDisruptionBudget");
  return {
    kind,
    replicas: spec.replicas ?? 1,
    maxSurge: rolling.maxSurge,
    maxUnavailable: rolling.maxUnavailable,
    hasHostPort: spec.template.spec.hostNetwork === true,
    ...(budget && {
      budget: {
        maxUnavailable: budget.maxUnavailable,
        evictsUnready: budget.unhealthyPodEvictionPolicy === "AlwaysAllow",
      },
    }),
  };
}

interface WorkloadSpec {
  readonly replicas?: number;
  readonly strategy?: Strategy;
  readonly updateStrategy?: Strategy;
  readonly template: { readonly spec: { readonly hostNetwork?: boolean } };
}

interface Strategy {
  readonly rollingUpdate?: Pick<Workload, "maxSurge" | "maxUnavailable">;
}

interface BudgetSpec {
  readonly maxUnavailable: number | string;
  readonly unhealthyPodEvictionPolicy?: string;
}

function findSpec<T>(objects: readonly Manifest[], kind: string): T | undefined {
  return objects.find((one) => one.kind === kind)?.spec as T | undefined;
}

/** A workload on Nodes that are all control planes. */
export class RolloutModel {
  readonly #workload: Workload;
  readonly #nodes: number;
  readonly #cordoned = new Set<number>();
  /** Wanted replicas of each ReplicaSet, by revision. */
  readonly #sets = new Map<number, number>();
  /** Revisions whose pods never become ready. */
  readonly #broken = new Set<number>();
  #revision = 1;
  #pods: Pod[] = [];
  #fewest = 0;

  /** Installs it, and waits until nothing moves any more. */
  constructor(workload: Workload, nodes: number) {
    this.#workload = workload;
    this.#nodes = nodes;
    this.#settle();
  }

  /** Whether `kubectl rollout status` has ended. */
  get isComplete(): boolean {
    const updated = this.#pods.filter(({ revision }) => revision === this.#revision);
    const { kind, replicas } = this.#workload;
    const wanted = kind === "DaemonSet" ? this.#nodes : replicas;
    const isAlone = kind === "DaemonSet" || this.#pods.length === updated.length;
    return isAlone && updated.length === wanted && this.#available === wanted;
  }

  /** Pods that are ready, and of the newest version. */
  get updated(): number {
    return this.#pods.filter((pod) => pod.isReady && pod.revision === this.#revision).length;
  }

  /** Pods that are ready. */
  get #available(): number {
    return this.#pods.filter(({ isReady }) => isReady).length;
  }

  /**
   * Brings another version, as `kubectl rollout restart` does.
   *
   * @param starts Whether it becomes ready
   * @returns Fewest pods that were ready at any time
   */
  roll(starts = true): number {
    this.#revision += 1;
    if (!starts) this.#broken.add(this.#revision);
    this.#fewest = this.#available;
    this.#settle();
    return this.#fewest;
  }

  /** `kubectl drain --ignore-daemonsets`. Returns whether it ended. */
  drain(node: number): boolean {
    this.#cordoned.add(node);
    if (this.#workload.kind === "DaemonSet") return true;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const there = this.#pods.filter((pod) => pod.node === node);
      if (there.length === 0) return true;
      // Each eviction counts before the next is asked for.
      for (const pod of there) if (this.#mayEvict(pod)) this.#remove([pod]);
      this.#settle();
    }
    return false;
  }

  /** Lets pods come back. */
  uncordon(node: number): void {
    this.#cordoned.delete(node);
    this.#settle();
  }

  #settle(): void {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      if (this.#workload.kind === "DaemonSet") this.#syncDaemonSet();
      else {
        this.#syncDeployment();
        this.#syncReplicaSets();
      }
      this.#start();
      this.#fewest = Math.min(this.#fewest, this.#available);
    }
  }

  /** Scheduler and kubelets. */
  #start(): void {
    for (const pod of this.#pods) {
      pod.isReady = pod.node !== undefined && !this.#broken.has(pod.revision);
      if (pod.node === undefined) pod.node = this.#findNode();
    }
  }

  #findNode(): number | undefined {
    const count = (node: number): number => this.#pods.filter((pod) => pod.node === node).length;
    const nodes = Array.from({ length: this.#nodes }, (_, node) => node)
      .filter((node) => !this.#cordoned.has(node))
      .filter((node) => !this.#workload.hasHostPort || count(node) === 0);
    return nodes.toSorted((one, other) => count(one) - count(other))[0];
  }

  #remove(pods: readonly Pod[]): void {
    this.#pods = this.#pods.filter((pod) => !pods.includes(pod));
    this.#fewest = Math.min(this.#fewest, this.#available);
  }

  /** One pod to a Node, cordoned or not; then `rollingUpdate()` for a maxSurge of 0. */
  #syncDaemonSet(): void {
    const { maxUnavailable } = this.#workload;
    const max = resolve(maxUnavailable, this.#nodes, Math.ceil);
    const old = this.#pods.filter(({ revision }) => revision < this.#revision);
    const taken = new Set(this.#pods.map(({ node }) => node));
    const empty = Array.from({ length: this.#nodes }, (_, node) => node).filter(
      (node) => !taken.has(node),
    );
    const unready = this.#pods.filter((pod) => pod.revision === this.#revision && !pod.isReady);
    const candidates = old.filter(({ isReady }) => isReady);
    const remaining = Math.max(0, max - empty.length - unready.length);
    this.#remove([...old.filter(({ isReady }) => !isReady), ...candidates.slice(0, remaining)]);
    for (const node of empty) this.#pods.push({ revision: this.#revision, node, isReady: false });
  }

  /** `rolloutRolling()`: scales the new ReplicaSet up, or else the old ones down. */
  #syncDeployment(): void {
    const { replicas } = this.#workload;
    const { maxSurge, maxUnavailable } = resolveFenceposts(this.#workload);
    const wanted = this.#sets.get(this.#revision) ?? 0;
    const total = [...this.#sets.values()].reduce((sum, one) => sum + one, 0);
    // NewRSNewReplicas()
    const more = Math.min(replicas + maxSurge - total, replicas - wanted);
    if (more > 0) {
      this.#sets.set(this.#revision, wanted + more);
      return;
    }
    // reconcileOldReplicaSets()
    const minAvailable = replicas - Math.min(maxUnavailable, replicas);
    const newUnavailable = wanted - this.updated;
    let mayGo = total - minAvailable - newUnavailable;
    for (const [revision, size] of this.#sets) {
      if (revision === this.#revision || mayGo <= 0) continue;
      // cleanupUnhealthyReplicas()
      const ready = this.#pods.filter((pod) => pod.revision === revision && pod.isReady).length;
      const gone = Math.min(mayGo, size - ready);
      this.#sets.set(revision, size - gone);
      mayGo -= gone;
    }
    // scaleDownOldReplicaSetsForRollingUpdate()
    let spare = mayGo <= 0 ? 0 : this.#available - minAvailable;
    for (const [revision, size] of this.#sets) {
      if (revision === this.#revision || spare <= 0) continue;
      const gone = Math.min(spare, size);
      this.#sets.set(revision, size - gone);
      spare -= gone;
    }
  }

  /** Creates and deletes pods; those that wait or are not ready go first (`ActivePodsWithRanks`). */
  #syncReplicaSets(): void {
    for (const [revision, size] of this.#sets) {
      const pods = this.#pods
        .filter((pod) => pod.revision === revision)
        .toSorted((one, other) => rank(one) - rank(other));
      this.#remove(pods.slice(0, Math.max(0, pods.length - size)));
      for (let at = pods.length; at < size; at += 1) {
        this.#pods.push({ revision, node: undefined, isReady: false });
      }
    }
  }

  /** `getExpectedPodCount()` and `updatePdbStatus()`, and what the eviction API makes of it. */
  #mayEvict(pod: Pod): boolean {
    const { budget, replicas } = this.#workload;
    if (budget === undefined) return true;
    if (!pod.isReady && budget.evictsUnready) return true;
    const desired = Math.max(0, replicas - resolve(budget.maxUnavailable, replicas, Math.ceil));
    return this.#available - desired > 0;
  }
}

function rank({ node, isReady }: Pod): number {
  return (node === undefined ? 0 : 1) + (isReady ? 1 : 0);
}

/** `ResolveFenceposts()`: a surge is rounded up, what may be unavailable down, and both cannot be 0. */
function resolveFenceposts({ maxSurge, maxUnavailable, replicas }: Workload): {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
} {
  const surge = resolve(maxSurge, replicas, Math.ceil);
  const unavailable = resolve(maxUnavailable, replicas, Math.floor);
  const isStuck = surge === 0 && unavailable === 0;
  return { maxSurge: surge, maxUnavailable: isStuck ? 1 : unavailable };
}

/** A number, or a share of a whole such as `50%`. */
function resolve(value: number | string, whole: number, round: (value: number) => number): number {
  if (typeof value === "number") return value;
  const share = /^(\d+)%$/.exec(value)?.[1];
  if (share === undefined) throw new Error(`Cannot use ${value}: it is no share`);
  return round((Number(share) * whole) / 100);
}
