/**
 * Machines of Xen Orchestra against the simulated one: a loop like that of a controller.
 * @module
 */
import {
  listNextSteps,
  type Machine,
  type MachineIdentity,
  type MachinePlan,
  type Machines,
  type MachineSpec,
  toMachineName,
} from "../../../../lib/cloud/capabilities/machines.ts";
import type { Provider } from "../../../../lib/cloud/provider.ts";
import { ALONE, Fence } from "../../../../lib/core/fence.ts";
import { xenOrchestra } from "../../../../lib/providers/xenorchestra/mod.ts";
import {
  createMachineSite,
  type MachineSite,
  startXenOrchestraSimulator,
  type World,
  type XenOrchestraSimulator,
  type XenOrchestraSimulatorOptions,
  type XoRecord,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import type { Privilege } from "../../../../lib/simulator/xenorchestra/access/privileges.ts";
import {
  PRIVILEGES,
  USER_ID as USER_ID_WORD,
} from "../../../../lib/providers/xenorchestra/machines/privileges.ts";
import { type ManualClock, passUntil } from "../../../support/manual_clock.ts";
import { shorten } from "../../../support/net/short_way.ts";
import { toDeps, toSettings } from "../fake_server.ts";

const GIB = 1024 ** 3;

const USER_ID = "8d5fd158-6f61-4ab5-a6ad-f208cb0b8a96";

/** Landfall's user. */
export const USER: Readonly<Record<"id" | "password" | "username", string>> = {
  id: USER_ID,
  username: "landfall",
  password: "landfall",
};

/** The rights of the role in the guide. */
export const ROLE: readonly Privilege[] = PRIVILEGES.map(({ resource, action, selector }) => ({
  resource,
  action,
  ...(selector !== undefined && { selector: selector.replace(USER_ID_WORD, USER_ID) }),
}));

/** Every pool has templates: they show that its VMs are loaded. */
function toWorld({ world, poolIds }: MachineSite): World {
  const [template] = world["vm-templates"] ?? [];
  if (template === undefined) throw new Error("Cannot test: there is no template");
  const more = { ...template, id: "b5b1b8d4-0000-4000-8000-000000000001", $pool: poolIds.lyon };
  const other = { ...more, uuid: more.id, $VBDs: [], VIFs: [], name_label: "Alpine" };
  return { ...world, "vm-templates": [...(world["vm-templates"] ?? []), other] };
}

/** Looks at most so often until a machine is at rest. */
const ROUNDS_MAX = 60;

/** The owner of all machines. */
export const OWNER = {
  namespace: "metal",
  name: "edge",
  uid: "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
} as const;

/** Not in every specification: its image is 2 MiB, which go over the wire. */
export const SEED: NonNullable<MachineSpec["seed"]> = {
  label: "cidata",
  files: { "user-data": "#cloud-config\n", "meta-data": "{}\n" },
};

/** Everything that a test needs. */
export class Rig {
  readonly site: MachineSite;
  readonly simulator: XenOrchestraSimulator;
  provider: Provider;
  machines: Machines;
  readonly clock: ManualClock;
  readonly fence: Fence = new Fence(ALONE);
  readonly records: Map<string, string> = new Map<string, string>();
  /** Summaries of the steps that were carried out. */
  readonly done: string[] = [];
  /** What steps failed with. */
  readonly errors: string[] = [];
  readonly #way: Disposable;

  constructor(
    site: MachineSite,
    simulator: XenOrchestraSimulator,
    deps: ReturnType<typeof toDeps>,
  ) {
    this.site = site;
    this.simulator = simulator;
    this.clock = deps.clock;
    this.#way = shorten(simulator.url, (request) => simulator.cloud.answer(request));
    [this.provider, this.machines] = createProvider(simulator, deps);
  }

  /**
   * @param privileges Rights of the user. @default {those of an administrator}
   * @param more Of Xen Orchestra
   */
  static async start(
    privileges?: readonly Privilege[],
    more: Pick<XenOrchestraSimulatorOptions, "lag"> = {},
  ): Promise<Rig> {
    const site = createMachineSite();
    const deps = toDeps();
    const { clock } = deps;
    const users = [{ ...USER, ...(privileges && { privileges }) }];
    const options = { clock, world: toWorld(site), users, ...more };
    const rig = new Rig(site, await startXenOrchestraSimulator(options), deps);
    rig.machines.follow();
    await rig.refresh();
    // A process that just started is tested with `restart()`.
    await rig.look([]);
    await clock.advance(1_000);
    rig.simulator.requests.reset();
    return rig;
  }

  /** Goes on as another process does, which remembers nothing but the records. */
  async restart(): Promise<void> {
    [this.provider, this.machines] = createProvider(this.simulator, {
      ...toDeps(),
      clock: this.clock,
    });
    this.machines.follow();
    await this.refresh();
  }

  async refresh(): Promise<void> {
    await this.provider.listInventory([], this.signal);
  }

  get signal(): AbortSignal {
    return new AbortController().signal;
  }

  /** A specification, with the parts that a test needs to be different. */
  spec(over: Partial<MachineSpec> = {}): MachineSpec {
    const { poolIds, hostIds } = this.site;
    return {
      owner: OWNER,
      role: "worker",
      index: 0,
      poolId: poolIds.paris,
      hostId: hostIds["xcp-par-2"],
      template: "vino-debian",
      cpus: 4,
      memoryBytes: 4 * GIB,
      disks: [
        { name: "root", sizeBytes: 20 * GIB },
        { name: "data", sizeBytes: 5 * GIB, storage: "fast" },
      ],
      interfaces: [
        { name: "oam", network: "oam", mac: "02:00:00:00:00:01" },
        { name: "pxe", network: "provisioning", mac: "02:00:00:00:00:02" },
      ],
      boot: "disk",
      isStarted: true,
      ...over,
    };
  }

  /** One observation for a change. */
  async look(identities: readonly MachineIdentity[]): ReturnType<Machines["observe"]> {
    return await this.machines.observe({ isForChange: true, machines: identities }, this.signal);
  }

  /** Plans with an observation. */
  async plan(spec: MachineSpec): Promise<MachinePlan> {
    return this.machines.plan(await this.look([spec]), spec, this.record(spec));
  }

  async planRemoval(identity: MachineIdentity): Promise<MachinePlan> {
    const cloud = await this.look([identity]);
    return this.machines.planRemoval(cloud, identity, this.record(identity));
  }

  record(identity: MachineIdentity): string | undefined {
    return this.records.get(toMachineName(identity));
  }

  /** Carries out the first step of a plan, and those that follow it directly. */
  async step(plan: MachinePlan, identity: MachineIdentity): Promise<void> {
    const name = toMachineName(identity);
    const save = async (text: string | undefined): Promise<void> => {
      if (text === undefined) this.records.delete(name);
      else this.records.set(name, text);
    };
    for (const step of listNextSteps(plan)) {
      this.done.push(step.summary);
      const record = { text: this.records.get(name), save };
      const applied = this.machines.apply(step, { record, fence: this.fence }, this.signal);
      await passUntil(this.clock, applied);
    }
  }

  /** Goes on until nothing is to be done for a machine. Time passes only when the plan waits. */
  async settle(plan: () => Promise<MachinePlan>, identity: MachineIdentity): Promise<MachinePlan> {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const planned = await plan();
      if (planned.steps.length === 0 && planned.againMs === undefined) return planned;
      try {
        await this.step(planned, identity);
      } catch (error) {
        this.errors.push(error instanceof Error ? error.message : String(error));
      }
      await this.clock.advance(planned.steps.length > 0 ? 100 : (planned.againMs ?? 0));
    }
    throw new Error(`It never comes to rest: ${this.done.slice(-8).join("; ")}`);
  }

  /** Makes a machine. In the end reads show all of it. */
  async make(spec: MachineSpec): Promise<MachinePlan> {
    const plan = await this.settle(() => this.plan(spec), spec);
    await this.clock.advance(250);
    await this.look([spec]);
    return plan;
  }

  remove(identity: MachineIdentity): Promise<MachinePlan> {
    return this.settle(() => this.planRemoval(identity), identity);
  }

  /** Objects of the cloud. */
  list(collection: "vms" | "vm-templates" | "vdis" | "vbds" | "vifs"): readonly XoRecord[] {
    return [...this.simulator.state.list(collection)];
  }

  vms(identity: MachineIdentity): readonly XoRecord[] {
    const name = toMachineName(identity);
    return this.list("vms").filter((vm) => vm["name_label"] === name);
  }

  vm(identity: MachineIdentity): XoRecord {
    const [vm, ...others] = this.vms(identity);
    if (vm === undefined || others.length > 0) throw new Error("Cannot test: not one VM");
    return vm;
  }

  async stop(): Promise<void> {
    this.#way[Symbol.dispose]();
    await this.simulator.stop();
  }
}

function createProvider(
  { url, token }: XenOrchestraSimulator,
  deps: ReturnType<typeof toDeps>,
): [Provider, Machines] {
  const provider = xenOrchestra.create(toSettings(url, { token }), deps);
  if (provider.machines === undefined) throw new Error("Cannot test: there is none");
  return [provider, provider.machines];
}

/** A machine in short. */
export function summarise(machine: Machine | undefined): string {
  if (machine === undefined) return "none";
  return `${machine.name} ${machine.isComplete ? "complete" : "unfinished"} ${machine.power}`;
}
