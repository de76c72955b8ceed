/**
 * The VMs of a story, read without the controller's own code: which are ours, and what they were made as.
 * @module
 */
import type { XenOrchestra, XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";

const READY = "vino:ready=";
const NAME = /^vino-([0-9a-f]{8})-([a-z0-9-]+)-(\d+)$/;

/** Which machine a VM was made as. */
export interface Birth {
  /** `vino-1b4e28ba-worker-3`. */
  readonly name: string;
  /** The beginning of the UID of its Vino. */
  readonly uid: string;
  readonly role: string;
  readonly index: number;
}

/** VMs and templates that were made in the story. Names change by hand, what something was made as does not. */
export class Machines {
  readonly #cloud: XenOrchestra;
  readonly #births = new Map<string, Birth>();
  readonly #complete = new Set<string>();
  readonly #foreign: Set<string>;

  /** What the cloud has now belongs to others. */
  constructor(cloud: XenOrchestra) {
    this.#cloud = cloud;
    this.#foreign = new Set(this.#listIds());
  }

  /** A VM or template with a name of ours belongs to others. To be called before {@linkcode Machines.note} sees it. */
  exclude(id: string): void {
    this.#foreign.add(id);
  }

  /** Takes in what is new. To be called after each call of a hypervisor. */
  note(): void {
    for (const vm of this.#cloud.state.all("vms").values()) {
      if (isReady(vm)) this.#complete.add(vm.id);
    }
    for (const collection of ["vms", "vm-templates"] as const) {
      for (const { id, name_label: label } of this.#cloud.state.all(collection).values()) {
        if (this.#births.has(id) || this.#foreign.has(id)) continue;
        const [name = "", uid = "", role = "", index = ""] = NAME.exec(String(label)) ?? [];
        if (name !== "") this.#births.set(id, { name, uid, role, index: Number(index) });
      }
    }
  }

  /** What a VM was made as. Absent: it belongs to others. */
  findBirth(id: string): Birth | undefined {
    return this.#births.get(id);
  }

  /** Whether a VM was complete once, whatever people made of its marks. */
  wasComplete(id: string): boolean {
    return this.#complete.has(id);
  }

  /** All VMs that there are, whether they show or not, by what they were made as. */
  list(): { readonly vm: XoRecord; readonly birth: Birth }[] {
    return [...this.#cloud.state.all("vms").values()].flatMap((vm) => {
      const birth = this.#births.get(vm.id);
      return birth === undefined ? [] : [{ vm, birth }];
    });
  }

  #listIds(): string[] {
    return (["vms", "vm-templates"] as const).flatMap((collection) => [
      ...this.#cloud.state.all(collection).keys(),
    ]);
  }
}

/** Tags of a VM. */
export function tagsOf({ tags }: XoRecord): readonly string[] {
  return Array.isArray(tags) ? tags.map(String) : [];
}

/** Whether a VM has the mark of a complete machine. */
export function isReady(vm: XoRecord): boolean {
  return tagsOf(vm).some((tag) => tag.startsWith(READY));
}
