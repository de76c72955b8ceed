/**
 * The Vino controller with a simulated Xen Orchestra.
 * @module
 */
import type { Provider } from "../../../lib/cloud/provider.ts";
import type { VinoSpec } from "../../../lib/controllers/vino/resource/vino.ts";
import { ALONE, Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import {
  createMachineSite,
  type MachineSite,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
  type XenOrchestraSimulatorOptions,
  type XoRecord,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { shorten } from "../net/short_way.ts";
import { VinoStage } from "./stage.ts";

/** A stage, and the cloud behind it. */
export interface XenOrchestraStage extends AsyncDisposable {
  readonly stage: VinoStage<Provider>;
  readonly simulator: XenOrchestraSimulator;
  readonly site: MachineSite;
  /** VMs of Vinos without the beginning of their names, in order: `worker-0 Running`. */
  listVms(): string[];
  /** How many objects of others and of ours there are: VMs, templates, disks. */
  count(): Readonly<Record<"vdis" | "vm-templates" | "vms", number>>;
}

/** A right spec for the site: a total of workers in the pool of Paris. */
export function toXenOrchestraSpec(
  count: number,
  change: Partial<NonNullable<VinoSpec["xenOrchestra"]>> = {},
): VinoSpec {
  return {
    networks: [
      {
        name: "oam",
        subnet: "192.0.2.0/24",
        staticAllocationStart: "192.0.2.10",
        staticAllocationStop: "192.0.2.99",
        routes: [{ network: "0.0.0.0", netmask: "0.0.0.0", gateway: "192.0.2.1" }],
      },
      { name: "pxe" },
    ],
    nodes: [
      {
        name: "worker",
        count,
        networkInterfaces: [
          { name: "eth0", network: "oam" },
          { name: "eth1", network: "pxe" },
        ],
      },
    ],
    xenOrchestra: {
      pool: "paris",
      template: "vino-debian",
      cpus: 4,
      memory: "4Gi",
      countPer: "Total",
      disks: [
        { name: "root", size: "20Gi" },
        { name: "data", size: "5Gi", sr: "fast" },
      ],
      networks: { pxe: "provisioning" },
      ...change,
    },
  };
}

/** Starts both. @param options Of Xen Orchestra; Landfall is its first user. @default {an administrator} */
export async function startXenOrchestraStage(
  options: Pick<XenOrchestraSimulatorOptions, "lag" | "users"> = {},
): Promise<XenOrchestraStage> {
  const site = createMachineSite();
  const stopped = new AbortController();
  let simulator: XenOrchestraSimulator | undefined;
  const stage = await VinoStage.start(async (clock): Promise<Provider> => {
    simulator = await startXenOrchestraSimulator({ clock, world: site.world, ...options });
    const raw = { url: simulator.url, token: simulator.token };
    const { settings } = xenOrchestra.parseConfig(raw, {});
    if (settings === undefined) throw new Error("Cannot test: the settings are wrong");
    return xenOrchestra.create(settings, {
      clock,
      log: silentLogger,
      metrics: new MetricsRegistry(),
      signal: stopped.signal,
      fence: new Fence(ALONE),
    });
  });
  if (simulator === undefined) throw new Error("Cannot test: there is no cloud");
  const cloud = simulator;
  const way = shorten(cloud.url, (request) => cloud.cloud.answer(request));
  const list = (collection: "vdis" | "vm-templates" | "vms"): readonly XoRecord[] => [
    ...cloud.state.list(collection),
  ];
  return {
    stage,
    simulator: cloud,
    site,
    listVms: () =>
      list("vms")
        .map((vm) => `${String(vm["name_label"])} ${String(vm["power_state"])}`)
        .flatMap((text) => /^vino-[0-9a-f]{8}-(.*)/.exec(text)?.[1] ?? [])
        .toSorted(),
    count: () => ({
      vms: list("vms").length,
      "vm-templates": list("vm-templates").length,
      vdis: list("vdis").length,
    }),
    async [Symbol.asyncDispose]() {
      await stage[Symbol.asyncDispose]();
      stopped.abort(new Error("the test is over"));
      way[Symbol.dispose]();
      await cloud.stop();
    },
  };
}
