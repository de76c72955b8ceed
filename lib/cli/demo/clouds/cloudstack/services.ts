/**
 * A Service of type LoadBalancer in the life of its address: made, changed, damaged by hand, and deleted.
 * @module
 */
import { EXCLUDED_NODE } from "../../../../controllers/service/words.ts";
import { TAG_KEYS } from "../../../../providers/cloudstack/load_balancers/words.ts";
import type { CloudStackSimulator } from "../../../../simulator/cloudstack/mod.ts";
import { dropRule } from "../../../../simulator/cloudstack/world/addresses.ts";
import { summarizeCloud } from "../../../../simulator/cloudstack/world/summary.ts";
import { type CloudStep, requireMachine, type Stage, waitUntil } from "../../story/stage.ts";
import { isDeepStrictEqual } from "node:util";

const WEB = { namespace: "default", name: "web" } as const;
const KEY = `${WEB.namespace}/${WEB.name}`;
const HTTP = { name: "http", port: 80, targetPort: 8080 };
const HTTPS = { name: "https", port: 443, targetPort: 8443 };
const EVERYONE = "0.0.0.0/0";
const OFFICE = "203.0.113.0/24";
/** In the zone of most Nodes, which is that of the load balancer. */
const NODES: readonly string[] = [
  "worker-3",
  "worker-4",
  "worker-fqdn.k8s.example",
  "worker-late",
  "worker-upper",
];
const LEAVING = "worker-4";

/** What CloudStack must have for one port. */
interface Expected {
  readonly port: number;
  readonly source: string;
}

/** The steps, in order. @param state The cloud before the story */
export function toServiceSteps(state: CloudStackState): readonly CloudStep[] {
  const before = summarizeCloud(state);
  const story = new Story(state);
  return [
    {
      title: `The Service ${WEB.name} of type LoadBalancer gets an address and a rule for its port`,
      play: async (stage, signal) => {
        stage.tell(`  >  kubectl creates the Service ${WEB.name} with port ${HTTP.port}`);
        stage.kubernetes.objects.create("services", {
          metadata: WEB,
          spec: { type: "LoadBalancer", selector: { app: WEB.name }, ports: [HTTP] },
        });
        return await story.becomes(stage, signal, [{ port: 80, source: EVERYONE }]);
      },
    },
    {
      title: `It gets a second port, and only clients from ${OFFICE}: its address stays`,
      play: async (stage, signal) => {
        stage.tell(`  >  kubectl adds port ${HTTPS.port} and spec.loadBalancerSourceRanges`);
        stage.kubernetes.objects.patch("services", WEB, {
          spec: { ports: [HTTP, HTTPS], loadBalancerSourceRanges: [OFFICE] },
        });
        return await story.becomes(stage, signal, RESTRICTED);
      },
    },
    {
      title: `${LEAVING} gets no traffic while it has the label for that`,
      play: async (stage, signal) => {
        stage.tell(`  >  kubectl labels ${LEAVING} ${EXCLUDED_NODE}`);
        const { objects } = stage.kubernetes;
        objects.patchNode(LEAVING, { metadata: { labels: { [EXCLUDED_NODE]: "" } } });
        const others = NODES.filter((name) => name !== LEAVING);
        const hasLeft = await story.becomes(stage, signal, RESTRICTED, others);
        stage.tell("  >  kubectl removes the label");
        objects.patchNode(LEAVING, { metadata: { labels: { [EXCLUDED_NODE]: null } } });
        return (await story.becomes(stage, signal, RESTRICTED)) && hasLeft;
      },
    },
    {
      title: "A user changes rules in CloudStack by hand: Landfall puts them right",
      play: async (stage, signal) => {
        const isDamaged = story.damage(stage);
        return (await story.becomes(stage, signal, RESTRICTED)) && isDamaged;
      },
    },
    {
      title: "The Service is deleted: its address is free again, and CloudStack is as before",
      play: async (stage, signal) => {
        const had = story.find();
        stage.tell(`  >  kubectl deletes the Service ${WEB.name}`);
        stage.kubernetes.objects.delete("services", WEB);
        const isGone = await waitUntil(
          stage,
          signal,
          () =>
            stage.kubernetes.objects.get("services", WEB) === undefined &&
            isDeepStrictEqual(summarizeCloud(state), before),
        );
        if (had === undefined || !isGone) return false;
        tellState(stage, `nothing is left of ${KEY}`);
        return true;
      },
    },
  ];
}

const RESTRICTED: readonly Expected[] = [
  { port: HTTP.port, source: OFFICE },
  { port: HTTPS.port, source: OFFICE },
];

function tellState({ tell }: Stage, text: string): void {
  tell(`  *  CloudStack: ${text}`);
}

/** What the steps know of each other. */
class Story {
  readonly #state: CloudStackState;
  /** The address that the Service got. It must never get another one. */
  #address: string | undefined;

  constructor(state: CloudStackState) {
    this.#state = state;
  }

  /** What CloudStack has for the Service, unless that is nothing or too much. */
  find(): Balancer | undefined {
    const [found, ...others] = listBalancers(this.#state, KEY);
    return others.length === 0 ? found : undefined;
  }

  /** Waits until CloudStack has exactly this, at the address that the Service shows. Says what CloudStack then has. */
  async becomes(
    stage: Stage,
    signal: AbortSignal,
    expected: readonly Expected[],
    nodes: readonly string[] = NODES,
  ): Promise<boolean> {
    const vms = nodes.map((name) => this.#state.vm(requireMachine(stage.cloud, name).vmId).name);
    const isSo = await waitUntil(stage, signal, () => this.#is(stage, expected, vms.toSorted()));
    this.tellFound(stage);
    const address = this.find()?.ip.address;
    if (isSo) this.#address ??= address;
    return isSo && address === this.#address;
  }

  /** Deletes one rule, and opens the firewall for everyone. Returns whether there was something to damage. */
  damage(stage: Stage): boolean {
    const [first, last] = this.find()?.ports ?? [];
    if (first === undefined || last === undefined) return false;
    const { firewallRules } = this.#state;
    for (const { id } of listDoors(this.#state, first.rule)) {
      const door = firewallRules.get(id);
      if (door !== undefined) firewallRules.set(id, { ...door, cidrs: [EVERYONE] });
    }
    dropRule(this.#state, last.rule.id);
    const [open, gone] = [first, last].map(({ rule }) => rule.publicPort);
    stage.tell(`  >  a user opens port ${open} for everyone and deletes the rule for ${gone}`);
    this.tellFound(stage);
    return true;
  }

  /** Says what CloudStack has for the Service. */
  tellFound(stage: Stage): void {
    const found = this.find();
    if (found === undefined) return;
    for (const line of describeBalancer(found, KEY)) tellState(stage, line);
  }

  #is({ view }: Stage, expected: readonly Expected[], vms: readonly string[]): boolean {
    const found = this.find();
    const [shown, ...more] = view.services.get(KEY)?.status?.loadBalancer?.ingress ?? [];
    const has = ({ port, source }: Expected, one: BalancerPort | undefined): boolean =>
      one?.rule.publicPort === port && isDeepStrictEqual([one.vms, one.sources], [vms, [source]]);
    return (
      found !== undefined &&
      more.length === 0 &&
      shown?.ip === found.ip.address &&
      found.ports.length === expected.length &&
      expected.every((one, at) => has(one, found.ports[at]))
    );
  }
}

/** The objects of a CloudStack. */
type CloudStackState = CloudStackSimulator["state"];
/** A load-balancer rule, as CloudStack has it. */
type BalancerRule = NonNullable<ReturnType<CloudStackState["loadBalancerRules"]["get"]>>;
type PublicIp = NonNullable<ReturnType<CloudStackState["publicIps"]["get"]>>;

/** A public IP address that is tagged for a Service. */
interface Balancer {
  readonly ip: PublicIp;
  /** By port. */
  readonly ports: readonly BalancerPort[];
}

/** A port of a Service on its address. */
interface BalancerPort {
  readonly rule: BalancerRule;
  /** Names of the VMs to which the router sends traffic, sorted. */
  readonly vms: readonly string[];
  /** CIDRs of the clients that the firewall lets in, sorted. */
  readonly sources: readonly string[];
}

/** The addresses that are tagged for a Service. @param service Namespace and name: `default/web` */
function listBalancers(state: CloudStackState, service: string): Balancer[] {
  const isTagged = ({ id }: PublicIp): boolean =>
    state.tags.of(id).some(({ key, value }) => key === TAG_KEYS.service && value === service);
  return [...state.publicIps.values()].filter(isTagged).map((ip) => {
    const rules = [...state.loadBalancerRules.values()].filter(({ ipId }) => ipId === ip.id);
    const sorted = rules.toSorted((one, other) => one.publicPort - other.publicPort);
    return { ip, ports: sorted.map((rule) => toPort(state, rule)) };
  });
}

/** The firewall rules for the port of a rule. */
function listDoors(
  { firewallRules }: CloudStackState,
  { ipId, publicPort }: BalancerRule,
): { readonly id: string; readonly cidrs: readonly string[] }[] {
  return [...firewallRules.values()].filter(
    (one) => one.ipId === ipId && one.startPort === publicPort && one.endPort === publicPort,
  );
}

/** Says it, a line for the address and one for each port. */
function describeBalancer({ ip, ports }: Balancer, service: string): string[] {
  return [
    `${ip.address} is tagged ${service}`,
    ...ports.map(
      ({ rule, vms, sources }) =>
        `${rule.protocol} ${rule.publicPort} from ${sources.join(", ") || "nowhere"} ` +
        `to ${vms.join(", ") || "no VM"}`,
    ),
  ];
}

function toPort(state: CloudStackState, rule: BalancerRule): BalancerPort {
  const served = new Set(rule.applied?.backends);
  const vms = rule.members
    .filter(({ ip }) => served.has(ip))
    .map(({ vmId }) => state.vm(vmId).name);
  const sources = listDoors(state, rule).flatMap(({ cidrs }) => cidrs);
  return { rule, vms: vms.toSorted(), sources: sources.toSorted() };
}
