/**
 * A simulated cloud, as the parts of the demo that fit every cloud use it.
 * @module
 */
import type { LoadBalancerSettings } from "../../cloud/pools/settings.ts";
import type { Provider } from "../../cloud/provider.ts";
import type { ProviderDeps } from "../../cloud/provider_definition.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { DemoMachine } from "../../simulator/demo_machine.ts";

/** A simulated cloud. Methods that return a sentence return what the story tells about what they did. */
export interface DemoCloud {
  /** As people call it: `Xen Orchestra`. */
  readonly title: string;
  readonly url: string;
  /** What it holds, for the introduction, in at most two lines. */
  readonly summary: string;
  /** The machines that become Nodes, by the name of the Node. */
  readonly machines: ReadonlyMap<string, DemoMachine>;
  /** A machine that registers before the cloud lists it. */
  readonly late: DemoMachine;
  readonly clients: CloudClients;
  /** Addresses for Services of type LoadBalancer. Absent: the cloud has load balancers of its own. */
  readonly addressPools?: LoadBalancerSettings;
  readonly figures: InventoryFigures;
  readonly loss: Loss;
  /** A provider that takes an inventory as often as `refreshInterval` says. */
  createProvider(refreshInterval: string, deps: ProviderDeps): Provider;
  /** Lists the late machine from now on. */
  addLate(): void;
  /** Turns a machine off. */
  halt(machine: DemoMachine): string;
  /** Turns it on again. */
  start(machine: DemoMachine): string;
  /** Deletes a machine for good. */
  remove(machine: DemoMachine): void;
  /** Whether the cloud would answer a question for this machine with the machine. */
  isShown(machine: DemoMachine): boolean;
  /** Whether the labels of a Node name the place of its machine, or the last one while that is off. */
  isPlaced(node: Node): boolean;
  /** What the labels of an initialised Node say: `x.small on paris/host-1, named worker`. */
  describe(node: Node): string;
  /** Where the labels say that its machine is: `on paris/host-1, in zone z`. */
  describePlace(node: Node): string;
  /** Number of inventories so far. */
  countPasses(): number;
  /** Requests so far, by what each asked. A copy. */
  countRequests(): Map<string, number>;
  /** Ends the server. */
  stop(): Promise<void>;
}

/** What programs in another terminal need to use the cloud. */
export interface CloudClients {
  /** Environment variables. They hold secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** What the environment does not say. Absent: it says everything. */
  readonly settings?: ClientSettings;
  /** Commands to try once the story is over. */
  readonly commands: readonly string[];
}

/** A settings file. */
interface ClientSettings {
  /** For `--cloud-provider`. */
  readonly provider: string;
  /** The file. It may hold secrets. */
  readonly text: string;
}

/** What the figures at the end compare. */
interface InventoryFigures {
  /** The requests of inventories, among those that {@linkcode DemoCloud.countRequests} tells apart. */
  readonly lists: ReadonlySet<string>;
  /** What one inventory takes, as the end of a sentence: `3 requests for any number of Nodes`. */
  readonly cost: string;
  /** The controller for this cloud that came before Landfall: `The Go controller`. */
  readonly predecessor: string;
  /** How many requests it makes for each Node in a pass. */
  readonly requestsPerNode: number;
}

/** How the cloud hides machines that run. */
export interface Loss {
  /** Names of Nodes with hidden machines whose kubelets are silent meanwhile. */
  readonly silent: readonly string[];
  /** Titles of the two steps. */
  readonly title: string;
  readonly endTitle: string;
  /** Part of what Landfall then says about a Node whose kubelet is silent, too. */
  readonly why: string;
  /** @param machines Those to hide at least */
  begin(machines: readonly DemoMachine[]): string;
  /** @param machines Those that were hidden */
  end(machines: readonly DemoMachine[]): string;
}
