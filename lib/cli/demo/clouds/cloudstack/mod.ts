/**
 * The demo on a simulated CloudStack.
 * @module
 */
import type { Clock } from "../../../../core/clock.ts";
import { ConfigError } from "../../../../core/errors.ts";
import { cloudStack } from "../../../../providers/cloudstack/mod.ts";
import {
  type CloudStackSimulator,
  createDemoWorld,
  startCloudStackSimulator,
  type DemoMachine,
  type StoryWorld,
  type Vm,
} from "../../../../simulator/cloudstack/mod.ts";
import { toPublicIp } from "../../../../simulator/cloudstack/world/records.ts";
import type { CloudClients, DemoCloud, Loss } from "../../cloud.ts";
import type { Setting } from "../../story/stage.ts";
import { describe, describePlace, isInZone, JOIN_STEPS, toLiveSteps } from "./steps.ts";
import { toServiceSteps } from "./services.ts";

const LIST_VMS = "listVirtualMachines";
/** One page of one inventory, which is all of it here. */
const PAGE = `${LIST_VMS} (a page of all)`;
/** More than anyone takes who tries the commands of the demo. */
const FREE_IPS = Array.from({ length: 100 }, (_, index) => `198.51.100.${index + 10}`);

/** Starts the server. */
export async function startCloudStack(clock: Clock): Promise<Setting> {
  const world = createDemoWorld();
  const { publicIps = [] } = world.world;
  // In the zone of most Nodes.
  const free = FREE_IPS.map((address) => toPublicIp(address, world.zoneIds.lyon));
  const simulator = await startCloudStackSimulator({
    clock,
    world: { ...world.world, publicIps: [...publicIps, ...free] },
  });
  const { state } = simulator;
  return {
    cloud: toCloud(simulator, world),
    steps: {
      join: JOIN_STEPS,
      live: toLiveSteps(state, world),
      volumes: [],
      services: toServiceSteps(state),
    },
  };
}

function toCloud(simulator: CloudStackSimulator, world: StoryWorld): DemoCloud {
  const { url, apiKey, secretKey, state, user } = simulator;
  const isOwn = ({ accountId, isRemoved }: Vm): boolean =>
    accountId === user.accountId && !isRemoved;
  const countRequests = (): Map<string, number> => countByQuestion(simulator.requests.entries);
  return {
    title: "CloudStack",
    url,
    summary:
      "two zones and\n  thirteen VMs. Its user sees ten of them. Eight of these are Nodes at first.\n  " +
      "The page counts the Nodes, check counts all VMs that the user sees",
    machines: world.machines,
    late: world.late.machine,
    clients: toClients({ url, apiKey, secretKey }),
    figures: {
      lists: new Set([PAGE]),
      cost: "1 request for each 500 VMs, for any number of Nodes",
      predecessor: "The Apache provider",
      // For a Node that waits for its cloud.
      requestsPerNode: 8,
    },
    loss: toLoss(simulator, world),
    createProvider(refreshInterval, deps) {
      const raw = { apiUrl: url, apiKey, secretKey, refreshInterval };
      const { settings, issues } = cloudStack.parseConfig(raw, {});
      if (settings === undefined) throw new ConfigError(issues);
      return cloudStack.create(settings, deps);
    },
    addLate() {
      state.addVm(world.late.options);
    },
    halt({ nodeName, vmId }) {
      state.setState(vmId, "Stopped");
      return `CloudStack stops ${nodeName}`;
    },
    start({ nodeName, vmId }) {
      state.setState(vmId, "Running");
      return `CloudStack starts ${nodeName}`;
    },
    remove: ({ vmId }) => state.expunge(vmId),
    isShown: ({ vmId }) => isOwn(state.vm(vmId)),
    isPlaced: (node) => isInZone(node, "lyon"),
    describe,
    describePlace,
    countPasses: () => countRequests().get(PAGE) ?? 0,
    countRequests,
    stop: () => simulator.stop(),
  };
}

function toLoss({ state, faults, user }: CloudStackSimulator, { projectId }: StoryWorld): Loss {
  const moveTo = (accountId: string, machines: readonly DemoMachine[]): void => {
    for (const { vmId } of machines) state.vm(vmId).accountId = accountId;
  };
  const project = state.projects.get(projectId);
  return {
    // Only one: of two missing machines, the fleet limit would speak first.
    silent: ["worker-3"],
    title:
      "A VM moves into a project while its kubelet is silent: Landfall keeps the Node and says why",
    endTitle: "The VM and the kubelet are back: nothing was deleted",
    why: "in project",
    begin(machines) {
      faults.set({ kind: "html", status: 502 }, { command: LIST_VMS, times: 1 });
      moveTo(project?.accountId ?? "", machines);
      const names = machines.map(({ nodeName }) => nodeName).join(" and ");
      return `${names} is in the project ${project?.name} now: lists lack it. A proxy answers 502 once, too`;
    },
    end(machines) {
      moveTo(user.accountId, machines);
      return "CloudStack moves the VM back";
    },
  };
}

/** The INI file of the Apache provider, and the variables of the client `cs`. */
function toClients(server: Record<"url" | "apiKey" | "secretKey", string>): CloudClients {
  const { url, apiKey, secretKey } = server;
  return {
    env: { CLOUDSTACK_ENDPOINT: url, CLOUDSTACK_KEY: apiKey, CLOUDSTACK_SECRET: secretKey },
    settings: {
      provider: cloudStack.name,
      text: `[Global]\napi-url = ${url}\napi-key = ${apiKey}\nsecret-key = ${secretKey}\n`,
    },
    commands: [
      "kubectl describe node worker-fqdn.k8s.example",
      "kubectl describe node worker-3",
      "kubectl create service loadbalancer hello --tcp=80:8080",
      "kubectl describe service hello",
      "cloudstack listLoadBalancerRules listall=true   # from Debian's package cs",
    ],
  };
}

/** Tells the lists of inventories from the questions for one VM. */
function countByQuestion(
  requests: CloudStackSimulator["requests"]["entries"],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { command, parameters } of requests) {
    const question = command === LIST_VMS ? toQuestion(parameters) : command;
    counts.set(question, (counts.get(question) ?? 0) + 1);
  }
  return counts;
}

function toQuestion(parameters: ReadonlyMap<string, string>): string {
  if (parameters.has("id")) return `${LIST_VMS} id=`;
  return parameters.has("name") ? `${LIST_VMS} name=` : PAGE;
}
