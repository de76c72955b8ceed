/**
 * The demo on a simulated Xen Orchestra.
 * @module
 */
import type { Clock } from "../../../../core/clock.ts";
import { ConfigError } from "../../../../core/errors.ts";
import { xenOrchestra } from "../../../../providers/xenorchestra/mod.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
} from "../../../../simulator/xenorchestra/mod.ts";
import type { DemoCloud, Loss } from "../../cloud.ts";
import type { Setting } from "../../story/stage.ts";
import {
  describe,
  describePlace,
  isOnHost,
  JOIN_STEPS,
  toLiveSteps,
  toVolumeSteps,
  type XenOrchestraSite,
} from "./steps.ts";
import { ADDRESS_POOLS, POOL_STEPS, SETTINGS_FILE } from "./address_pools.ts";

/** Starts the server. */
export async function startXenOrchestra(clock: Clock): Promise<Setting> {
  const world = createDemoWorld();
  const simulator = await startXenOrchestraSimulator({ clock, world: world.world });
  const site = { simulator, world };
  return {
    cloud: toCloud(site),
    steps: {
      join: JOIN_STEPS,
      live: toLiveSteps(site),
      volumes: toVolumeSteps(site),
      services: POOL_STEPS,
    },
  };
}

function toCloud(site: XenOrchestraSite): DemoCloud {
  const { simulator, world } = site;
  const { url, token, state, requests } = simulator;
  return {
    title: "Xen Orchestra",
    url,
    summary:
      "two pools, five hosts and\n  twelve VMs. Eight of the VMs are Nodes at first. " +
      "The page counts the Nodes, check counts all VMs",
    machines: world.machines,
    late: world.late.machine,
    clients: {
      env: { XOA_URL: url, XOA_TOKEN: token },
      settings: { provider: xenOrchestra.name, text: SETTINGS_FILE },
      commands: [
        "kubectl describe node worker-uefi",
        "kubectl describe node worker-3",
        "kubectl create service loadbalancer hello --tcp=80:8080",
        "kubectl get service hello",
      ],
    },
    addressPools: ADDRESS_POOLS,
    figures: {
      // The lists of one inventory.
      lists: new Set(["GET /vms", "GET /hosts", "GET /pools"]),
      cost: "3 requests for any number of Nodes",
      predecessor: "The Go controller",
      // It reads VM, host and pool of each Node.
      requestsPerNode: 3,
    },
    loss: toLoss(site),
    createProvider(refreshInterval, deps) {
      const { settings, issues } = xenOrchestra.parseConfig({ url, token, refreshInterval }, {});
      if (settings === undefined) throw new ConfigError(issues);
      return xenOrchestra.create(settings, deps);
    },
    addLate() {
      state.addVm(world.late.options);
    },
    halt({ nodeName, vmId }) {
      state.setPower(vmId, "Halted");
      return `Xen Orchestra halts ${nodeName}: it has no host now`;
    },
    start({ nodeName, vmId }) {
      state.setPower(vmId, "Running", world.hostIds["xcp-lyo-2"]);
      return `Xen Orchestra starts ${nodeName} on the same host`;
    },
    remove: ({ vmId }) => state.removeVm(vmId),
    isShown: ({ vmId }) => state.read("vms", vmId) !== undefined,
    isPlaced: (node) =>
      isOnHost(node, world, node.metadata.name === "worker-3" ? "xcp-lyo-1" : "xcp-lyo-2"),
    describe,
    describePlace,
    // Each inventory asks for the list of pools once.
    countPasses: () => requests.count("GET /pools"),
    countRequests: () => new Map(requests.byRoute),
    stop: () => simulator.stop(),
  };
}

function toLoss({ simulator, world }: XenOrchestraSite): Loss {
  const { state } = simulator;
  return {
    silent: ["worker-3", "worker-4"],
    title:
      "The pool lyon is lost while two kubelets are silent: Landfall keeps the Nodes and says why",
    endTitle: "The pool and the kubelets are back: nothing was deleted",
    why: "pool lyon",
    begin() {
      state.dropPool(world.poolIds.lyon);
      return "Xen Orchestra loses the pool lyon: it answers 404 for five VMs that run";
    },
    end() {
      state.restorePool(world.poolIds.lyon);
      return "Xen Orchestra connects to the pool lyon again";
    },
  };
}
