/**
 * What must never happen to VMs that run, judged at each call of a hypervisor.
 * @module
 */
import { consumerOf } from "../../../../lib/simulator/metal3/host_state.ts";
import type { XenOrchestra, XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";
import type { Journaled } from "../../../../lib/simulator/xenorchestra/writes/hypervisor.ts";
import type { Timeline } from "../../timeline.ts";
import type { Trace } from "../../trace.ts";
import type { CloudJudge } from "./cloud_judge.ts";
import { type Birth, isReady } from "./machines.ts";

/** What a {@linkcode PowerJudge} needs of a world. */
interface PowerWorld {
  readonly cloud: XenOrchestra;
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly cloudJudge: Pick<CloudJudge, "isWanted" | "machines" | "wishes">;
  /** Whoever switches machines by their management controllers. */
  readonly ironic: { askedSince(vmId: string): number | undefined };
}

/** Calls after which what runs does not run as before. */
const STOPS: ReadonlySet<string> = new Set([
  "VM.hard_shutdown",
  "VM.clean_shutdown",
  "VM.hard_reboot",
  "VM.clean_reboot",
  "VM.pause",
  "VM.suspend",
]);
const STARTS: ReadonlySet<string> = new Set(["VM.start", "VM.unpause", "VM.resume"]);
/** Calls that change what a VM has only while it is off. */
const NEEDS_STOP: ReadonlySet<string> = new Set(["VM.set_cpus", "VM.set_memory", "VDI.resize"]);
/** A change may have been asked for while the VM was off so long ago. */
const LATE_MS = 60_000;

/** Watches over what runs. */
export class PowerJudge {
  readonly violations: string[] = [];
  readonly #world: PowerWorld;
  /** When each VM was last seen off. */
  readonly #offMs = new Map<string, number>();
  /** When each VM was last seen complete. */
  readonly #readyMs = new Map<string, number>();

  constructor(world: PowerWorld) {
    this.#world = world;
    world.cloud.hypervisor.watch((entry) => {
      this.note();
      if (entry.outcome === "sent") this.#judge(entry);
    });
  }

  /** Takes in which VMs are off, and which are complete. To be called before people do something. */
  note(): void {
    const nowMs = this.#world.timeline.monotonic();
    for (const vm of this.#world.cloud.state.all("vms").values()) {
      if (vm["power_state"] === "Halted") this.#offMs.set(vm.id, nowMs);
      if (isReady(vm)) this.#readyMs.set(vm.id, nowMs);
    }
  }

  #judge({ method, id = "" }: Journaled): void {
    const { machines } = this.#world.cloudJudge;
    const vm = this.#findVm(id);
    const birth = vm && machines.findBirth(vm.id);
    if (vm === undefined || birth === undefined) return;
    const isSwitch = STOPS.has(method) || STARTS.has(method);
    if (isSwitch) this.#judgeSwitch(vm, birth, method);
    if (NEEDS_STOP.has(method) && machines.wasComplete(vm.id)) {
      this.#judgeChange(vm.id, birth, method);
    }
  }

  /** What needs a stop waits for one. */
  #judgeChange(id: string, { name }: Birth, method: string): void {
    const offMs = this.#offMs.get(id) ?? -Infinity;
    if (this.#world.timeline.monotonic() - offMs <= LATE_MS) return;
    this.#accuse(`${name} gets ${method} while it runs`);
  }

  /** Only who has the management controller stops what is used or wanted, and only what is complete has one. */
  #judgeSwitch(vm: XoRecord, birth: Birth, method: string): void {
    const { cloudJudge, ironic } = this.#world;
    const { machines, wishes } = cloudJudge;
    const { name } = birth;
    const isStop = STOPS.has(method);
    const host = wishes.findHost(birth);
    const askedMs = ironic.askedSince(vm.id);
    if (askedMs !== undefined) {
      // A removal switches a machine off, too, once its host is gone.
      if (isStop && host === undefined) return;
      const readyMs = this.#readyMs.get(vm.id) ?? -Infinity;
      if (readyMs < askedMs) this.#accuse(`${name} gets ${method}, and was not complete`);
      return;
    }
    if (!isStop || !machines.wasComplete(vm.id)) return;
    if (host !== undefined && consumerOf(host) !== undefined) {
      this.#accuse(`${name} gets ${method}, and something uses its host`);
    } else if (cloudJudge.isWanted(vm, birth)) {
      this.#accuse(`${name} gets ${method}, and nobody asked for that`);
    }
  }

  /** The VM that a call is about. @param id Of it, or of its disk */
  #findVm(id: string): XoRecord | undefined {
    const { state } = this.#world.cloud;
    const link = [...state.all("vbds").values()].find((vbd) => vbd["VDI"] === id);
    return state.all("vms").get(link === undefined ? id : String(link["VM"]));
  }

  #accuse(what: string): void {
    this.violations.push(what);
    this.#world.trace.note("JUDGE", what);
  }
}
