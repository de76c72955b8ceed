/**
 * What must never happen to VMs that run, judged at each call of a hypervisor.
 * @module
 */
import { consumerOf } from "../../../../lib/simulator/metal3/host_state.ts";
import type { XenOrchestra, XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";
import type { Journaled } from "../../../../lib/simulator/xenorchestra/writes/hypervisor.ts";
import type { Timeline } from "../../timeline.ts";
import type { Trace } from "../../trace.ts";
import type { Machines } from "./machines.ts";
import type { Wishes } from "./wishes.ts";

/** What a {@linkcode PowerJudge} needs of a world. */
export interface PowerWorld {
  readonly cloud: XenOrchestra;
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly cloudJudge: { readonly machines: Machines; readonly wishes: Wishes };
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

  constructor(world: PowerWorld) {
    this.#world = world;
    world.cloud.hypervisor.watch((entry) => {
      this.note();
      if (entry.outcome === "sent") this.#judge(entry);
    });
  }

  /** Takes in which VMs are off. To be called before people do something. */
  note(): void {
    const nowMs = this.#world.timeline.monotonic();
    for (const { id, power_state: power } of this.#world.cloud.state.all("vms").values()) {
      if (power === "Halted") this.#offMs.set(id, nowMs);
    }
  }

  #judge({ method, id = "" }: Journaled): void {
    const { cloudJudge, timeline } = this.#world;
    const { machines, wishes } = cloudJudge;
    const vm = this.#findVm(id);
    const birth = vm && machines.findBirth(vm.id);
    if (vm === undefined || birth === undefined || !machines.wasComplete(vm.id)) return;
    if (NEEDS_STOP.has(method)) {
      const offMs = this.#offMs.get(vm.id) ?? -Infinity;
      if (timeline.monotonic() - offMs > LATE_MS) {
        this.#accuse(`${birth.name} gets ${method} while it runs`);
      }
    }
    const host = wishes.findHost(birth);
    if (STOPS.has(method) && host && consumerOf(host) !== undefined) {
      this.#accuse(`${birth.name} gets ${method}, and something uses its host`);
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
