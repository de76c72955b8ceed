/**
 * A simulated Xen Orchestra as the cloud of a story: what happens in it, and what is in it.
 * @module
 */
import { systemClock } from "../../../../lib/core/clock.ts";
import {
  createMachineSite,
  type MachineSite,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
  type XoRecord,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import type { Lag } from "../../../../lib/simulator/xenorchestra/world/cache.ts";
import { ROLE, USER } from "../../../providers/xenorchestra/machines/rig.ts";

/** How long a call of a hypervisor takes: long enough to do something while machines are made. */
const OPERATION_MS = 20;
/** How many machines one more for each hypervisor are. */
const MACHINES_AT_ONCE = 3;
/** How slowly xo-server shows its pools after a restart. */
const RESTART = { connectedAfterMs: 500, loadedAfterMs: 1_500 };
/** The label that the sample copies from tags. */
export const RACK = "airshipit.org/rack";

/** The cloud, with the site of machines, and a user that has the rights of the guide's role. */
export class StoryCloud {
  readonly simulator: XenOrchestraSimulator;
  readonly #site: MachineSite;
  readonly #before: ReadonlyMap<string, XoRecord>;

  private constructor(simulator: XenOrchestraSimulator, site: MachineSite) {
    this.simulator = simulator;
    this.#site = site;
    this.#before = readObjects(simulator);
  }

  /** Starts it on a free port. @param lag How late reads are. @default {as measured} */
  static async start(operationMs: number = OPERATION_MS, lag?: Lag): Promise<StoryCloud> {
    const site = createMachineSite();
    const world = tagHosts(site);
    const options = { clock: systemClock, world, operationMs, ...(lag && { lag }) };
    const users = [{ ...USER, privileges: ROLE }];
    return new StoryCloud(await startXenOrchestraSimulator({ ...options, users }), site);
  }

  /**
   * Does something once, when a hypervisor works on a call of a method: the first one of the last machine of three
   * that are made at once. All three were asked for by then: for what may still arrive, Landfall looks for a while
   * before it says that such a machine is gone.
   */
  onCall(method: string, onHit: () => void): void {
    let left = MACHINES_AT_ONCE;
    const count = (): void => {
      left -= 1;
      if (left === 0) onHit();
    };
    const calls = { method, times: MACHINES_AT_ONCE, onHit: count };
    this.simulator.cloud.hypervisor.moments.set("during", calls);
  }

  /** Moves a running machine to another host of its pool. @returns The ID of the host */
  move(name: string): string {
    const { id, $container: from } = this.findMachine(name);
    const { "xcp-par-1": one, "xcp-par-2": other } = this.#site.hostIds;
    const to = from === one ? other : one;
    this.simulator.state.migrateLive(id, to);
    return to;
  }

  /** Restarts xo-server when a hypervisor works on such a call; its pools take a moment to load. */
  async restartDuring(method: string, act: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<Promise<void>>();
    const onHit = (): void => resolve(this.restart());
    this.onCall(method, onHit);
    await act();
    await promise;
  }

  /** Restarts xo-server. Resolves once it listens again. */
  restart(): Promise<void> {
    return this.simulator.restart(RESTART);
  }

  /** Deletes a machine with its disks, as a person can in the cloud. */
  deleteByHand(name: string): void {
    this.simulator.state.removeVm(this.findMachine(name).id, "go");
  }

  /** The machines in the cloud whose names are a Vino's, in order: `control-plane-0 Running`. */
  listVms(): string[] {
    return this.listMachines()
      .map((vm) => `${toShortName(vm)} ${String(vm["power_state"])}`)
      .toSorted();
  }

  /** Their records. */
  listMachines(): readonly XoRecord[] {
    return this.simulator.state.list("vms").filter((vm) => toShortName(vm) !== "");
  }

  /** The only machine of this name, as in `worker-0`. */
  findMachine(name: string): XoRecord {
    const [found, ...others] = this.listMachines().filter((vm) => toShortName(vm) === name);
    if (found === undefined || others.length > 0) throw new Error(`Not one machine is ${name}`);
    return found;
  }

  /** All objects in the cloud of the kinds that Landfall makes, as they are now, by kind and ID. */
  readObjects(): ReadonlyMap<string, XoRecord> {
    return readObjects(this.simulator);
  }

  /** What is in the cloud but was not there before, and belongs to no machine of the Vino. */
  listLeftovers(): string[] {
    const ids = new Set(this.listMachines().map(({ id }) => id));
    const isOurs = (one: XoRecord): boolean => ids.has(String(one["VM"] ?? one["$VM"] ?? one.id));
    const objects = [...this.readObjects()];
    const disks = new Set(
      objects.flatMap(([, one]) => (isOurs(one) ? [`vdis/${String(one["VDI"])}`] : [])),
    );
    return objects
      .filter(([key, one]) => !this.#before.has(key) && !disks.has(key) && !isOurs(one))
      .map(([key]) => key);
  }

  /** The rack in the tags of a host of the cloud. */
  rackOf(hostId: string): string {
    const tags = this.simulator.state.read("hosts", hostId)?.["tags"];
    const found = Array.isArray(tags) ? tags.map(String).find((tag) => tag.startsWith(RACK)) : "";
    return found?.split("=")[1] ?? "";
  }
}

/** The part of a machine's name that says which one of its Vino it is; empty for what is no Vino's. */
export function toShortName(vm: XoRecord): string {
  return /^vino-[0-9a-f]{8}-(.*)/.exec(String(vm["name_label"]))?.[1] ?? "";
}

function readObjects({ state }: XenOrchestraSimulator): ReadonlyMap<string, XoRecord> {
  const names = ["vms", "vm-templates", "vdis", "vbds", "vifs"] as const;
  const all = names.flatMap((name) =>
    state
      .list(name)
      .map((record) => [`${name}/${record.id}`, structuredClone({ ...record })] as const),
  );
  return new Map(all);
}

/** The world with the tags that the sample chooses and copies. */
function tagHosts({ world, poolIds }: MachineSite): MachineSite["world"] {
  const hosts = world.hosts?.map((host, at) =>
    host["$pool"] === poolIds.paris ? { ...host, tags: ["vino", `${RACK}=r${at}`] } : host,
  );
  return { ...world, ...(hosts && { hosts }) };
}
