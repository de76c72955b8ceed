/**
 * What must never happen to what VMs boot from, and what must be undone in the end.
 * @module
 */
import type { ApiObject, ObjectAccess } from "../../../../lib/simulator/kubernetes/mod.ts";
import { hasBmc, pathOf } from "../../../../lib/simulator/metal3/host_state.ts";
import type { XenOrchestra, XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";
import type { Journaled } from "../../../../lib/simulator/xenorchestra/writes/hypervisor.ts";
import type { Trace } from "../../trace.ts";
import type { ApiServer, Change } from "../../world/api_server.ts";
import { toVmId } from "../ironic.ts";
import { type Birth, isReady, type Machines } from "./machines.ts";
import type { Wishes } from "./wishes.ts";
import { objectAt, stringAt } from "../../../../lib/simulator/kubernetes/patches/json.ts";

/** What an {@linkcode OverrideJudge} needs of a world. */
interface OverrideWorld {
  readonly cloud: XenOrchestra;
  readonly server: ApiServer;
  readonly objects: ObjectAccess;
  readonly trace: Trace;
  readonly cloudJudge: { readonly machines: Machines; readonly wishes: Wishes };
}

const SET = "VM.set_HVM_boot_params";
/** Calls that use an order up. */
const STARTS: ReadonlySet<string> = new Set(["VM.start", "VM.hard_reboot", "VM.clean_reboot"]);

/** Watches over boot orders. */
export class OverrideJudge {
  readonly violations: string[] = [];
  readonly #world: OverrideWorld;
  /** What each VM booted from when it was complete first, by ID. */
  readonly #natural = new Map<string, string>();
  /** VMs of which nobody can know any more what they booted from. */
  readonly #excused = new Set<string>();
  /** Calls under way, by ID of the VM. */
  readonly #open = new Map<string, number>();
  /** What clients were told that a VM boots from at its next start, as the first letter of its order. */
  readonly #promised = new Map<string, string>();

  constructor(world: OverrideWorld) {
    this.#world = world;
    world.cloud.hypervisor.watch((entry) => this.#look(entry));
    world.server.follow<ApiObject>("secrets", (change) => this.#lookAtSecret(change));
  }

  /** A client was told that a VM boots from a device at its next start; without a device, that may not be so. */
  notePromise(vmId: string, device?: string): void {
    if (device === undefined) this.#promised.delete(vmId);
    else this.#promised.set(vmId, LETTERS[device] ?? "");
  }

  /** What is not undone, in sentences. */
  listUntrue(): readonly string[] {
    const { objects } = this.#world;
    const machines = this.#listMachines();
    const hosted = new Set(objects.list("baremetalhosts").filter(hasBmc).map(toVmId));
    /** Orders of VMs that stay although their hosts went: those that hold for good stay, too. */
    const kept = new Map<string, string>();
    const waiting = objects.list("secrets").flatMap((secret) => {
      const override = parseOverride(secret);
      const { name } = pathOf(secret);
      const id = toOverriddenVm(secret);
      // One about a VM that is gone has no effect.
      const isMeant = machines.some(({ vm }) => vm.id === id);
      if (override === undefined || !isMeant) return [];
      const isKept = override.duration === "always" && !hosted.has(id);
      if (isKept) kept.set(id, override.order);
      return isKept ? [] : [`${name} has an override: ${override.duration}`];
    });
    const changed = machines.flatMap(({ vm, birth }) => {
      const natural = kept.get(vm.id) ?? this.#natural.get(vm.id) ?? orderOf(vm);
      if (natural === orderOf(vm) || this.#excused.has(vm.id)) return [];
      return [`${birth.name} boots from ${orderOf(vm)}, and at first it was ${natural}`];
    });
    return [...waiting, ...changed];
  }

  #listMachines(): { readonly vm: XoRecord; readonly birth: Birth }[] {
    return this.#world.cloudJudge.machines.list().filter(({ vm }) => isReady(vm));
  }

  #look(entry: Journaled): void {
    const { method, id = "", outcome } = entry;
    if (STARTS.has(method)) this.#judgeStart(entry);
    for (const { vm } of this.#listMachines()) {
      if (!this.#natural.has(vm.id)) this.#natural.set(vm.id, orderOf(vm));
    }
    if (method !== SET || !this.#natural.has(id)) return;
    const open = this.#open.get(id) ?? 0;
    this.#open.set(id, open + (outcome === "sent" ? 1 : -1));
    // A process that died can have asked for it long ago: which one comes last, only the hypervisor knows.
    if (outcome === "sent" && open > 0) this.#excused.add(id);
    const birth = this.#world.cloudJudge.machines.findBirth(id);
    if (outcome === "sent" && birth !== undefined) this.#judgeOrder(id, birth);
  }

  /** Only a start from off certainly uses the order, so that is what a process asks for. */
  #judgeStart({ method, id = "", outcome }: Journaled): void {
    const promised = this.#promised.get(id);
    if (outcome === "done") this.#promised.delete(id);
    if (outcome !== "sent" || method !== "VM.start" || promised === undefined) return;
    const vm = this.#world.cloud.state.all("vms").get(id);
    if (vm === undefined || orderOf(vm).startsWith(promised) || this.#excused.has(id)) return;
    this.#accuse(
      `${String(vm["name_label"])} starts from ${orderOf(vm)}, and not from ${promised}`,
    );
  }

  /** What must be undone is written down first. */
  #judgeOrder(id: string, birth: Birth): void {
    const { cloudJudge, objects } = this.#world;
    const host = cloudJudge.wishes.toHostName(birth);
    const secret = objects
      .list("secrets")
      .find(({ metadata }) => metadata.name === toSecretName(host));
    if (this.#excused.has(id)) return;
    if (secret === undefined || parseOverride(secret) === undefined) {
      this.#accuse(`${birth.name} gets another boot order, and nobody would know`);
    }
  }

  /** The record goes only after the old order is back. Who deletes the Secret takes it away. */
  #lookAtSecret({ author, before, after }: Change<ApiObject>): void {
    const override = before && parseOverride(before);
    if (override === undefined) return;
    const isKept = after !== undefined && parseOverride(after) !== undefined;
    if (isKept) return;
    const { machines, wishes } = this.#world.cloudJudge;
    const ours = machines
      .list()
      .filter(({ birth }) => toSecretName(wishes.toHostName(birth)) === before?.metadata.name);
    for (const { vm, birth } of ours) {
      if (author === undefined) this.#promised.delete(vm.id);
      if (after === undefined || author === undefined) this.#excused.add(vm.id);
      else if (override.order !== override.before && orderOf(vm) === override.order) {
        this.#judgeEnd(vm.id, birth, author);
      }
    }
  }

  #judgeEnd(id: string, { name }: Birth, author: string): void {
    if (this.#excused.has(id)) return;
    this.#accuse(`${author} forgets the old boot order of ${name}, which has the new one`);
  }

  #accuse(what: string): void {
    this.violations.push(what);
    this.#world.trace.note("JUDGE", what);
  }
}

const RECORD = "landfall.dev/boot-override";
/** Devices in letters of the hypervisor. */
const LETTERS: Readonly<Record<string, string>> = { disk: "c", network: "n", cd: "d" };

/** What is written down. */
export interface Override {
  readonly duration: string;
  /** In letters of the hypervisor, while it holds: `ncd`. */
  readonly order: string;
  /** The order that comes back. */
  readonly before: string;
  /** How the VM was when it had its new order. Absent: it may not have it yet. */
  readonly since?: { readonly isRunning: boolean; readonly startedAtMs?: number };
}

/** The name of the Secret with the override of a host. */
function toSecretName(host: string): string {
  return `${host}-boot-override`;
}

/** The override of a host. Absent: there is none. */
export function readOverride(objects: ObjectAccess, host: ApiObject): Override | undefined {
  const { namespace, name } = pathOf(host);
  const secret = objects.get("secrets", { namespace, name: toSecretName(name) });
  const isMeant = secret && toOverriddenVm(secret) === toOverriddenVm(host);
  return isMeant === true ? parseOverride(secret) : undefined;
}

/** The override that a Secret has. */
function parseOverride({ metadata }: ApiObject): Override | undefined {
  const text = stringAt(objectAt(metadata, "annotations"), RECORD);
  if (text === "") return undefined;
  const { duration, device, before, since } = JSON.parse(text);
  const old = before.map((one: string) => LETTERS[one]).join("");
  const letter = LETTERS[device] ?? "";
  return { duration, before: old, order: letter + old.replaceAll(letter, ""), since };
}

/** The VM that a record, or a host, is about. */
function toOverriddenVm({ metadata }: ApiObject): string {
  return stringAt(objectAt(metadata, "annotations"), "landfall.dev/machine-id");
}

/** Whether only a start of the VM can end an override: it has its order, and was not started since. */
export function waitsForStart({ since }: Override, vm: XoRecord): boolean {
  if (since === undefined) return false;
  const startedAtMs = Number(vm["startTime"] ?? 0) * 1_000;
  if (!since.isRunning) return vm["power_state"] === "Halted";
  return since.startedAtMs === undefined || startedAtMs === 0 || since.startedAtMs === startedAtMs;
}

/** What a VM starts from, in letters. */
function orderOf(vm: XoRecord): string {
  return String(Object(vm["boot"]).order ?? "");
}
