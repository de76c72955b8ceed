/**
 * Everything a story happens to: the API server, the cloud, two replicas, and what ties Nodes to machines.
 * @module
 */
import type { DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import type { OutOfServiceSettings } from "../../../lib/cloud/deletion/off_streaks.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { toRegistration } from "../../support/nodes/nodes.ts";
import { ApiServer } from "./api_server.ts";
import { Cloud, TOKEN } from "./cloud.ts";
import { Invariants } from "../judges/invariants.ts";
import { Random } from "../../support/random.ts";
import { ELECTION, type ElectionTimes, type Incarnation, Replica } from "./replica.ts";
import { type Said, SettingsFile, toSaying } from "./settings_file.ts";
import { takeOver } from "./surroundings.ts";
import { rest, Timeline } from "../timeline.ts";
import { Trace } from "../trace.ts";
import { type LabelSettings, Truth, TYPE_TAG } from "../judges/truth.ts";
import { LeftAddresses, OwnLabels, TAG_PREFIX } from "./own_labels.ts";

/** What differs from seed to seed. */
export interface WorldSettings {
  /** What the settings files say at first. */
  readonly deletion: DeletionSettings;
  readonly refreshIntervalMs: number;
  /** How many processes run at a time: one or two. */
  readonly replicas: number;
  readonly pools: number;
  readonly nodes: number;
  /** @default {those of Kubernetes} */
  readonly election?: ElectionTimes;
}

/** How many machines have a firmware that reports their UUIDs with the first three parts in the other byte order. */
const SWAPPED_SHARE = 0.1;

/** How many stories are of a user who may not read the connections to pools, as long as faults last. */
const BLIND_SHARE = 0.25;
/** Sets that choice apart from all others of a seed. */
const BLIND_SALT = 0x5e7e5;

/** In how many stories Nodes are taken out of service. */
const POWER_SHARE = 0.4;
/** Sets that choice apart from all others of a seed. */
const POWER_SALT = 0x0ff;

/** How many machines have a tag that may say their type. */
const TAGGED_SHARE = 0.5;
const FOREIGN_PREFIX = "aws:///";

/** The world of one seed. */
export class World {
  readonly settings: WorldSettings;
  readonly random: Random;
  readonly timeline: Timeline = new Timeline();
  readonly trace: Trace = new Trace(this.timeline);
  readonly server: ApiServer = new ApiServer(this.timeline);
  readonly cloud: Cloud;
  readonly truth: Truth;
  readonly invariants: Invariants;
  readonly replicas: readonly Replica[];
  /** How careful whoever takes Nodes out of service is; absent: nobody does. */
  readonly outOfService: OutOfServiceSettings | undefined;
  /** Machines by the name of the Node that they are, or are to be. */
  readonly machines: Map<string, string> = new Map();
  /** What people want the settings files to say, in the end. */
  said: Said;
  readonly ownLabels: OwnLabels;
  readonly leftAddresses: LeftAddresses;
  readonly #giveBack: () => void;
  #machineCount = 0;
  #bootCount = 0;
  #addressCount = 0;

  constructor(seed: number, toSettings: (random: Random) => WorldSettings) {
    const { timeline, trace, server } = this;
    this.random = new Random(seed);
    this.settings = toSettings(this.random);
    const { deletion, refreshIntervalMs, pools, election = ELECTION } = this.settings;
    const chance = this.random.fork();
    const network = this.random.fork();
    this.cloud = new Cloud(timeline, pools);
    this.ownLabels = new OwnLabels(seed);
    const labels = this.toOwnLabels({ zoneFrom: "host" });
    this.leftAddresses = new LeftAddresses(seed);
    const leavesAddresses = this.leftAddresses.draw();
    this.said = { deletion, refreshIntervalMs, labels, leavesAddresses, token: TOKEN };
    // Rights filter the list without a word.
    if (new Random(seed ^ BLIND_SALT).chance(BLIND_SHARE)) this.cloud.hideConnections();
    this.truth = new Truth(this.cloud, timeline);
    this.invariants = new Invariants(this);
    server.onNodeChange = (change) => this.invariants.checkChange(change);
    server.onIdleWrite = (author, request) => this.invariants.checkIdle(author, request);
    server.onHold = (name) => {
      const held = this.incarnations.find(({ process }) => process.name === name);
      if (held) held.ledMs ??= timeline.monotonic();
    };
    server.onEarlyTake = (author, from) => this.invariants.checkEarlyTake(author, from);
    this.cloud.onAnswer = (asker, request, response) => {
      this.invariants.known.noteAnswer(asker, request);
      this.invariants.proofs.noteAnswer(asker, request, response);
      this.invariants.power.noteAnswer(asker, request);
    };
    const power = new Random(seed ^ POWER_SALT);
    const outOfService = power.chance(POWER_SHARE)
      ? { confirmations: power.between(1, 2), graceMs: power.pick([0, 0, 10_000]) }
      : undefined;
    this.outOfService = outOfService;
    this.replicas = ["a", "b"].slice(0, this.settings.replicas).map(
      (name) =>
        new Replica({
          name,
          timeline,
          trace,
          server,
          file: new SettingsFile(this.said),
          election,
          random: network,
          ...(outOfService && { outOfService }),
          onSend: (process, request) => this.invariants.checkSent(process, request),
          onPiece: (process, piece) => this.invariants.proofs.notePiece(process.name, piece),
          onFailure: (process) => this.invariants.proofs.noteFailure(process.name),
          onInventory: ({ name }, inventory) =>
            this.invariants.proofs.fleet.noteInventory(name, inventory),
          onList: ({ name }, nodes) => this.invariants.proofs.noteNodes(name, nodes),
          onSettings: (...told) => this.invariants.checkSettings(...told),
        }),
    );
    this.#giveBack = takeOver(chance, (request, signal) => this.#fetch(request, signal));
    this.truth.note();
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

  /** Creates a machine for a Node that may join later. Returns its UUID. */
  addMachine(name: string): string {
    const id = this.addVm(name, toUuid(`vm/${name}/${this.#machineCount + 1}`));
    this.machines.set(name, id);
    return id;
  }

  /** Creates a machine. Returns its UUID. */
  addVm(name: string, id: string): string {
    const { random, cloud } = this;
    this.#machineCount += 1;
    const pool = random.pick(cloud.pools);
    cloud.state.addVm({
      name,
      id,
      poolId: pool.id,
      hostId: random.pick(pool.hostIds),
      addresses: { "0/ipv4/0": `10.1.0.${this.#machineCount}` },
      tags: [
        ...(random.chance(TAGGED_SHARE) ? [`${TYPE_TAG}${random.pick(["small", "big"])}`] : []),
        ...this.ownLabels.drawTags(),
      ],
    });
    return id;
  }

  /** Label settings with names of this story's own, or without. */
  toOwnLabels(labels: LabelSettings): LabelSettings {
    return this.ownLabels.draw(
      labels,
      this.cloud.pools.map(({ id }) => id),
    );
  }

  /** Gives machines other tags for labels; in most stories none. */
  retag(): void {
    for (const vmId of this.machines.values()) {
      const tags = this.ownLabels.drawTags();
      const before = this.truth.find(vmId)?.["tags"];
      if (tags.length === 0 || !Array.isArray(before)) continue;
      const kept = before.filter((tag) => !String(tag).startsWith(TAG_PREFIX));
      this.cloud.state.setVm(vmId, { tags: [...kept, ...tags] });
    }
  }

  /** Lets a machine report an address, as its guest tools do. */
  giveAddress(vmId: string): void {
    this.#addressCount += 1;
    const address = `10.1.1.${this.#addressCount % 250}`;
    this.cloud.state.setVm(vmId, { addresses: { "0/ipv4/0": address }, mainIpAddress: address });
  }

  /** Whether the machine of a Node runs. */
  isRunning(name: string): boolean {
    return this.truth.isRunning(this.machines.get(name) ?? "");
  }

  /** Whether the cloud is connected to the pool of a machine, or tries to be. */
  isConnected(vmId: string): boolean {
    const poolId = this.truth.find(vmId)?.["$pool"];
    return this.cloud.pools.some(({ id }) => id === poolId);
  }

  /** Takes in that something is different now: what is true, and how many Nodes there are. */
  noteChange(): void {
    this.truth.note();
    this.invariants.proofs.noteSize();
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
    for (const { file } of replicas) file.write(toSaying(said));
    cloud.endFaults();
    cloud.events.mode = "right";
    server.faults.clear();
    for (const { id } of cloud.pools) {
      cloud.state.restorePool(id);
      cloud.state.hideVms(id, false);
    }
    for (const { process, kube, election, cloud: toCloud } of incarnations) {
      process.resume();
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

  #fetch(request: Request, signal: AbortSignal): Promise<Response> {
    const asker = new URL(request.url).hostname.split(".")[0] ?? "";
    const { cloud: link } = this.findProcess(asker);
    return link.send(() => this.cloud.answer(asker, request), signal);
  }
}

/** A UUID as such a firmware reports it. Source: SMBIOS 2.6, §7.2.1. */
function swapUuid(uuid: string): string {
  const turn = (part: string): string => (part.match(/../g) ?? []).toReversed().join("");
  const [one = "", two = "", three = "", ...rest] = uuid.split("-");
  return [turn(one), turn(two), turn(three), ...rest].join("-");
}
