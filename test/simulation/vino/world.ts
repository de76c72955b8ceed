/**
 * Everything that a story of Vinos happens to: the API server, a Xen Orchestra that makes VMs, metal3, and people.
 * @module
 */
import { vinoController } from "../../../lib/controllers/vino/definition.ts";
import { IP_POOLS } from "../../../lib/controllers/vino/resource/ip_pool.ts";
import { VINOES } from "../../../lib/controllers/vino/resource/vino.ts";
import { VINO_MACHINES } from "../../../lib/controllers/vino/resource/vino_machine.ts";
import { objectAt } from "../../../lib/simulator/kubernetes/patches/json.ts";
import { LEASE as LEASE_NAME } from "../../../lib/controllers/vino/words.ts";
import { loadControllers } from "../../../lib/controllers/definition.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import type { ProviderDeps } from "../../../lib/cloud/provider_definition.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import { collectGarbage } from "../../../lib/simulator/kubernetes/controllers/garbage_collector.ts";
import type { ApiObject } from "../../../lib/simulator/kubernetes/mod.ts";
import type { Outcome } from "../../../lib/simulator/loopback.ts";
import { ClusterApi } from "../../../lib/simulator/metal3/cluster_api.ts";
import { HOST_LABELS } from "../../../lib/simulator/metal3/hosts.ts";
import {
  createMachineSite,
  type MachineSite,
  XenOrchestra,
  type XoRecord,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { toRoute } from "../../../lib/simulator/xenorchestra/requests.ts";
import type { Seed, Random } from "../../support/random.ts";
import type { LeasePath } from "../world/api_server.ts";
import { type ControllerProcess, ControllerReplica, MetalWorld } from "../world/metal_world.ts";
import { type Peer, takeOver } from "../world/surroundings.ts";
import type { ElectionTimes } from "../world/program.ts";
import { CloudJudge } from "./judges/cloud_judge.ts";
import { HostJudge } from "./judges/host_judge.ts";
import { PowerJudge } from "./judges/power_judge.ts";
import { type Order, toSpec } from "./orders.ts";
import { Ironic } from "./ironic.ts";
import { OverrideJudge } from "./judges/override_judge.ts";
import { Others } from "./others.ts";
import type { Timeline } from "../timeline.ts";
import type { Trace } from "../trace.ts";
import type { Link } from "../world/link.ts";

/** The namespace of the Vinos and of their hosts. */
export const METAL = "metal";
/** Names of the Vinos that there may be. */
export const NAMES: readonly string[] = ["core", "edge"];
/** Their roles. */
export const ROLES: readonly string[] = ["worker", "control"];

const LOADED = await loadControllers([vinoController]);
// What the provider loads when it is needed takes no time of the first story then.
await Promise.all([
  import("../../../lib/providers/xenorchestra/machines/machines.ts"),
  import("../../../lib/providers/xenorchestra/machines/wire/objects.ts"),
]);
const LEASE: LeasePath = { namespace: "kube-system", name: LEASE_NAME };
/** How often others work, and how often the cloud looks for changes to tell of; milliseconds. */
interface Pace {
  /** metal3, and the controllers of Kubernetes. */
  readonly metalMs: number;
  readonly kubernetesMs: number;
  readonly eventPeriodMs: number;
  /** Between two inventories of a process. */
  readonly refreshMs: number;
}

const FAST: Pace = {
  metalMs: 3_000,
  kubernetesMs: 2_000,
  eventPeriodMs: 2_000,
  refreshMs: 10_000,
};
/** Where nothing happens between the steps, nobody has to hurry. */
const SLOW: Pace = {
  metalMs: 10_000,
  kubernetesMs: 10_000,
  eventPeriodMs: 5_000,
  refreshMs: 30_000,
};
/** How long a call of a hypervisor takes: longer than a request, so that things fall between them. */
const OPERATION_MS = 200;

/** Where management controllers are served, if they are: no process listens there. */
const REDFISH = {
  "vino-redfish-address": "127.0.0.1:8443",
  "vino-redfish-url": "https://redfish.example.org",
} as const;
/** Work on a host that begins with a start from the network. */
const BOOTING: ReadonlySet<string> = new Set(["provisioning", "deprovisioning"]);
/** How many stories have management controllers: only with them metal3 installs, and Cluster API takes hosts. */
const BMC_SHARE = 0.7;

/** What a change of the cloud passes. @param serve What the server does with it */
export type CloudGate = (
  request: Request,
  serve: (request: Request) => Promise<Outcome>,
) => Promise<Outcome>;

/** The world of one seed. */
export class VinoWorld extends MetalWorld {
  readonly site: MachineSite = createMachineSite();
  readonly cloud: XenOrchestra;
  readonly cloudJudge: CloudJudge;
  readonly hostJudge: HostJudge;
  readonly powerJudge: PowerJudge;
  readonly overrideJudge: OverrideJudge;
  readonly replicas: readonly ControllerReplica[];
  readonly clusterApi: ClusterApi;
  /** What switches machines by their management controllers. */
  readonly ironic: Ironic = new Ironic(this);
  /** Whether machines have management controllers. */
  readonly hasBmcs: boolean;
  /** What other people have. */
  readonly others: Others;
  /** When processes die in the middle of a change. */
  readonly crashes: Crashes;
  /** What a change of the cloud passes before the server does it. */
  gate: CloudGate = (request, serve) => serve(request);
  readonly #stopped = new AbortController();
  readonly #leave: () => void;

  /** @param election How often processes look at the Lease. @default {as often as those of Kubernetes} */
  constructor(seed: Seed, replicas: number, election?: ElectionTimes) {
    super(seed, LEASE);
    const pace = seed === "settled" ? SLOW : FAST;
    const { random, timeline, trace, server, site } = this;
    const chance = random.fork();
    const network = random.fork();
    this.#leave = takeOver(
      chance,
      (request, signal) => this.#fetch(request, signal),
      (url, signal) => this.#connect(url, signal),
    );
    server.drawClusterIds();
    for (const kind of [BARE_METAL_HOSTS, VINOES, VINO_MACHINES, IP_POOLS])
      server.installKind(kind);
    this.objects.create("namespaces", { metadata: { name: METAL } });
    this.cloud = new XenOrchestra({
      clock: timeline,
      signal: this.#stopped.signal,
      world: site.world,
      eventPeriodMs: pace.eventPeriodMs,
      operationMs: OPERATION_MS,
    });
    this.crashes = new Crashes(random.fork(), timeline, trace);
    this.cloudJudge = new CloudJudge(this.cloud, server, timeline, trace);
    this.hostJudge = new HostJudge(server, trace);
    this.powerJudge = new PowerJudge(this);
    this.overrideJudge = new OverrideJudge(this);
    this.others = new Others(this);
    const choice = random.fork();
    this.clusterApi = new ClusterApi(this.objects, (count) => choice.between(0, count - 1));
    this.hasBmcs = random.chance(BMC_SHARE);
    this.replicas = ["a", "b"].slice(0, replicas).map(
      (name) =>
        new ControllerReplica({
          name,
          timeline,
          random: network,
          trace,
          server,
          controllers: LOADED,
          lease: LEASE,
          ...(election && { election }),
          flags: this.hasBmcs ? REDFISH : {},
          createProvider: ({ name: asker }, deps) =>
            this.#createProvider(asker, deps, pace.refreshMs),
          onSend: ({ name: asker }, request) => {
            if (this.hostJudge.noteSent(asker, request)) this.#noteWrite(asker);
          },
        }),
    );
    this.repeat(pace.metalMs, () => {
      for (const [key, state] of this.stepMetal()) if (BOOTING.has(state)) this.ironic.deploy(key);
    });
    this.repeat(pace.kubernetesMs, () => {
      for (const path of collectGarbage(this.objects)) trace.note("GC", path);
    });
  }

  /** All Vinos. */
  get vinoes(): readonly ApiObject[] {
    return this.objects.list(VINOES.plural, METAL);
  }

  /** The VinoMachines of a Vino. */
  listObjects({ metadata }: ApiObject): readonly ApiObject[] {
    const all = this.objects.list(VINO_MACHINES.plural, METAL);
    return all.filter((one) => objectAt(one, "spec")["vinoUid"] === metadata["uid"]);
  }

  /** The hypervisors of the pool in which all VMs are. */
  get hypervisors(): readonly XoRecord[] {
    const { paris } = this.site.poolIds;
    return [...this.cloud.state.all("hosts").values()].filter((host) => host["$pool"] === paris);
  }

  /** What was broken so far. */
  get violations(): readonly string[] {
    const judges = [this.cloudJudge, this.hostJudge, this.powerJudge, this.overrideJudge];
    return judges.flatMap(({ violations }) => violations);
  }

  /** Changes of the cloud and of Kubernetes by processes so far. */
  get writes(): number {
    return this.cloudJudge.changes + this.hostJudge.writes;
  }

  /** Orders a Vino, or changes what it asks for. */
  order(name: string, order: Order): void {
    const spec = toSpec(order);
    const path = { namespace: METAL, name };
    const { objects } = this;
    if (objects.get(VINOES.plural, path)) objects.patch(VINOES.plural, path, { spec });
    else objects.create(VINOES.plural, { metadata: { ...path, generation: 1 }, spec });
  }

  /** Has Cluster API make a machine for a role of any Vino. */
  addMachine(): string {
    this.machines += 1;
    const role = this.random.pick(ROLES);
    const name = `${role}-${this.machines}`;
    this.clusterApi.add({ namespace: METAL, name, hostSelector: { [HOST_LABELS.flavor]: role } });
    return name;
  }

  /** Gives the machine's chance back, too. */
  override async leave(): Promise<void> {
    await super.leave();
    this.#stopped.abort(new Error("the simulation is over"));
    this.#leave();
  }

  #createProvider(asker: string, deps: ProviderDeps, refreshMs: number): Provider {
    const raw = {
      url: `http://${asker}.memory`,
      token: this.cloud.token,
      refreshInterval: `${refreshMs}ms`,
    };
    const { settings, issues } = xenOrchestra.parseConfig(raw, {});
    if (settings === undefined) throw new TypeError(JSON.stringify(issues));
    return xenOrchestra.create(settings, deps);
  }

  #fetch(request: Request, signal: AbortSignal): Promise<Response> {
    const one = this.#findAsker(new URL(request.url));
    const { name } = one.process;
    if (this.cloudJudge.noteSent(name, request)) this.#noteWrite(name);
    return one.cloud.send(() => this.#serve(name, request), signal);
  }

  #serve(asker: string, request: Request): Promise<Outcome> {
    const isChange = request.method !== "GET";
    const what = toRoute(request.method, new URL(request.url).pathname);
    const answer = (asked: Request): Promise<Outcome> => this.cloud.answer(asked);
    const serve = (): Promise<Outcome> => (isChange ? this.gate(request, answer) : answer(request));
    return this.crashPoints.pass(asker, { what, isChange, isOfCloud: true }, serve);
  }

  #connect(url: URL, signal: AbortSignal): Peer {
    const one = this.#findAsker(url);
    const { name } = one.process;
    return openRpc(this.cloud, one.cloud, {
      signal,
      onSend: (message) => {
        if (this.cloudJudge.noteCall(name, message)) this.#noteWrite(name);
      },
    });
  }

  #findAsker({ hostname }: URL): ControllerProcess {
    const [asker = ""] = hostname.split(".");
    const one = this.processes.find(({ process }) => process.name === asker);
    if (one === undefined) throw new RangeError(`There is no process ${asker}`);
    return one;
  }

  #noteWrite(asker: string): void {
    const replica = this.replicas.find(({ current }) => current?.process.name === asker);
    if (replica !== undefined) this.crashes.reach(() => replica.kill(), asker);
  }
}

/** How long a request is on its way there and back at most, while the network is fast. */
const WAY_MS = 8;

/** The deaths. */
class Crashes {
  readonly #random: Random;
  readonly #timeline: Timeline;
  readonly #trace: Trace;
  /** How many of the requests that change something a process does not survive. */
  share = 0;

  constructor(random: Random, timeline: Timeline, trace: Trace) {
    this.#random = random;
    this.#timeline = timeline;
    this.#trace = trace;
  }

  /** Called when a process sends a request that changes something. */
  reach(kill: () => void, name: string): void {
    const random = this.#random;
    if (!random.chance(this.share)) return;
    const ms = random.pick([0, random.between(1, WAY_MS), random.between(WAY_MS, 1_000)]);
    this.#trace.note(name, `dies ${ms} ms after it asked for a change`);
    this.#timeline.schedule(ms, kill);
  }
}

/** Opens a connection. @param options.onSend Told of each message as it is sent */
function openRpc(
  cloud: XenOrchestra,
  link: Link,
  { signal, onSend }: { readonly signal: AbortSignal; readonly onSend: (message: string) => void },
): Peer {
  const session = cloud.openSession();
  // The connection ends with the process of the server that it was opened to.
  let life: AbortSignal | undefined;
  const serve = async (message?: string): Promise<Outcome> => {
    if (!cloud.life.isUp || life?.aborted === true) return { kind: "reset" };
    life = cloud.life.signal;
    try {
      const text = message === undefined ? "" : await session.answer(message);
      return { kind: "reply", response: new Response(text), isHalf: false };
    } catch {
      return { kind: "reset" };
    }
  };
  return {
    open: async () => void (await link.send(() => serve(), signal)),
    answer: async (message) => {
      onSend(message);
      return await (await link.send(() => serve(message), signal)).text();
    },
  };
}
