/**
 * The machines and Nodes of a storm, and what happens to them.
 * @module
 */
import { createDemoWorld } from "../../../lib/simulator/xenorchestra/mod.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import type { Span } from "./calm.ts";
import type { Kubelets } from "./kubelets.ts";
import type { Dice } from "./plan.ts";
import { type Member, VM_NAME, ZONE } from "./truth.ts";
import type { XenOrchestraProcess } from "../cloud/xen_orchestra_process.ts";

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
