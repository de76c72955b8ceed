/**
 * Everything a story happens to: the API server, the cloud, two replicas, and what ties Nodes to machines.
 * @module
 */
import type { OutOfServiceSettings } from "../../../lib/cloud/deletion/streak.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { Outcome } from "../../../lib/simulator/loopback.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { toRegistration } from "../../support/nodes/nodes.ts";
import { crash, CrashPoints } from "../crash_points.ts";
import { ApiServer } from "./api_server.ts";
import type { Cloud, Origin, Surroundings, WorldSettings } from "./cloud.ts";
import { Invariants } from "../judges/invariants.ts";
import { drawFrom, type Random, type Seed } from "../../support/random.ts";
import { type Incarnation, Replica } from "./replica.ts";
import { type Said, SettingsFile, toSaying, LeftAddresses } from "./settings_file.ts";
import { takeOver } from "./surroundings.ts";
import { rest, Timeline } from "../timeline.ts";
import { Trace } from "../trace.ts";
import type { TransportRequest } from "../../../lib/kube/api/request.ts";

/** How many machines have a firmware that reports their UUIDs with the first three parts in the other byte order. */
const SWAPPED_SHARE = 0.1;

/** In how many stories Nodes are taken out of service. */
const POWER_SHARE = 0.4;
/** Sets that choice apart from all others of a seed. */
const POWER_SALT = 0x0ff;

const FOREIGN_PREFIX = "aws:///";

/** The world of one seed, with one cloud. */
export class World<C extends Cloud = Cloud> implements Surroundings, AsyncDisposable {
  readonly settings: WorldSettings;
  readonly random: Random;
  readonly timeline: Timeline = new Timeline();
  readonly trace: Trace = new Trace(this.timeline);
  readonly server: ApiServer = new ApiServer(this.timeline);
  readonly cloud: C;
  readonly invariants: Invariants;
  readonly replicas: readonly Replica[];
  /** How careful whoever takes Nodes out of service is; absent: nobody does. */
  readonly outOfService: OutOfServiceSettings | undefined;
  /** Machines by the name of the Node that they are, or are to be. */
  readonly machines: Map<string, string> = new Map();
  /** What people want the settings files to say, in the end. */
  said: Said;
  readonly leftAddresses: LeftAddresses;
  /** Requests at which a process dies. */
  readonly crashPoints: CrashPoints = new CrashPoints((name, how) => crash(this, name, how));
  readonly #giveBack: () => void;
  #machineCount = 0;
  #bootCount = 0;

  constructor(
    seed: Seed,
    toSettings: (random: Random) => WorldSettings,
    createCloud: (origin: Origin) => C,
  ) {
    const { timeline, trace, server } = this;
    this.random = drawFrom(seed);
    const { random } = this;
    const settings = toSettings(random);
    this.settings = settings;
    const { deletion, refreshIntervalMs, election } = settings;
    const chance = random.fork();
    const network = random.fork();
    this.cloud = createCloud({ seed, random, timeline, trace, settings });
    const { firstLabels: labels, firstSecret: token } = this.cloud;
    this.leftAddresses = new LeftAddresses(seed);
    const leavesAddresses = this.leftAddresses.draw();
    this.said = { deletion, refreshIntervalMs, labels, leavesAddresses, token };
    this.invariants = new Invariants(this);
    server.gate = this.crashPoints.toGate();
    server.onNodeChange = (change) => this.invariants.checkChange(change);
    server.onServiceChange = (change) => this.invariants.checkService(change);
    server.onIdleWrite = (author, request) => this.invariants.checkIdle(author, request);
    server.onHold = (name) => {
      const held = this.incarnations.find(({ process }) => process.name === name);
      if (held) held.ledMs ??= timeline.monotonic();
    };
    server.onEarlyTake = (author, from) => this.invariants.checkEarlyTake(author, from);
    this.cloud.onAnswer = (asker, answer) => {
      this.invariants.known.noteAnswer(asker, answer.request);
      this.invariants.evidence.noteAnswer(asker, answer);
    };
    const power = drawFrom(seed, POWER_SALT);
    const outOfService =
      power.chance(POWER_SHARE) && this.cloud.provesOff
        ? { confirmations: power.between(1, 2), graceMs: power.pick([0, 0, 10_000]) }
        : settings.outOfService;
    this.outOfService = outOfService;
    this.replicas = ["a", "b"].slice(0, this.settings.replicas).map(
      (name) =>
        new Replica({
          name,
          timeline,
          trace,
          server,
          definition: this.cloud.definition,
          file: new SettingsFile(toSaying(this.cloud, this.said)),
          random: network,
          ...(election && { election }),
          ...(outOfService && { outOfService }),
          ...(this.cloud.balancing && { serviceFlags: this.cloud.balancing.flags }),
          onServe: ({ name: asker }, request) => this.#noteServed(asker, request),
          onSend: (process, request) => this.invariants.checkSent(process, request),
          onPiece: (process, piece) => {
            this.invariants.proofs.notePiece(process.name, piece);
            this.cloud.balancing?.notePiece(process.name, piece);
          },
          onFailure: (process) => this.invariants.proofs.noteFailure(process.name),
          onInventory: ({ name }, inventory) =>
            this.invariants.proofs.fleet.noteInventory(name, inventory),
          onSettings: (...told) => this.invariants.checkSettings(...told),
        }),
    );
    this.#giveBack = takeOver(chance, (request, signal) => this.#fetch(request, signal));
    if (this.cloud.balancing) server.drawClusterIds();
    this.truth.note();
  }

  /** What is true of machines. */
  get truth(): C["truth"] {
    return this.cloud.truth;
  }

  /** What judges say so far. */
  get violations(): readonly string[] {
    return this.invariants.violations;
  }

  /** Every process that ever was. */
  get incarnations(): Incarnation[] {
    return this.replicas.flatMap(({ incarnations }) => incarnations);
  }

  /** A process that is or was. @throws {RangeError} when there is none of that name */
  findProcess(name: string): Incarnation {
    const found = this.incarnations.find(({ process }) => process.name === name);
    if (found === undefined) throw new RangeError(`There is no process ${name}`);
    return found;
  }

  /** The settings that a process is under; those that people want while it could use none. */
  findSaid(name: string): Said {
    return this.findProcess(name).uses.at(-1)?.said ?? this.said;
  }

  /** A Node, if there is one of that name. */
  findNode(name: string): Node | undefined {
    return this.server.findNode(name);
  }

  /** Creates a machine for a Node that may join later. Returns its UUID. @param part As in {@linkcode Cloud.addVm} */
  addMachine(name: string, part?: number): string {
    const id = this.addVm(name, toUuid(`vm/${name}/${this.#machineCount + 1}`), part);
    this.machines.set(name, id);
    return id;
  }

  /** Creates a machine. Returns its UUID. @param part As in {@linkcode Cloud.addVm} */
  addVm(name: string, id: string, part?: number): string {
    this.#machineCount += 1;
    this.cloud.addVm(name, id, `10.1.0.${this.#machineCount}`, part);
    return id;
  }

  /** Whether the machine of a Node runs. */
  isRunning(name: string): boolean {
    return this.truth.isRunning(this.machines.get(name) ?? "");
  }

  /** Takes in that something is different now: what is true, and how many Nodes there are. */
  noteChange(): void {
    this.truth.note();
    this.invariants.proofs.noteSize();
    this.invariants.checkCloud();
  }

  /** Whether a Node is of another cloud. */
  isForeign(name: string): boolean {
    return this.findNode(name)?.spec?.providerID?.startsWith(FOREIGN_PREFIX) ?? false;
  }

  /** Registers a Node of another cloud, which waits for the controller of that. */
  joinForeign(name: string): void {
    const node = toRegistration(name, { providerId: `${FOREIGN_PREFIX}zone-1/i-${name}` });
    this.server.objects.createNode(node);
    this.setReady(name, true);
  }

  /** Registers a Node for its machine, as a kubelet does with `--cloud-provider=external`. */
  join(name: string): void {
    const vmId = this.machines.get(name) ?? "";
    const systemUuid = this.random.chance(SWAPPED_SHARE) ? swapUuid(vmId) : vmId;
    const labels = { "kubernetes.io/hostname": name, "example.com/theirs": "kept" };
    this.server.objects.createNode(toRegistration(name, { systemUuid, labels }));
    this.boot(name);
  }

  /** The kubelet of a machine that was started reports. */
  boot(name: string): void {
    this.#bootCount += 1;
    const nodeInfo = { bootID: `boot-${this.#bootCount}` };
    this.server.objects.patchNodeStatus(name, { nodeInfo });
    this.setReady(name, true);
  }

  /** Says that the kubelet of a Node is well, or that Kubernetes does not hear it. */
  setReady(name: string, isReady: boolean): void {
    this.report(name, isReady ? "True" : "Unknown");
  }

  /** Says of a Node what its kubelet, or the node monitor of Kubernetes, says of it. */
  report(name: string, status: "True" | "False" | "Unknown"): void {
    this.server.objects.patchNodeStatus(name, { conditions: [{ type: "Ready", status }] });
  }

  /** Ends whatever goes wrong with servers, networks, processes and settings; what is true stays as it is. */
  endFaults(): void {
    const { cloud, server, replicas, incarnations, said } = this;
    for (const { file } of replicas) file.write(toSaying(cloud, said));
    cloud.endFaults();
    server.faults.clear();
    for (const { process, kube, election, cloud: toCloud } of incarnations) {
      process.resume();
      if (cloud.needsRightClock) process.setRight();
      for (const link of [kube, election, toCloud]) link.heal();
    }
  }

  /** Gives the machine that all this runs on its own back. */
  async leave(): Promise<void> {
    // What was killed or never stopped is not to be remembered by signals that never abort.
    for (const { process, stop } of this.incarnations) {
      process.kill();
      stop.abort(new Error("the simulation is over"));
    }
    this.cloud.stop();
    // What wakes by that still draws from the chance of this story, not of the next one.
    await rest();
    this.#giveBack();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }

  #fetch(request: Request, signal: AbortSignal): Promise<Response> {
    const asker = new URL(request.url).hostname.split(".")[0] ?? "";
    const { cloud: link } = this.findProcess(asker);
    this.invariants.checkAsked(asker, request);
    const answer = async (): Promise<Outcome> => {
      const outcome = await this.cloud.answer(asker, request);
      this.invariants.checkCloud();
      return outcome;
    };
    const gated = async (): Promise<Outcome> => {
      const asked = await this.cloud.toAsked?.(request);
      return await (asked ? this.crashPoints.pass(asker, asked, answer) : answer());
    };
    return link.send(gated, signal);
  }

  /** What of Services and Nodes an answer of the API server may show. */
  #noteServed(asker: string, { method, path }: TransportRequest): () => void {
    const { balancing } = this.cloud;
    if (path.includes("watch=")) return () => undefined;
    if (balancing && path.includes("/services")) {
      const { services } = this.server;
      return () => balancing.noteShown(asker, services);
    }
    const { proofs } = this.invariants;
    const written = method === "PATCH" ? NODE_PATH.exec(path)?.[1] : undefined;
    // What a process wrote it knows, even while its watch is cut.
    if (written !== undefined) {
      return () => {
        const node = this.server.findNode(written);
        if (node !== undefined) proofs.fleet.noteEvent(asker, "MODIFIED", node);
      };
    }
    if (method !== "GET" || !/^\/api\/v1\/nodes(\?|$)/.test(path)) return () => undefined;
    const { nodes } = this.server;
    return () => proofs.noteNodes(asker, nodes);
  }
}

/** The path of one Node. */
const NODE_PATH = /^\/api\/v1\/nodes\/([^/?]+)/;

/** A UUID as such a firmware reports it. Source: SMBIOS 2.6, §7.2.1. */
function swapUuid(uuid: string): string {
  const turn = (part: string): string => (part.match(/../g) ?? []).toReversed().join("");
  const [one = "", two = "", three = "", ...rest] = uuid.split("-");
  return [turn(one), turn(two), turn(three), ...rest].join("-");
}
