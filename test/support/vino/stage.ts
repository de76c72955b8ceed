/**
 * The whole Vino controller on a simulated API server and a cloud in memory, on a fast clock.
 * @module
 */
import type { Provider } from "../../../lib/cloud/provider.ts";
import { vinoController } from "../../../lib/controllers/vino/definition.ts";
import { type IpPool, IP_POOLS } from "../../../lib/controllers/vino/resource/ip_pool.ts";
import { type Vino, VINOES, type VinoSpec } from "../../../lib/controllers/vino/resource/vino.ts";
import { CONFIRMED_REMOVAL } from "../../../lib/controllers/vino/words.ts";
import {
  type MachineEntry,
  toEntry,
  VINO_MACHINES,
  type VinoMachine,
} from "../../../lib/controllers/vino/resource/vino_machine.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { collectGarbage } from "../../../lib/simulator/kubernetes/controllers/garbage_collector.ts";
import type { ApiObject } from "../../../lib/simulator/kubernetes/mod.ts";
import { ControllerStage } from "../controller_stage.ts";
import { PacedClock } from "../paced_clock.ts";

/** The namespace of Vinos and hosts. */
export const METAL = "metal";
const PACE = 25;
const CONDITION_MS = 15_000;

/** A running controller and its world. */
export class VinoStage<P extends Provider> extends ControllerStage<VinoSpec, Vino> {
  readonly provider: P;

  private constructor(clock: PacedClock, provider: P) {
    super({
      controller: vinoController,
      kinds: [VINOES, VINO_MACHINES, IP_POOLS],
      namespace: METAL,
      hosts: METAL,
      clock,
      provider,
      step: collectGarbage,
    });
    this.provider = provider;
  }

  /** Starts it with a cloud that has its clock. */
  static async start<P extends Provider>(
    create: (clock: PacedClock) => P | Promise<P>,
  ): Promise<VinoStage<P>> {
    const clock = new PacedClock(PACE);
    const stage = new VinoStage(clock, await create(clock));
    await stage.run();
    return stage;
  }

  /** What the objects of the machines of a Vino say, in the order of their names. */
  readEntries(name: string): MachineEntry[] {
    const objects: readonly VinoMachine[] = JSON.parse(
      JSON.stringify(this.kubernetes.objects.list(VINO_MACHINES.plural)),
    );
    return objects.flatMap((one) => (one.spec?.vinoName === name ? [toEntry(one, one.spec)] : []));
  }

  /** Machines of a Vino: `worker-0 Ready`. */
  listMachines(name: string): string[] {
    return this.readEntries(name).map(({ role, index, state }) => `${role}-${index} ${state}`);
  }

  /** Names of the BareMetalHosts. */
  listHosts(): string[] {
    return this.hosts.map(({ metadata }) => metadata.name).toSorted();
  }

  /** A BareMetalHost. */
  host(name: string): ApiObject | undefined {
    return this.kubernetes.objects.get(BARE_METAL_HOSTS.plural, { namespace: METAL, name });
  }

  /** Deletes a Vino. @param isConfirmed Whether a person says that its machines may go, however many they are */
  override delete(name: string, isConfirmed = true): void {
    super.delete(name);
    if (isConfirmed && this.read(name) !== undefined) this.confirm(name);
  }

  /** Confirms that as many machines go as the Vino says now. */
  confirm(name: string): void {
    const generation = String(this.read(name)?.metadata.generation);
    this.annotate(name, { [CONFIRMED_REMOVAL]: generation });
  }

  override untilCondition(
    name: string,
    type: string,
    wanted: string,
    ms: number = CONDITION_MS,
  ): Promise<string> {
    return super.untilCondition(name, type, wanted, ms);
  }

  /** Owners of addresses in all pools. */
  listPoolOwners(): string[] {
    const pools: readonly IpPool[] = JSON.parse(
      JSON.stringify(this.kubernetes.objects.list(IP_POOLS.plural)),
    );
    return pools.flatMap(({ spec }) => spec?.allocatedIPs ?? []).map((one) => one.allocatedTo);
  }
}
