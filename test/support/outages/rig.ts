/**
 * The controller between a cluster and a Xen Orchestra on real sockets: ten Nodes in two pools, and one more in each
 * whose machine will be deleted.
 * @module
 */
import type { DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import type { OutOfServiceSettings } from "../../../lib/cloud/deletion/off_streaks.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import type { XenOrchestraSettings } from "../../../lib/providers/xenorchestra/settings/config.ts";
import type { KubernetesSimulator, ObjectInput } from "../../../lib/simulator/kubernetes/mod.ts";
import {
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { toHost, toNetwork, toPool } from "../../../lib/simulator/xenorchestra/records.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import {
  FLEET,
  GONE,
  HALTED,
  type Labels,
  MOVED,
  type PartName,
  SUFFIXES,
  toPart,
} from "./fleet.ts";
import { OutageStage, prepareGround, type StageOptions } from "./stage.ts";

export { REFRESH_MS } from "./stage.ts";

/** A pool, and its two hosts: the master and another one. */
export interface PoolPlace {
  readonly id: string;
  readonly hostIds: readonly [string, string];
}

/** The servers that are asked. */
export interface Servers {
  readonly kubernetes: KubernetesSimulator;
  readonly cloud: XenOrchestraSimulator;
}

const EVENT_PERIOD_MS = 5_000;

function toPlace(name: PartName): PoolPlace {
  const hostIds = [toUuid(`host/${name}-1`), toUuid(`host/${name}-2`)] as const;
  return { id: toUuid(`pool/${name}`), hostIds };
}

interface Manner {
  readonly deletion: DeletionSettings;
  readonly hasEvents: boolean;
  readonly eventPeriodMs: number;
  readonly outOfService?: OutOfServiceSettings | undefined;
}

/** Cluster, cloud, and the controller between them. */
export class OutageRig extends OutageStage<XenOrchestraSettings> {
  /** Nodes as the first process leaves them, whatever its settings. Made once, because nothing else takes as long. */
  static #initialised: Promise<readonly ObjectInput[]> | undefined;
  readonly servers: Servers;
  readonly pools: Readonly<Record<PartName, PoolPlace>> = {
    alpha: toPlace("alpha"),
    beta: toPlace("beta"),
  };
  /** A machine of a pool that answers is proven gone by this or any other process. */
  readonly provesUnseen = true;

  private constructor(options: StageOptions<XenOrchestraSettings>, cloud: XenOrchestraSimulator) {
    super(options);
    this.servers = { kubernetes: this.kubernetes, cloud };
  }

  /**
   * Starts everything; resolves when all Nodes are initialised, Ready and at rest.
   *
   * @param hasEvents Whether the cloud tells of changes as they happen
   * @param options.eventPeriodMs How soon it does, in milliseconds. The more rarely, the faster the test
   * @param options.outOfService Lets the out-of-service controller run, too, as careful as this says
   */
  static async start(
    deletion: DeletionSettings,
    hasEvents: boolean,
    {
      eventPeriodMs = EVENT_PERIOD_MS,
      outOfService,
    }: {
      readonly eventPeriodMs?: number;
      readonly outOfService?: OutOfServiceSettings | undefined;
    } = {},
  ): Promise<OutageRig> {
    OutageRig.#initialised ??= OutageRig.#initialise(deletion);
    const nodes = await OutageRig.#initialised;
    const rig = await OutageRig.#build({ deletion, hasEvents, eventPeriodMs, outOfService });
    await rig.begin(nodes);
    return rig;
  }

  static async #initialise(deletion: DeletionSettings): Promise<readonly ObjectInput[]> {
    const manner = { deletion, hasEvents: true, eventPeriodMs: EVENT_PERIOD_MS };
    await using rig = await OutageRig.#build(manner);
    return await rig.initialise(FLEET);
  }

  /** Both servers, and the machines. Nodes there are none yet. */
  static async #build({
    deletion,
    hasEvents,
    eventPeriodMs,
    outOfService,
  }: Manner): Promise<OutageRig> {
    const ground = prepareGround();
    const cloud = await startXenOrchestraSimulator({ clock: ground.clock, eventPeriodMs });
    cloud.events.isOffered = hasEvents;
    ground.setCloud(cloud);
    const options = { ground, definition: xenOrchestra, deletion, outOfService };
    const rig = new OutageRig(options, cloud);
    rig.disposals.push(
      ground.traffic.watchFetch(),
      () => rig.kubernetes.stop(),
      () => cloud.stop(),
    );
    rig.#fill();
    return rig;
  }

  protected override get connection(): object {
    const { url, token } = this.servers.cloud;
    return { url, token };
  }

  /** What would happen without an outage, too. */
  happen(): void {
    const { state } = this.servers.cloud;
    state.setPower(this.toVmId(HALTED), "Halted");
    for (const name of MOVED)
      state.migrateLive(this.toVmId(name), this.pools[toPart(name)].hostIds[1]);
  }

  /** Machines are deleted. */
  lose(): void {
    for (const name of GONE) this.servers.cloud.state.removeVm(this.toVmId(name));
  }

  /** Labels of a Node that follow its machine to where it went. @param movesPool Whether that is the other pool */
  toFollowing(name: string, labels: Labels, movesPool: boolean): Labels | undefined {
    const from = toPart(name);
    if (movesPool) {
      return this.#toMoved(labels, { from, to: from === "alpha" ? "beta" : "alpha", host: 0 });
    }
    return MOVED.includes(name) ? this.#toMoved(labels, { from, to: from, host: 1 }) : undefined;
  }

  /** Labels after a move from the first host of a pool. */
  #toMoved(
    labels: Labels,
    { from, to, host }: { from: PartName; to: PartName; host: 0 | 1 },
  ): Labels {
    const { id: poolId, hostIds } = this.pools[to];
    const own = "topology.k8s.xenorchestra";
    return {
      ...labels,
      "topology.kubernetes.io/zone": hostIds[host],
      "failure-domain.beta.kubernetes.io/zone": hostIds[host],
      "topology.kubernetes.io/region": poolId,
      "failure-domain.beta.kubernetes.io/region": poolId,
      [`${own}/pool_id`]: poolId,
      [`${own}/pool_name_label`]: to,
      [`${own}/host_id`]: hostIds[host],
      [`${own}/host_name_label`]: `${to}-${host + 1}`,
      [`${own}/original_host_id`]: this.pools[from].hostIds[0],
      ...(from !== to && { [`${own}/original_pool_id`]: this.pools[from].id }),
    };
  }

  #fill(): void {
    for (const name of ["alpha", "beta"] as const) {
      const { state } = this.servers.cloud;
      const { id: poolId, hostIds } = this.pools[name];
      state.addPool(toPool({ name, id: poolId, masterId: hostIds[0] }));
      hostIds.forEach((id, at) => {
        const address = `10.0.0.${at + 1}`;
        state.addHost(toHost({ name: `${name}-${at + 1}`, id, poolId, address }));
      });
      state.put("networks", toNetwork("eth0", poolId));
      const network = name === "alpha" ? "10.1.0" : "10.2.0";
      for (const [at, suffix] of SUFFIXES.entries()) {
        const addresses = { "0/ipv4/0": `${network}.${at + 1}` };
        state.addVm({ name: `${name}-${suffix}`, poolId, hostId: hostIds[0], addresses });
      }
    }
  }
}
