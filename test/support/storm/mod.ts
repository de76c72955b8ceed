/**
 * A storm on real processes: etcd, an API server, Xen Orchestra and two replicas, each of which may be hit.
 * @module
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toPolicy } from "../../../lib/app/rights.ts";
import { isKubeletReporting } from "../../../lib/controllers/identity.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { createDemoWorld } from "../../../lib/simulator/xenorchestra/mod.ts";
import { type Cluster, startCluster } from "../process/cluster.ts";
import { LEASE, RIGHTS } from "../process/cluster_rig.ts";
import type { Program } from "../process/landfall_process.ts";
import { type Judgement, judgeAudit, STORM_AUDIT_RULES } from "./judge.ts";
import {
  describeUntruth,
  findLongestCalm,
  Kubelets,
  type Member,
  type Span,
  StormWorld,
} from "./world.ts";
import { Dice, type Fault, isReplica, planFaults, type Target } from "./plan.ts";
import { Replica } from "./replica.ts";
import { XenOrchestraProcess } from "../cloud/xen_orchestra_process.ts";

/** What of a storm is chosen. */
interface StormOptions {
  readonly program: Program;
  readonly seed: number;
  readonly minutes: number;
}

const TOKEN_SECONDS = 86_400;
const LOADING_MS_MAX = 8_000;
const REPLICAS = ["one", "two"] as const;
/** So short that an outage of seconds costs the leadership, and so long that a blink does not. */
const ELECTION = [
  "--leader-elect=true",
  `--leader-elect-resource-name=${LEASE.name}`,
  "--leader-elect-lease-duration=8s",
  "--leader-elect-renew-deadline=5s",
  "--leader-elect-retry-period=1s",
] as const;
/**
 * So little care that nothing but the proof of absence stands between a Node and its deletion, and the time that a move
 * to another pool takes: of a move that no list showed, only time tells.
 */
const SETTINGS = [
  "refreshInterval: 1s",
  "clientTimeout: 3s",
  "deletion: {confirmations: 3, holdOff: 5s, fleetShare: 1}",
] as const;

/** All that a storm needs and hits. */
export class Storm {
  readonly world: StormWorld;
  readonly kubelets: Kubelets;
  readonly replicas: Readonly<Record<(typeof REPLICAS)[number], Replica>>;
  readonly faults: readonly Fault[];
  readonly #cluster: Cluster;
  readonly #cloud: XenOrchestraProcess;
  readonly #dice: Dice;
  readonly #over = new AbortController();
  /** The end of what was last done to each target. */
  readonly #recovered = new Map<Target, Promise<void>>();
  /** When the API server or etcd stood still. */
  readonly #outages: Span[] = [];
  /** When each target was hit, until it had recovered. */
  readonly #hits: (Span & { readonly target: Target })[] = [];
  readonly #findings: string[] = [];

  private constructor(
    { seed, minutes }: StormOptions,
    cluster: Cluster,
    cloud: XenOrchestraProcess,
    replicas: readonly [Replica, Replica],
  ) {
    this.#cluster = cluster;
    this.#cloud = cloud;
    this.replicas = { one: replicas[0], two: replicas[1] };
    this.faults = planFaults(seed, minutes);
    this.#dice = new Dice(seed + 2);
    this.kubelets = new Kubelets(cluster, this.#over.signal);
    const { kubelets } = this;
    this.world = new StormWorld({ cloud, kubelets, dice: new Dice(seed + 1) });
  }

  /** Starts all processes, and lets the first Nodes join. */
  static async start(options: StormOptions): Promise<Storm> {
    const cluster = await startCluster({ auditRules: STORM_AUDIT_RULES });
    const cloud = await XenOrchestraProcess.start(createDemoWorld().world);
    const config = join(cluster.folder, "cloud.yaml");
    const lines = [`url: ${cloud.url}`, `token: ${cloud.token}`, ...SETTINGS, ""];
    await writeFile(config, lines.join("\n"), { mode: 0o600 });
    const make = (name: string): Promise<Replica> =>
      makeReplica(cluster, { name, config, program: options.program });
    const replicas = [await make("one"), await make("two")] as const;
    const storm = new Storm(options, cluster, cloud, replicas);
    storm.world.begin();
    for (const replica of replicas) replica.start();
    return storm;
  }

  /** What must never happen and did, so far. */
  async judge(): Promise<Judgement> {
    const judgement = judgeAudit(
      await this.#cluster.listAudit(),
      this.world.members,
      this.#outages,
    );
    const told = [this.replicas.one, this.replicas.two].flatMap(({ findings }) => findings);
    const explained = judgement.findings.map((text) => `${text}\n${this.#explain(text)}`);
    return {
      ...judgement,
      findings: [...explained, ...told, ...this.kubelets.findings, ...this.#findings],
    };
  }

  /** Does all that was planned; resolves when everything runs again. The signal ends it early. */
  async rage(minutes: number, signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(minutes * 60_000)]);
    const living = this.world.run(ended);
    const fromMs = performance.now();
    for (const fault of this.faults) {
      await Bun.sleep(fromMs + fault.atMs - performance.now());
      if (ended.aborted) break;
      this.#hit(fault);
    }
    await living;
    await Promise.all(this.#recovered.values());
    await this.kubelets.settle();
  }

  /** What is not yet as it should be. */
  async listUntruths(): Promise<readonly string[]> {
    const nodes = await this.kubelets.listNodes().catch(() => undefined);
    if (nodes === undefined) return ["the API server does not answer"];
    return this.world.members.flatMap((member) => describeUntruth(member, nodes.get(member.name)));
  }

  /** Names of the Nodes whose machines do not run although their kubelets are said to report. */
  async listReporting(): Promise<readonly string[]> {
    const nodes = await this.kubelets.listNodes().catch(() => new Map<string, Node>());
    const idle = this.world.members.filter(({ state }) => state !== "running");
    return idle.flatMap(({ name }) => {
      const node = nodes.get(name);
      return node && isKubeletReporting(node) ? [name] : [];
    });
  }

  /** The replica that leads now, by its own word. */
  findLeader(): Replica | undefined {
    return Object.values(this.replicas).find(({ leadsSinceMs }) => leadsSinceMs !== undefined);
  }

  /**
   * For how long at a stretch, in milliseconds, the replica that leads could see a Node and its machine before that
   * went: it led, all that it asks answered, and the machine was shown.
   */
  findSeenMs(member: Member, leader: Replica): number {
    const { registeredAtMs, goneAtMs = 0 } = member;
    const fromMs = Math.max(registeredAtMs, leader.leadsSinceMs ?? Infinity);
    const other = Object.values(this.replicas).find((replica) => replica !== leader);
    const hits = this.#hits.filter(({ target }) => target !== other?.name);
    return findLongestCalm({ fromMs, toMs: goneAtMs }, [...hits, ...this.world.listHidden(member)]);
  }

  /** Ends everything. */
  async stop(): Promise<void> {
    this.#over.abort();
    await Promise.all(Object.values(this.replicas).map((replica) => replica.stop()));
    await Promise.all([this.#cluster.stop(), this.#cloud.stop()]);
  }

  /** What replicas said of the Node that a finding begins with. */
  #explain(finding: string): string {
    const [name] = /storm-\d+/.exec(finding) ?? [];
    const said = Object.values(this.replicas).flatMap((replica) =>
      replica
        .listRecords()
        .filter(({ node, key }) => node === name || key === name)
        .map((record) => `  ${JSON.stringify(record)} (${replica.name})`),
    );
    return said.toSorted().slice(-20).join("\n");
  }

  #hit(fault: Fault): void {
    // Drawn now, so that the order in which targets recover changes nothing.
    const loadedAfterMs = this.#dice.between(0, LOADING_MS_MAX);
    const connectedAfterMs = this.#dice.between(0, loadedAfterMs);
    const before = this.#recovered.get(fault.target) ?? Promise.resolve();
    const { target } = fault;
    const act = async (): Promise<void> => {
      const hit = { target, fromMs: Date.now(), toMs: Infinity };
      this.#hits.push(hit);
      await hitIt(hit.fromMs);
      hit.toMs = Date.now() + (target === "xenOrchestra" ? loadedAfterMs : 0);
    };
    const hitIt = async (fromMs: number): Promise<void> => {
      if (isReplica(target)) return await hitReplica(this.replicas[target], fault);
      if (target === "xenOrchestra") {
        return await this.#hitCloud(fault, { loadedAfterMs, connectedAfterMs });
      }
      const outage = { fromMs, toMs: Infinity };
      // Nothing that an API server had taken in outlives it.
      if (target === "etcd" || fault.kind === "freeze") this.#outages.push(outage);
      await (target === "etcd" ? this.#hitEtcd(fault) : this.#hitApiServer(fault));
      outage.toMs = Date.now();
    };
    const told = (error: unknown): void => {
      this.#findings.push(`${fault.target} cannot be had back: ${String(error)}`);
    };
    this.#recovered.set(fault.target, before.then(act).catch(told));
  }

  async #hitCloud(
    { kind, forMs }: Fault,
    loading: { readonly loadedAfterMs: number; readonly connectedAfterMs: number },
  ): Promise<void> {
    if (kind === "freeze") {
      this.#cloud.signal("SIGSTOP");
      await Bun.sleep(forMs);
      return this.#cloud.signal("SIGCONT");
    }
    await this.#cloud.kill();
    await Bun.sleep(forMs);
    await this.#cloud.start(loading);
  }

  async #hitEtcd({ kind, forMs }: Fault): Promise<void> {
    if (kind === "freeze") {
      this.#cluster.pauseEtcd();
      await Bun.sleep(forMs);
      return this.#cluster.resumeEtcd();
    }
    await this.#cluster.stopEtcd();
    await Bun.sleep(forMs);
    await this.#cluster.startEtcd();
  }

  async #hitApiServer({ kind, forMs }: Fault): Promise<void> {
    if (kind === "freeze") {
      this.#cluster.pauseApiServer();
      await Bun.sleep(forMs);
      return this.#cluster.resumeApiServer();
    }
    await this.#cluster.stopApiServer("SIGKILL");
    await Bun.sleep(forMs);
    // It gives up when etcd is away for long; whoever supervises it tries again.
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#cluster.startApiServer();
      } catch (error) {
        if (tries === 3) throw error;
        await this.#cluster.stopApiServer("SIGKILL");
      }
    }
  }
}

/** A service account of its own for each: by that the audit log tells them apart. */
async function makeReplica(
  cluster: Cluster,
  { name, config, program }: { readonly name: string; config: string; program: Program },
): Promise<Replica> {
  const account = { namespace: LEASE.namespace, name };
  const token = await cluster.createServiceAccountToken(account, TOKEN_SECONDS);
  await cluster.applyRbac(account, toPolicy(RIGHTS));
  const args = [
    "run",
    `--kubeconfig=${await cluster.writeTokenKubeconfig(token)}`,
    "--cloud-provider=xenorchestra",
    `--cloud-config=${config}`,
    ...ELECTION,
    "--node-monitor-period=500ms",
    "--secure-port=0",
    "--logging-format=json",
    "--debug-address=127.0.0.1:0",
  ];
  const username = `system:serviceaccount:${account.namespace}:${name}`;
  return new Replica({ name, username, program, args });
}

async function hitReplica(replica: Replica, { kind, forMs }: Fault): Promise<void> {
  if (kind !== "freeze") return await replica.end(kind, forMs);
  replica.signal("SIGSTOP");
  await Bun.sleep(forMs);
  replica.signal("SIGCONT");
}
