/**
 * What other people have that looks like ours: VMs, templates and disks with names or marks of machines.
 *
 * Each has something by which Landfall can tell that it is not its own. It must never be written or deleted.
 * @module
 */
import type {
  Collection,
  MachineSite,
  XenOrchestra,
  XoRecord,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { toTemplate, toVbd, toVdi } from "../../../lib/simulator/xenorchestra/world/storage.ts";
import {
  dropAttachment,
  findFree,
  listAttachments,
  putAttachment,
} from "../../../lib/simulator/xenorchestra/writes/disks.ts";
import type { Random } from "../../support/random.ts";
import type { CloudJudge } from "./judges/cloud_judge.ts";
import { isReady } from "./judges/machines.ts";

/** The beginning of the UID of a Vino that does not exist. */
const STRANGER = "00000000-0000-4000-8000-000000000000";
const MARK = `vino uid=${STRANGER} role=worker index=0`;
const GIB = 1024 ** 3;

/** How a VM or template of others differs from something half-made of ours. */
const SIGNS = ["anotherUser", "anotherMark", "anotherTag", "disk", "snapshot", "runs"] as const;
/** The sign of one. */
type Sign = (typeof SIGNS)[number];
/** Signs that a template can have. */
const TEMPLATE_SIGNS = SIGNS.filter((sign) => sign !== "runs");

/** Something of others. */
interface Thing {
  readonly collection: Collection;
  readonly id: string;
}

/** Where they have it. */
interface Place {
  readonly cloud: XenOrchestra;
  readonly cloudJudge: CloudJudge;
  readonly random: Random;
  readonly site: MachineSite;
}

/** What others have. */
export class Others {
  readonly #world: Place;
  #things: Thing[] = [];

  constructor(world: Place) {
    this.#world = world;
  }

  /** Puts a VM with a name of ours. Returns by what it can be told. */
  putVm(name: string): Sign {
    const { cloud, random, site } = this.#world;
    const { state } = cloud;
    const sign = random.pick(SIGNS);
    const id = state.nextId("vm");
    const place = sign === "runs" ? { hostId: site.hostIds["xcp-par-3"] } : {};
    const power = sign === "runs" ? "Running" : "Halted";
    state.addVm({ id, name, poolId: site.poolIds.paris, power, ...place });
    this.#keep("vms", id);
    for (const vif of state.all("vifs").values()) if (vif["$VM"] === id) this.#keep("vifs", vif.id);
    this.#sign("vms", id, sign);
    return sign;
  }

  /** Puts a template with a name of ours. Returns by what it can be told. */
  putTemplate(name: string): Sign {
    const { cloud, random, site } = this.#world;
    const sign = random.pick(TEMPLATE_SIGNS);
    const id = cloud.state.nextId("vm");
    cloud.state.put("vm-templates", toTemplate({ id, name, poolId: site.poolIds.paris }));
    this.#sign("vm-templates", id, sign);
    return sign;
  }

  /** Copies a VM of ours with all marks, as a person does, under a name that is not ours. */
  copy(vm: XoRecord): void {
    const { state } = this.#world.cloud;
    const id = state.nextId("vm");
    const copied = {
      $VBDs: [],
      VIFs: [],
      id,
      uuid: id,
      power_state: "Halted",
      $container: vm["$pool"],
    };
    state.put("vms", { ...vm, ...copied, name_label: `copy of ${String(vm["name_label"])}` });
    this.#keep("vms", id);
  }

  /** Puts a disk that nothing uses. */
  putDisk(name: string, description: string = ""): void {
    this.#keep("vdis", this.#createDisk(name, description));
  }

  /** Puts a disk with a name that only a disk of ours has, and the mark of another machine. */
  putMarkedDisk(name: string): void {
    this.putDisk(name, `${MARK} disk=data`);
  }

  /** Attaches a disk of theirs to a VM of ours. */
  attachDisk(vm: XoRecord): void {
    this.#attach(vm, this.#createDisk("backup", ""));
  }

  /** Puts a VM of theirs with a disk that has a name of ours. */
  putUser(diskName: string): void {
    const { cloud, site } = this.#world;
    const id = cloud.state.nextId("vm");
    const name = `desktop-${id.slice(0, 8)}`;
    cloud.state.addVm({ id, name, poolId: site.poolIds.paris, power: "Halted", vifIds: [] });
    const vm = cloud.state.all("vms").get(id);
    if (vm !== undefined) this.#attach(vm, this.#createDisk(diskName, ""));
    this.#keep("vms", id);
  }

  /**
   * They take everything away that can stand in the way: VMs and templates with their disks, and disks from VMs of ours
   * that are not complete.
   */
  leave(): void {
    const { state } = this.#world.cloud;
    for (const { collection, id } of this.#things) {
      if (collection === "vdis") continue;
      for (const vbd of listAttachments(state, id)) {
        dropAttachment(state, vbd);
        this.#drop("vdis", String(vbd["VDI"]));
      }
      this.#drop(collection, id);
    }
    for (const { id } of this.#things) {
      for (const vbd of [...state.all("vbds").values()].filter((one) => one["VDI"] === id)) {
        const vm = state.all("vms").get(String(vbd["VM"]));
        if (vm === undefined || !isReady(vm)) dropAttachment(state, vbd);
      }
    }
  }

  #drop(collection: Collection, id: string): void {
    const { cloud, cloudJudge } = this.#world;
    cloudJudge.watcher.release(id);
    cloud.state.remove(collection, id);
    this.#things = this.#things.filter((one) => one.id !== id);
  }

  #sign(collection: "vms" | "vm-templates", id: string, sign: Sign): void {
    const record = this.#world.cloud.state.all(collection).get(id);
    if (record === undefined) return;
    if (sign === "anotherUser") record["creation"] = { user: "somebody", template: "another" };
    if (sign === "anotherMark") record["name_description"] = MARK;
    if (sign === "anotherTag") record["tags"] = [`vino:uid=${STRANGER}`];
    if (sign === "snapshot") record["snapshots"] = [`snapshot of ${id}`];
    if (sign === "disk") this.#attach(record, this.#createDisk("important", ""));
    this.#keep(collection, id);
  }

  #createDisk(name: string, description: string): string {
    const { cloud, site } = this.#world;
    const sr = cloud.state.all("srs").get(site.srIds.local);
    if (sr === undefined) throw new RangeError("There is no storage");
    const id = cloud.state.nextId("vdi");
    cloud.state.put("vdis", toVdi({ id, name, description, sr, sizeBytes: GIB }));
    return id;
  }

  #attach(vm: XoRecord, diskId: string): void {
    const { state } = this.#world.cloud;
    const vdi = state.all("vdis").get(diskId);
    if (vdi === undefined) return;
    const taken = listAttachments(state, vm.id).map(({ position }) => String(position));
    const position = findFree(new Set(taken));
    putAttachment(state, toVbd({ id: state.nextId("vbd"), vm, vdi, position }));
    this.#keep("vdis", diskId);
  }

  #keep(collection: Collection, id: string): void {
    this.#world.cloudJudge.protect(collection, id);
    this.#things = this.#things.filter((one) => one.id !== id);
    this.#things.push({ collection, id });
  }
}
