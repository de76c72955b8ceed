/**
 * The machines and Nodes of a storm, and what happens to them.
 * @module
 */
import { createDemoWorld } from "../../../lib/simulator/xenorchestra/mod.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import type { Dice } from "./plan.ts";
import type { XenOrchestraProcess } from "../cloud/xen_orchestra_process.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { UNINITIALIZED, toNodeObject } from "../process/cluster_rig.ts";
import type { Cluster } from "../process/cluster.ts";
import { readJson } from "../kube/contract/client.ts";

/** What a storm changes beside Landfall. */
interface StormWorldOptions {
  readonly cloud: XenOrchestraProcess;
  readonly kubelets: Kubelets;
  readonly dice: Dice;
}

const ACTION_GAP_MS = 350;
const MEMBERS_MAX = 40;
const FIRST_MEMBERS = 24;
const OUTAGE_MS_MAX = 20_000;
const MOVE_MS_MAX = 3_000;
/** For how long a machine on its way to another pool is in neither: with a time-out, less than the hold-off. */
const GAP_MS_MAX = 1_500;
const ORIGINAL_LABELS = { "example.com/owner": "storm" } as const;
const FOREIGN_LABELS = ["example.com/rack", "example.com/team", "storm"] as const;
const FOREIGN_TAINTS = ["example.com/maintenance", "dedicated"] as const;
const { poolIds, hostIds } = createDemoWorld();
const PLACES = Object.entries(hostIds).map(([name, hostId]) => ({
  hostId,
  poolId: name.includes("-par-") ? poolIds.paris : poolIds.lyon,
}));

/** Machines and Nodes, changed by chance. */
export class StormWorld {
  readonly members: Member[] = [];
  /** When pools were lost, by their IDs. */
  readonly #losses = new Map<string, Span[]>();
  readonly #options: StormWorldOptions;
  /** What ends by itself. */
  readonly #pending = new Set<Promise<void>>();

  constructor(options: StormWorldOptions) {
    this.#options = options;
  }

  /** Lets the first Nodes join. */
  begin(): void {
    for (let at = 0; at < FIRST_MEMBERS; at += 1) this.#join();
  }

  /** Lets things happen until the signal aborts, and what goes on come to its end. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#act();
      await Bun.sleep(this.#options.dice.wait(ACTION_GAP_MS));
    }
    await Promise.all(this.#pending);
    // Nothing keeps a kubelet of a machine that runs from being well.
    for (const member of this.members) {
      if (member.state === "running") this.#setReady(member, true);
    }
  }

  /** When a machine may have been hidden though Xen Orchestra answered. */
  listHidden({ gaps, poolIds }: Member): readonly Span[] {
    return [...gaps, ...[...poolIds].flatMap((poolId) => this.#losses.get(poolId) ?? [])];
  }

  /** Deletes machines whose Nodes are in sync. Returns their members. */
  loseSome(count: number): readonly Member[] {
    const lost = this.members.filter(({ state }) => state === "running").slice(-count);
    for (const member of lost) this.#lose(member);
    return lost;
  }

  #act(): void {
    const { dice } = this.#options;
    const live = this.members.filter(({ state }) => state === "running" || state === "halted");
    const idle = live.filter(({ isBusy }) => !isBusy);
    const running = idle.filter(({ state }) => state === "running");
    const actions: readonly (readonly [share: number, act: () => void])[] = [
      [live.length < MEMBERS_MAX ? 6 : 0, () => this.#join()],
      [2, () => this.#leave(dice.pick(idle))],
      [3, () => this.#lose(dice.pick(live.length > FIRST_MEMBERS / 2 ? idle : []))],
      [5, () => this.#flip(dice.pick(running))],
      [4, () => this.#halt(dice.pick(running))],
      [8, () => this.#boot(dice.pick(idle.filter(({ state }) => state === "halted")))],
      [6, () => this.#move(dice.pick(running))],
      [4, () => this.#movePool(dice.pick(running))],
      [5, () => this.#rename(dice.pick(idle))],
      [8, () => this.#edit(dice.pick(idle))],
      [3, () => this.#editOurs(dice.pick(running))],
      [20, () => this.#beat(dice.pick(live))],
      [2, () => this.#dropPool()],
    ];
    let left = dice.next() * actions.reduce((sum, [share]) => sum + share, 0);
    for (const [share, act] of actions) {
      left -= share;
      if (left < 0) return act();
    }
  }

  #join(): void {
    const { cloud, kubelets, dice } = this.#options;
    const number = this.members.length;
    const name = `storm-${number}`;
    const place = dice.pick(PLACES) ?? { poolId: "", hostId: "" };
    const address = `10.66.${number >> 8}.${number & 255}`;
    const vmId = toUuid(`vm/${name}`);
    const labels = new Map<string, string>(Object.entries(ORIGINAL_LABELS));
    this.members.push({
      name,
      vmId,
      address,
      ...place,
      vmName: name,
      state: "running",
      isReady: true,
      isBusy: false,
      registeredAtMs: Date.now(),
      gaps: [],
      poolIds: new Set([place.poolId]),
      labels,
      taints: new Set(),
      history: [],
    });
    cloud.happen("addVm", { name, ...place, addresses: { "0/ipv4/0": address } });
    kubelets.register(name, ORIGINAL_LABELS);
    kubelets.setReady(name, true);
  }

  /** A person deletes the Node, and the machine too, or the kubelet registers anew. */
  #leave(member: Member | undefined): void {
    if (member === undefined) return;
    const { kubelets, cloud, dice } = this.#options;
    kubelets.remove(member.name);
    note(member, "deleted by a person");
    if (dice.next() < 0.5) {
      member.state = "left";
      member.goneAtMs = Date.now();
      cloud.happen("removeVm", member.vmId);
      return;
    }
    member.labels.clear();
    for (const [key, value] of Object.entries(ORIGINAL_LABELS)) member.labels.set(key, value);
    member.taints.clear();
    member.registeredAtMs = Date.now();
    kubelets.register(member.name, ORIGINAL_LABELS);
    this.#setReady(member, member.state === "running");
  }

  #lose(member: Member | undefined): void {
    if (member === undefined) return;
    member.state = "gone";
    member.goneAtMs = Date.now();
    note(member, "machine deleted");
    this.#options.cloud.happen("removeVm", member.vmId);
    this.#setReady(member, false);
  }

  #flip(member: Member | undefined): void {
    if (member) this.#setReady(member, !member.isReady);
  }

  #halt(member: Member | undefined): void {
    if (member === undefined) return;
    member.state = "halted";
    note(member, "halted");
    this.#options.cloud.happen("setPower", member.vmId, "Halted");
    this.#setReady(member, false);
  }

  #boot(member: Member | undefined): void {
    if (member === undefined) return;
    const { cloud } = this.#options;
    const addresses = { "0/ipv4/0": member.address };
    member.state = "running";
    note(member, "booted");
    cloud.happen("setPower", member.vmId, "Running", member.hostId);
    cloud.happen("setVm", member.vmId, { addresses, mainIpAddress: member.address });
    this.#setReady(member, true);
  }

  #move(member: Member | undefined): void {
    const { cloud, dice } = this.#options;
    const place = dice.pick(PLACES.filter(({ poolId }) => poolId === member?.poolId));
    if (member === undefined || place === undefined) return;
    member.hostId = place.hostId;
    cloud.happen("migrateLive", member.vmId, place.hostId);
  }

  #movePool(member: Member | undefined): void {
    const { cloud, dice } = this.#options;
    const place = dice.pick(PLACES.filter(({ poolId }) => poolId !== member?.poolId));
    const forMs = dice.between(0, MOVE_MS_MAX);
    const gapMs = dice.between(0, GAP_MS_MAX);
    if (member === undefined || place === undefined) return;
    member.isBusy = true;
    note(member, "moves to another pool");
    cloud.happen("beginMigration", member.vmId);
    this.#later(forMs, () => {
      Object.assign(member, { ...place, isBusy: false });
      member.poolIds.add(place.poolId);
      member.gaps.push(toSpan(gapMs));
      note(member, `arrives there, to be seen ${Math.round(gapMs)} ms later`);
      cloud.happen("migratePool", member.vmId, place.poolId, { hostId: place.hostId, gapMs });
    });
  }

  #rename(member: Member | undefined): void {
    if (member === undefined) return;
    member.vmName = `${member.name}-${Math.floor(this.#options.dice.next() * 1_000)}`;
    this.#options.cloud.happen("setVm", member.vmId, { name_label: member.vmName });
  }

  /** Somebody changes what is theirs. */
  #edit(member: Member | undefined): void {
    const { kubelets, dice } = this.#options;
    const [label, taint] = [dice.pick(FOREIGN_LABELS), dice.pick(FOREIGN_TAINTS)];
    const value = `v${Math.floor(dice.next() * 1_000)}`;
    const dart = dice.next();
    if (member === undefined || label === undefined || taint === undefined) return;
    if (dart < 0.5) {
      const isThere = !member.taints.delete(taint);
      if (isThere) member.taints.add(taint);
      return kubelets.setTaint(member.name, taint, isThere);
    }
    const isGone = dart > 0.8;
    if (isGone) member.labels.delete(label);
    else member.labels.set(label, value);
    kubelets.setLabel(member.name, label, isGone ? null : value);
  }

  /** Somebody changes what is not theirs. */
  #editOurs(member: Member | undefined): void {
    const { kubelets, dice } = this.#options;
    const key = dice.pick([ZONE, VM_NAME]) ?? ZONE;
    const value = dice.next() < 0.5 ? null : "edited";
    if (member) kubelets.setLabel(member.name, key, value);
  }

  #beat(member: Member | undefined): void {
    if (member) this.#options.kubelets.setReady(member.name, member.isReady);
  }

  #dropPool(): void {
    const { cloud, dice } = this.#options;
    const poolId = dice.pick(Object.values(poolIds)) ?? "";
    const forMs = dice.between(1_000, OUTAGE_MS_MAX);
    this.#losses.set(poolId, [...(this.#losses.get(poolId) ?? []), toSpan(forMs)]);
    cloud.happen("dropPool", poolId, forMs, 0);
  }

  #setReady(member: Member, isReady: boolean): void {
    member.isReady = isReady;
    this.#options.kubelets.setReady(member.name, isReady);
  }

  #later(ms: number, act: () => void): void {
    const pending = Bun.sleep(ms).then(act);
    this.#pending.add(pending);
    void pending.finally(() => this.#pending.delete(pending));
  }
}

/** From now on. */
function toSpan(forMs: number): Span {
  const fromMs = Date.now();
  return { fromMs, toMs: fromMs + forMs };
}

function note({ history }: Member, what: string): void {
  history.push(`${new Date().toISOString()} ${what}`);
}

/** The label of the zone. */
const ZONE = "topology.kubernetes.io/zone";
/** The label of the name of the machine. */
const VM_NAME = "vm.k8s.xenorchestra/name_label";

/** A machine and its Node. */
export interface Member {
  readonly name: string;
  readonly vmId: string;
  readonly address: string;
  poolId: string;
  hostId: string;
  vmName: string;
  /** `gone`: its machine is deleted, so its Node must follow · `left`: a person deleted the Node. */
  state: "running" | "halted" | "gone" | "left";
  isReady: boolean;
  /** When the machine was deleted, in milliseconds since the epoch. */
  goneAtMs?: number;
  /** When the Node was last registered, likewise: one that comes again is another one. */
  registeredAtMs: number;
  /** When the machine was between two pools. */
  readonly gaps: Span[];
  /** Every pool that it was ever in. */
  readonly poolIds: Set<string>;
  /** Something goes on that ends by itself. */
  isBusy: boolean;
  /** What others put on the Node. */
  readonly labels: Map<string, string>;
  readonly taints: Set<string>;
  /** What happened to its machine, each with its time. */
  readonly history: string[];
}

/** What of a Node is not as it should be, in words; nothing when all is. */
export function describeUntruth(member: Member, node: Node | undefined): readonly string[] {
  const { name, state } = member;
  const { spec, metadata, status } = node ?? {};
  const taints = (spec?.taints ?? []).map(({ key }) => key);
  // A machine that went before its Node was looked at is none that anybody can prove gone; one that was halted by then
  // may be a copy, so its Node waits until it runs.
  const isNobodys = spec?.providerID === undefined && taints.includes(UNINITIALIZED.key);
  if ((state === "gone" || state === "halted") && isNobodys) return [];
  if (state === "left" || state === "gone") return node ? [`${name} is ${state}, but there`] : [];
  if (metadata === undefined) return [`${name} is missing`];
  const ours = taints.filter((key) => key.startsWith("node.cloudprovider.kubernetes.io/"));
  const theirs = taints.filter((key) => !ours.includes(key));
  const labels = metadata.labels ?? {};
  const untrue: string[] = [];
  const expect = (what: string, is: unknown, wanted: unknown): void => {
    if (JSON.stringify(is) !== JSON.stringify(wanted))
      untrue.push(`${name}: ${what} is ${JSON.stringify(is)}, not ${JSON.stringify(wanted)}`);
  };
  const wanted = state === "halted" ? ["node.cloudprovider.kubernetes.io/shutdown"] : [];
  expect("taints of ours", ours, wanted);
  expect("taints of others", theirs.toSorted(), [...member.taints].toSorted());
  const foreign = Object.entries(labels).filter(([key]) => /^(example\.com\/|storm$)/.test(key));
  expect("labels of others", foreign.toSorted(), [...member.labels].toSorted());
  expect("machine", spec?.providerID?.split("/").at(-1), member.vmId);
  expect("region", labels["topology.kubernetes.io/region"], member.poolId);
  expect("name of the machine", labels[VM_NAME], member.vmName);
  if (state !== "running") return untrue;
  expect("zone", labels[ZONE], member.hostId);
  const address = status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
  expect("address", address, member.address);
  return untrue;
}

const TRY_MS = 4_000;
const PAUSE_MS = 250;
const NOT_FOUND = 404;
const CONFLICT = 409;
const UNPROCESSABLE = 422;
const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";

type Taints = NonNullable<NonNullable<Node["spec"]>["taints"]>;

/** Asks in the name of all kubelets, and of people. */
export class Kubelets {
  readonly #cluster: Cluster;
  readonly #signal: AbortSignal;
  /** By name of Node: the end of what was asked for it. */
  readonly #queues = new Map<string, Promise<void>>();
  /** Answers that nobody expected. */
  readonly findings: string[] = [];

  /** @param signal Ends all tries */
  constructor(cluster: Cluster, signal: AbortSignal) {
    this.#cluster = cluster;
    this.#signal = signal;
  }

  /** Registers a Node, with labels of others. */
  register(name: string, labels: Readonly<Record<string, string>>): void {
    const body = JSON.stringify(toNodeObject(name, { labels }));
    const headers = { "content-type": "application/json" };
    this.#ask(name, () => this.#send("/api/v1/nodes", { method: "POST", headers, body }));
  }

  /** Deletes a Node, as a person does who has drained it. */
  remove(name: string): void {
    this.#ask(name, () => this.#send(`/api/v1/nodes/${name}`, { method: "DELETE" }));
  }

  /** Says whether a kubelet is well; so does a heartbeat. */
  setReady(name: string, isReady: boolean): void {
    const lastHeartbeatTime = `${new Date().toISOString().slice(0, 19)}Z`;
    const status = isReady ? "True" : "Unknown";
    const condition = { type: "Ready", status, reason: "Storm", message: "", lastHeartbeatTime };
    this.#patch(name, "/status", STRATEGIC, () => ({ status: { conditions: [condition] } }));
  }

  /** Sets a label; `null` takes it away. */
  setLabel(name: string, key: string, value: string | null): void {
    this.#patch(name, "", MERGE, () => ({ metadata: { labels: { [key]: value } } }));
  }

  /** Adds a taint or takes it away. */
  setTaint(name: string, key: string, isThere: boolean): void {
    this.#ask(name, async () => {
      const response = await this.#send(`/api/v1/nodes/${name}`, {});
      if (!response.ok) return response;
      const { metadata, spec } = await readJson<Node>(response);
      const others: Taints = (spec?.taints ?? []).filter((taint) => taint.key !== key);
      const taint = { key, value: "storm", effect: "NoSchedule" };
      const taints = isThere ? [...others, taint] : others;
      const { resourceVersion } = metadata;
      return await this.#sendPatch(name, "", MERGE, {
        metadata: { resourceVersion },
        spec: { taints },
      });
    });
  }

  /** Resolves once all that was asked for has been answered. */
  async settle(): Promise<void> {
    await Promise.all(this.#queues.values());
  }

  /** Every Node, once the API server answers. */
  async listNodes(): Promise<ReadonlyMap<string, Node>> {
    const response = await this.#send("/api/v1/nodes", {});
    const { items } = await readJson<{ readonly items: readonly Node[] }>(response);
    return new Map(items.map((node) => [node.metadata.name, node]));
  }

  #patch(name: string, part: string, type: string, toBody: () => object): void {
    this.#ask(name, () => this.#sendPatch(name, part, type, toBody()));
  }

  #sendPatch(name: string, part: string, type: string, body: object): Promise<Response> {
    return this.#send(`/api/v1/nodes/${name}${part}`, {
      method: "PATCH",
      headers: { "content-type": type },
      body: JSON.stringify(body),
    });
  }

  #send(path: string, init: RequestInit): Promise<Response> {
    return this.#cluster.adminFetch(path, { ...init, signal: AbortSignal.timeout(TRY_MS) });
  }

  #ask(name: string, send: () => Promise<Response>): void {
    const before = this.#queues.get(name) ?? Promise.resolve();
    this.#queues.set(
      name,
      before.then(() => this.#untilAnswered(name, send)),
    );
  }

  async #untilAnswered(name: string, send: () => Promise<Response>): Promise<void> {
    for (let tries = 0; !this.#signal.aborted; tries += 1) {
      // An answer may break off in its middle.
      const answer = await send()
        .then(async (response) => ({ code: response.status, text: await response.text() }))
        .catch(() => undefined);
      if (answer !== undefined && this.#isSettled(name, answer, tries)) return;
      await Bun.sleep(PAUSE_MS);
    }
  }

  /** Whether an answer is the last one: done, or of no use any more. */
  #isSettled(
    name: string,
    { code, text }: { readonly code: number; readonly text: string },
    tries: number,
  ): boolean {
    if (code < 300 || code === NOT_FOUND) return true;
    // A try that was not answered may have registered it.
    if (code === CONFLICT) return text.includes("AlreadyExists") && tries > 0;
    if (code === UNPROCESSABLE || code === 400) {
      this.findings.push(`a request for ${name} got ${code}: ${text}`);
      return true;
    }
    return false;
  }
}

/** A span of time. Milliseconds since the epoch; one that has not ended ends at `Infinity`. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The longest time within a span that no disturbance touches, in milliseconds. */
export function findLongestCalm({ fromMs, toMs }: Span, disturbances: readonly Span[]): number {
  let calmFromMs = fromMs;
  let longestMs = 0;
  for (const one of disturbances.toSorted((a, b) => a.fromMs - b.fromMs)) {
    longestMs = Math.max(longestMs, Math.min(one.fromMs, toMs) - calmFromMs);
    calmFromMs = Math.max(calmFromMs, one.toMs);
  }
  return Math.max(longestMs, toMs - calmFromMs);
}
