/**
 * Every edit of a Service that replaces something in CloudStack, on every kind of address: an edit comes in, requests
 * go out, and the clients are counted after each of them.
 * @module
 */
import { expect, test } from "bun:test";
import type {
  LoadBalancerObservation,
  LoadBalancerPlan,
  LoadBalancers,
  LoadBalancerSpec,
} from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { cloudStack } from "../../../../lib/providers/cloudstack/mod.ts";
import {
  type CloudStackSimulator,
  startCloudStackSimulator,
} from "../../../../lib/simulator/cloudstack/mod.ts";
import {
  createNetworkKinds,
  type NetworkKind,
} from "../../../support/cloud/cloudstack_network_kinds.ts";
import { toFirewallRule } from "../../../../lib/simulator/cloudstack/world/firewall.ts";
import { type PublicIp, toPublicIp } from "../../../../lib/simulator/cloudstack/world/records.ts";
import { toAclItem } from "../../../../lib/simulator/cloudstack/world/vpcs.ts";
import { createChanging } from "../../../support/cloud/changing_provider.ts";
import { readExtent } from "../../../support/extent.ts";
import { ManualClock, passUntil } from "../../../support/manual_clock.ts";
import { shorten } from "../../../support/net/short_way.ts";
import { listClients } from "../../../simulation/cloudstack/services/router.ts";
import { toDeps } from "../fake_server.ts";
import { annotate, LB_NAME, toSpec } from "./cloud/services.ts";
import { toLoadBalancerRule, toPortForwarding } from "../../../support/cloud/cloudstack_rules.ts";
import { longTest } from "../../../support/long_tests.ts";

const signal = new AbortController().signal;
const STEPS_MAX = 40;
/** Of the user: in the network of the Nodes, and in another one. */
const PINNED_IP = "203.0.113.21";
const OTHER_IP = "203.0.113.22";
const ELSEWHERE_IP = "203.0.113.23";
const DNS_PORT = 53;
/** Free, and known only from the edit on: nobody took it before. */
const FREE_IP = "198.51.100.90";
const SOURCE_NAT_IP = "198.51.100.1";
const CLUSTER = "11111111-1111-4111-8111-111111111111";

/** Whose address it is, and how the Service got its rules there. */
interface Home {
  readonly network: NetworkKind;
  /** The address that the Service names at first. */
  readonly named?: string;
  /** Where version 1.x of the Apache provider made the rules. */
  readonly adopted?: string;
  /** How many edits end in which way. */
  readonly endings: Readonly<Record<Ending, number>>;
}

const NAT_ENDINGS = { nothing: 12, inPlace: 30, replaced: 6, moved: 18, refused: 21 };
const ENDINGS = { nothing: 8, inPlace: 20, replaced: 6, moved: 12, refused: 12 };
/** A rule that opens a port of an address of the Service's own is no rule of others. */
const OWN_ENDINGS = { ...ENDINGS, inPlace: 22, refused: 10 };
/** Who may connect is in the list of the rule, which cannot be changed before 4.22. */
const TIER_ENDINGS = { nothing: 0, inPlace: 24, replaced: 8, moved: 12, refused: 14 };
/** Nothing is in the way of the other protocol. */
const OPEN_ENDINGS = { ...TIER_ENDINGS, inPlace: 26, refused: 12 };

const HOMES: Readonly<Record<string, Home>> = {
  "adopted source NAT": {
    network: "isolated",
    named: SOURCE_NAT_IP,
    adopted: SOURCE_NAT_IP,
    endings: NAT_ENDINGS,
  },
  "adopted source NAT, not named": {
    network: "isolated",
    adopted: SOURCE_NAT_IP,
    endings: NAT_ENDINGS,
  },
  "source NAT": { network: "isolated", named: SOURCE_NAT_IP, endings: ENDINGS },
  own: { network: "isolated", endings: OWN_ENDINGS },
  "own in a tier": { network: "tier", endings: TIER_ENDINGS },
  "own without a firewall": { network: "open", endings: OPEN_ENDINGS },
  "pinned in a tier": { network: "tier", named: PINNED_IP, endings: TIER_ENDINGS },
  pinned: { network: "isolated", named: PINNED_IP, endings: ENDINGS },
  "adopted in a tier": {
    network: "tier",
    named: PINNED_IP,
    adopted: PINNED_IP,
    endings: TIER_ENDINGS,
  },
  adopted: { network: "isolated", named: PINNED_IP, adopted: PINNED_IP, endings: ENDINGS },
  "adopted, not named": { network: "isolated", adopted: PINNED_IP, endings: OWN_ENDINGS },
};

type Edit = (spec: LoadBalancerSpec, stage: Stage) => LoadBalancerSpec;

function onFirst(change: object): Edit {
  return (spec) => ({
    ...spec,
    ports: spec.ports.map((port, at) => (at === 0 ? { ...port, ...change } : port)),
  });
}

function withAnnotation(name: string, value: string): Edit {
  return (spec) => ({
    ...spec,
    annotations: { ...spec.annotations, ...annotate({ [name]: value }) },
  });
}

const toProxy = withAnnotation("proxy-protocol", "true");
const toOtherNodePort = onFirst({ nodePort: 31_080 });

const EDITS: ReadonlyMap<string, Edit> = new Map(
  Object.entries({
    "PROXY protocol": toProxy,
    protocol: onFirst({ protocol: "UDP" }),
    "node port": toOtherNodePort,
    "node port and PROXY protocol": (spec, stage) => toOtherNodePort(toProxy(spec, stage), stage),
    algorithm: (spec) => ({ ...spec, hasClientIpAffinity: true }),
    "algorithm and PROXY protocol": (spec, stage) => ({
      ...toProxy(spec, stage),
      hasClientIpAffinity: true,
    }),
    "source ranges": (spec) => ({ ...spec, sourceRanges: ["10.0.0.0/8"] }),
    "CIDRs of the rule": withAnnotation("source-cidrs", "10.0.0.0/8"),
    address: (spec) => ({ ...spec, address: OTHER_IP }),
    "free address": (spec) => ({ ...spec, address: FREE_IP }),
    network: (spec, stage) => ({
      ...spec,
      address: ELSEWHERE_IP,
      backends: [...spec.backends, ...stage.toBackends("simple")],
    }),
  } satisfies Record<string, Edit>),
);

/** What may come in the way since the rules were made. */
const OBSTACLES = [
  "nothing",
  "static NAT",
  "rule of others",
  "HAProxy",
  "limit of the account",
] as const;

type Obstacle = (typeof OBSTACLES)[number];

interface Case {
  readonly home: Home;
  readonly edit: string;
  readonly ports: readonly number[];
  readonly version: string;
  readonly obstacle: Obstacle;
}

/** What clients can do, by port. */
type Service = ReadonlyMap<number, readonly string[]>;

interface Rest {
  /** What the Service waits for. */
  readonly refusals: readonly string[];
  /** The commands of each step, and what clients could do after it. */
  readonly trace: readonly { readonly commands: readonly string[]; readonly service: Service }[];
}

type Kinds = ReturnType<typeof createNetworkKinds>;

/** A CloudStack, and Landfall's load balancers there. */
class Stage implements AsyncDisposable {
  readonly simulator: CloudStackSimulator;
  readonly #kinds: Kinds;
  readonly #loadBalancers: LoadBalancers;
  readonly #clock: ManualClock;
  readonly #way: Disposable;
  #record: string | undefined;
  #ingress: LoadBalancerSpec["ingress"] = [];

  private constructor(
    simulator: CloudStackSimulator,
    kinds: Kinds,
    loadBalancers: LoadBalancers,
    clock: ManualClock,
  ) {
    this.simulator = simulator;
    this.#clock = clock;
    this.#way = shorten(simulator.url, (request) => simulator.answer(request));
    this.#kinds = kinds;
    this.#loadBalancers = loadBalancers;
  }

  static async start({
    home,
    ports = [],
    version = "4.22.0.0",
  }: Pick<Case, "home"> & Partial<Case>): Promise<Stage> {
    const { network, adopted } = home;
    const kinds = createNetworkKinds({ freeIps: 3 });
    const { id, zoneId, vpcId } = kinds.networks[network];
    const place = vpcId === undefined ? { networkId: id } : { vpcId };
    const toOwned = (ip: string, where: object): PublicIp => ({
      ...toPublicIp(ip, zoneId, kinds.ownerId),
      ...where,
    });
    const world = {
      ...kinds.world,
      publicIps: [
        ...(kinds.world.publicIps ?? []),
        toOwned(PINNED_IP, place),
        toOwned(OTHER_IP, place),
        toOwned(ELSEWHERE_IP, { networkId: kinds.networks.simple.id }),
      ],
    };
    const clock = new ManualClock();
    const settings = { version, jobMs: 1 };
    const simulator = await startCloudStackSimulator({ clock, world, settings });
    const { url: apiUrl, apiKey, secretKey } = simulator;
    const parsed = cloudStack.parseConfig({ apiUrl, apiKey, secretKey }, {});
    if (parsed.settings === undefined) throw new Error(JSON.stringify(parsed.issues));
    const { provider } = createChanging(cloudStack, parsed.settings, { ...toDeps(), clock });
    const { loadBalancers } = provider;
    if (loadBalancers === undefined) throw new Error("there are no load balancers");
    loadBalancers.setClusterIds([CLUSTER]);
    const nodes = kinds.vms[network].map(({ name }) => ({ name }));
    const stage = new Stage(simulator, kinds, loadBalancers, clock);
    await passUntil(clock, provider.listInventory(nodes, signal));
    if (adopted !== undefined) stage.#adopt(network, adopted, ports);
    return stage;
  }

  /** As the Apache provider left it. */
  #adopt(kind: NetworkKind, address: string, ports: readonly number[]): void {
    const { state } = this.simulator;
    const ip = this.findIp(address);
    const network = this.#kinds.networks[kind];
    ip.networkId = network.id;
    for (const [at, publicPort] of ports.entries()) {
      const rule = toLoadBalancerRule({
        ip,
        name: `${LB_NAME}-tcp-${publicPort}`,
        publicPort,
        privatePort: 30_000 + publicPort,
        cidrList: "0.0.0.0/0",
        vms: this.#kinds.vms[kind],
      });
      state.loadBalancerRules.set(rule.id, rule);
      const firewallRule = toFirewallRule({ ip, startPort: publicPort });
      const list = this.#kinds.aclList;
      const item = toAclItem({ list, number: 10 + at, startPort: publicPort });
      if (network.services.includes("Firewall"))
        state.firewallRules.set(firewallRule.id, firewallRule);
      if (network.vpcId !== undefined) state.aclItems.set(item.id, item);
    }
    this.#ingress = [{ ip: address, ipMode: "VIP" }];
  }

  findIp(address: string): PublicIp {
    const found = [...this.simulator.state.publicIps.values()].find(
      (one) => one.address === address,
    );
    if (found === undefined) throw new Error(`There is no address ${address}`);
    return found;
  }

  addFreeAddress(): void {
    const free = toPublicIp(FREE_IP, this.#kinds.networks.isolated.zoneId);
    this.simulator.state.publicIps.set(free.id, free);
  }

  /** What a Service asks for at first. */
  toWish({ network, named }: Home, ports: readonly number[]): LoadBalancerSpec {
    return toSpec({
      ports: ports.map((port) => ({ protocol: "TCP", port, nodePort: 30_000 + port })),
      backends: this.toBackends(network),
      ...(named !== undefined && { address: named }),
    });
  }

  toBackends(kind: NetworkKind): LoadBalancerSpec["backends"] {
    return this.#kinds.vms[kind].map(({ id, name, nics }) => ({
      nodeName: name,
      instanceId: id,
      internalIps: nics.flatMap(({ ipAddress }) => ipAddress ?? []),
    }));
  }

  /** What is there of the Service. */
  get rules() {
    return [...this.simulator.state.loadBalancerRules.values()]
      .filter(({ name }) => name.startsWith(LB_NAME))
      .map((rule) => ({ ...rule, members: rule.members.length }));
  }

  /** What clients can do now, on the best address of each port. */
  get service(): Service {
    const { state } = this.simulator;
    const found = new Map<number, readonly string[]>();
    for (const rule of state.loadBalancerRules.values()) {
      if (!rule.name.startsWith(LB_NAME) || rule.applied?.protocol === "udp") continue;
      const clients = listClients(state, rule);
      if (clients.length >= (found.get(rule.publicPort)?.length ?? 0))
        found.set(rule.publicPort, clients);
    }
    return found;
  }

  /** Works as the controller does, until a plan has no steps, or a step is refused. */
  reconcile(stickiness: LoadBalancerSpec): Promise<Rest> {
    const work = this.#work(stickiness, (observation, spec) =>
      this.#loadBalancers.plan(observation, spec),
    );
    return passUntil(this.#clock, work);
  }

  /** The same for a Service that goes. */
  release(stickiness: LoadBalancerSpec): Promise<Rest> {
    const work = this.#work(stickiness, (observation, spec) =>
      this.#loadBalancers.planRelease(observation, spec),
    );
    return passUntil(this.#clock, work);
  }

  async #work(
    stickiness: LoadBalancerSpec,
    plan: (observation: LoadBalancerObservation, spec: LoadBalancerSpec) => LoadBalancerPlan,
  ): Promise<Rest> {
    const trace: { commands: readonly string[]; service: Service }[] = [];
    const save = (text: string | undefined): Promise<void> => {
      this.#record = text;
      return Promise.resolve();
    };
    // An edit is planned on an observation that is younger.
    let maxAgeMs = 0;
    for (let at = 0; at < STEPS_MAX; at += 1) {
      const spec = {
        ...stickiness,
        ingress: this.#ingress,
        ...(this.#record !== undefined && { record: this.#record }),
      };
      const observation = await this.#loadBalancers.observe(
        { claims: () => [spec], maxAgeMs },
        signal,
      );
      maxAgeMs = 60_000;
      const { steps, problems, ingress } = plan(observation, spec);
      const isShown = ingress === undefined || Bun.deepEquals(ingress, this.#ingress);
      this.#ingress = ingress ?? this.#ingress;
      const [step] = steps;
      if (step === undefined && isShown) {
        const refusals = problems.flatMap((one) => (one.isWaiting ? one.message : []));
        return { refusals, trace };
      }
      if (step === undefined) continue;
      this.simulator.requests.reset();
      try {
        await this.#loadBalancers.apply(step, { save }, signal);
      } catch (error) {
        return { refusals: [String(error)], trace };
      }
      const commands = this.simulator.requests.entries
        .map(({ command }) => command)
        .filter((command) => !/^(list|query)/.test(command));
      trace.push({ commands, service: this.service });
    }
    throw new Error(`no rest: ${trace.flatMap(({ commands }) => commands).join(" ")}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#way[Symbol.dispose]();
    await this.simulator.stop();
  }
}

/** Which clients of a port are missing that may connect before and after the edit. */
function listMissing(
  before: Service,
  now: Service,
  isAsked: (port: number, client: string) => boolean,
): string[] {
  return [...before].flatMap(([port, clients]) =>
    clients
      .filter((client) => isAsked(port, client) && now.get(port)?.includes(client) !== true)
      .map((client) => `${port} ${client}`),
  );
}

/** From the first client that is missing: what lets clients in and the rule go, and the next request makes it again. */
const REPLACED =
  /^((deleteFirewallRule|deleteNetworkACL) )*(deleteLoadBalancerRule create|deleteFirewallRule createFirewallRule )/;

/** Fails if clients are missing that no next request brings back. */
function judge(before: Service, { trace }: Rest, isAsked: (p: number, c: string) => boolean): void {
  let isMissing = false;
  for (const [at, { service }] of trace.entries()) {
    const missing = listMissing(before, service, isAsked);
    const commands = trace.slice(at).flatMap((one) => one.commands);
    if (new Set(missing.map((one) => one.split(" ")[0])).size > 1)
      throw new Error(`two ports at once: ${missing.join(", ")}`);
    if (missing.length > 0 && !isMissing && !REPLACED.test(`${commands.join(" ")} `))
      throw new Error(`missing ${missing.join(", ")} while ${commands.join(" ")}`);
    isMissing = missing.length > 0;
  }
  if (isMissing) throw new Error("clients are still missing");
}

/** Puts something in the way, and says how it is taken away. */
function obstruct({ simulator, rules }: Stage, { obstacle }: Case): () => void {
  const { state, settings } = simulator;
  const ip = state.publicIps.get(rules[0]?.ipId ?? "");
  const [vm] = state.vms.values();
  if (ip === undefined || vm === undefined) throw new Error("there is nothing to obstruct");
  if (obstacle === "static NAT") {
    ip.staticNatVmId = vm.id;
    return () => delete ip.staticNatVmId;
  }
  if (obstacle === "limit of the account") {
    settings.publicIpsMax = 1;
    return () => (settings.publicIpsMax = Infinity);
  }
  if (obstacle === "nothing") return () => undefined;
  if (obstacle === "HAProxy") {
    const network = state.networks.get(ip.networkId ?? "");
    if (network === undefined) throw new Error("the address has no network");
    state.networks.set(network.id, { ...network, balancer: obstacle });
    return () => state.networks.set(network.id, network);
  }
  const rule = toFirewallRule({ ip, protocol: "udp", startPort: rules[0]?.publicPort ?? 0 });
  const list = state.aclLists.values().find(({ vpcId }) => vpcId === ip.vpcId);
  if (ip.vpcId === undefined) state.firewallRules.set(rule.id, rule);
  if (ip.vpcId === undefined || list === undefined) return () => state.removeFirewallRule(rule.id);
  const item = toAclItem({ list, number: 5, action: "Deny", ...pick(rule) });
  state.aclItems.set(item.id, item);
  return () => state.aclItems.delete(item.id);
}

function pick({ protocol, startPort = 0 }: { protocol: string; startPort?: number }) {
  return { protocol, startPort };
}

/** An edit changed nothing; it kept the rules, made them again, or left the address; or it was refused. */
type Ending = "nothing" | "inPlace" | "replaced" | "moved" | "refused";

async function tell(one: Case): Promise<Ending> {
  const { home, edit, ports } = one;
  await using stage = await Stage.start(one);
  const stickiness = stage.toWish(home, ports);
  expect((await stage.reconcile(stickiness)).refusals).toEqual([]);
  stage.addFreeAddress();
  const [before, was] = [stage.service, stage.rules];
  expect([...before.keys()].toSorted()).toEqual([...ports].toSorted());
  const remove = obstruct(stage, one);
  const edited = EDITS.get(edit)?.(stickiness, stage) ?? stickiness;
  const isKept = new Set(
    edited.ports.filter(({ protocol }) => protocol === "TCP").map(({ port }) => port),
  );
  const isNarrower = edit === "source ranges" || edit === "CIDRs of the rule";
  const isAsked = (port: number, client: string): boolean =>
    isKept.has(port) && (!isNarrower || client.startsWith("10."));
  const second = await stage.reconcile(edited);
  judge(before, second, isAsked);
  if (second.refusals.length > 0) {
    const left = stage.rules.map(({ id }) => id);
    expect({ ...second, left }).toEqual({ ...second, left: was.map(({ id }) => id) });
    expect((await stage.reconcile(stickiness)).refusals).toEqual([]);
    expect([...stage.service]).toEqual([...before]);
    expect(stage.rules).toEqual(was);
    remove();
    const last = await stage.reconcile(edited);
    judge(before, last, isAsked);
    const isForGood = ["nothing", "static NAT"].includes(one.obstacle) && ports.includes(DNS_PORT);
    expect(last.refusals.length > 0).toBe(isForGood);
    return "refused";
  }
  const now = stage.rules;
  expect(now.map(({ publicPort }) => publicPort).toSorted()).toEqual([...ports].toSorted());
  for (const { algorithm, protocol, privatePort, applied, members } of now) {
    expect(applied).toMatchObject({ algorithm, protocol, privatePort });
    expect(members).toBe(2);
  }
  const ids = new Set(was.map(({ id }) => id));
  if (now.every(({ id }) => ids.has(id))) return Bun.deepEquals(now, was) ? "nothing" : "inPlace";
  return now.every(({ ipId }) => ipId === was[0]?.ipId) ? "replaced" : "moved";
}

function listCases(home: Home): readonly Case[] {
  const usual = { version: "4.22.0.0", obstacle: "nothing" } as const;
  // A server that had no guard may have let the source NAT serve port 53.
  const sets = home.adopted === SOURCE_NAT_IP ? [[80], [80, 443], [DNS_PORT]] : [[80], [80, 443]];
  return sets.flatMap((ports) =>
    [...EDITS.keys()].flatMap((edit): readonly Case[] => {
      const one = { home, edit, ports, ...usual };
      const mayBeOld = edit === "CIDRs of the rule" || edit === "source ranges";
      return [
        one,
        { ...one, obstacle: "static NAT" },
        ...(mayBeOld ? [{ ...one, version: "4.20.0.0" }] : []),
        ...(mayBeOld ? [{ ...one, version: "4.20.0.0", obstacle: "static NAT" as const }] : []),
        ...(edit === "protocol" ? [{ ...one, obstacle: "rule of others" as const }] : []),
        ...(edit === "protocol" ? [{ ...one, obstacle: "HAProxy" as const }] : []),
        ...(edit === "free address" ? [{ ...one, obstacle: "limit of the account" as const }] : []),
      ];
    }),
  );
}

/** How many of the cases are told on a developer's machine: each home, edit and obstacle is among them. */
const STRIDE = 17;
const SAMPLE_ENDINGS = { nothing: 4, inPlace: 15, replaced: 5, moved: 9, refused: 8 };

type Table = readonly [name: string, cases: readonly Case[], endings: Home["endings"]];

/** By home in CI; elsewhere a sample of all. */
function listTables(): readonly Table[] {
  const tables = Object.entries(HOMES).map(([name, home]): Table => [
    name,
    listCases(home),
    home.endings,
  ]);
  if (readExtent() === "all") return tables;
  const cases = tables.flatMap(([, own]) => own).filter((_case, at) => at % STRIDE === 0);
  return [["a sample of all", cases, SAMPLE_ENDINGS]];
}

longTest.each([...listTables()])(
  "no edit leaves less service than before, unless the next request makes it again: %s",
  async (_name, cases, endings) => {
    const count = { nothing: 0, inPlace: 0, replaced: 0, moved: 0, refused: 0 };
    const failures: string[] = [];
    for (const one of cases) {
      try {
        count[await tell(one)] += 1;
      } catch (error) {
        failures.push(`${JSON.stringify(one)}: ${String(error)}`);
      }
    }
    expect(failures).toEqual([]);
    expect(count).toEqual(endings);
  },
  60_000,
);

test("the tables have each home, edit and obstacle", () => {
  const cases = listTables().flatMap(([, told]) => told);
  expect(new Set(cases.map(({ home }) => home))).toEqual(new Set(Object.values(HOMES)));
  expect(new Set(cases.map(({ edit }) => edit))).toEqual(new Set(EDITS.keys()));
  expect([...new Set(cases.map(({ obstacle }) => obstacle))]).toHaveLength(OBSTACLES.length);
});

const NAT_HOME = HOMES["source NAT"] ?? { network: "isolated", endings: ENDINGS };

test("a change that the router did not take is sent again", async () => {
  for (const edit of ["algorithm", "PROXY protocol", "CIDRs of the rule"]) {
    await using stage = await Stage.start({ home: NAT_HOME });
    const stickiness = stage.toWish(NAT_HOME, [80]);
    await stage.reconcile(stickiness);
    const edited = EDITS.get(edit)?.(stickiness, stage) ?? stickiness;
    for (let failures = 1; failures <= 3; failures += 1) {
      const fault = { kind: "failedJob", code: 530, text: "no router", isLate: true } as const;
      stage.simulator.faults.set(fault, { command: "updateLoadBalancerRule", times: 1 });
      expect((await stage.reconcile(edited)).refusals).toHaveLength(1);
    }
    expect((await stage.reconcile(edited)).refusals).toEqual([]);
    for (const { algorithm, protocol, cidrList, applied } of stage.rules)
      expect(applied).toMatchObject({ algorithm, protocol, cidrList });
    expect((await stage.reconcile(edited)).trace).toEqual([]);
  }
});

test("a rule is made again if the server takes its new name, and not its protocol", async () => {
  await using stage = await Stage.start({ home: NAT_HOME });
  const stickiness = stage.toWish(NAT_HOME, [80]);
  await stage.reconcile(stickiness);
  for (const rule of stage.simulator.state.loadBalancerRules.values())
    Object.defineProperty(rule, "protocol", { get: () => "tcp", set: () => {} });
  expect((await stage.reconcile(toProxy(stickiness, stage))).refusals).toEqual([]);
  expect(stage.rules).toMatchObject([
    { protocol: "tcp-proxy", applied: { algorithm: "roundrobin" } },
  ]);
});

/** As the container service of CloudStack leaves it: the API server is balanced, and the Nodes have forwarded ports. */
function addCluster(stage: Stage): () => unknown {
  const { state } = stage.simulator;
  const ip = stage.findIp(SOURCE_NAT_IP);
  const vms = [...state.vms.values()].filter(({ name }) => name.startsWith("isolated"));
  const rule = toLoadBalancerRule({ ip, name: "api", publicPort: 6443, vms });
  const forwarding = toPortForwarding({ ip, vmId: vms[0]?.id ?? "", publicPort: 2222 });
  state.loadBalancerRules.set(rule.id, rule);
  state.portForwardings.set(forwarding.id, forwarding);
  for (const startPort of [6443, 2222]) {
    const one = toFirewallRule({ ip, startPort });
    state.firewallRules.set(one.id, one);
  }
  const isTheirs = ({ id }: { readonly id: string }): boolean => id === rule.id;
  return () =>
    structuredClone([
      [...state.loadBalancerRules.values()].filter(isTheirs),
      [...state.portForwardings.values()],
      [...state.firewallRules.values()].filter(({ startPort }) => (startPort ?? 0) > 1_000),
      [...state.publicIps.values()].filter(({ id }) => id === ip.id),
      state.tags.of(ip.id),
    ]);
}

test("a Service shares the source NAT with rules of others, as CloudStack allows it, and leaves them", async () => {
  await using stage = await Stage.start({ home: NAT_HOME });
  const show = addCluster(stage);
  const theirs = show();
  const stickiness = stage.toWish(NAT_HOME, [80, 6443, 2222, DNS_PORT]);
  const { refusals } = await stage.reconcile({
    ...stickiness,
    ports: stickiness.ports.slice(0, 2),
  });
  expect(refusals).toEqual([expect.stringContaining("port 6443 of 198.51.100.1 has the")]);
  const dns = {
    ...stickiness,
    ports: stickiness.ports.filter(({ port }) => port === 80 || port === DNS_PORT),
  };
  expect((await stage.reconcile(dns)).refusals).toEqual([
    expect.stringMatching(
      /^port tcp 53: public IP 198.51.100.1 is the source NAT .*: use another port/,
    ),
  ]);
  expect([...stage.service.keys()]).toEqual([80]);
  const forwarded = { ...stickiness, ports: stickiness.ports.filter(({ port }) => port === 2222) };
  expect((await stage.reconcile(forwarded)).refusals).toEqual([
    expect.stringContaining("firewall rule"),
  ]);
  expect(
    (await stage.reconcile({ ...stickiness, ports: stickiness.ports.slice(0, 1) })).refusals,
  ).toEqual([]);
  expect([...stage.service.keys()]).toEqual([80]);
  await stage.release(stickiness);
  expect(stage.rules).toEqual([]);
  expect(show()).toEqual(theirs);
});

test("a tier without conserve mode does not share the source NAT of its VPC, and the Service says so", async () => {
  const home: Home = { network: "tier", named: "198.51.100.4", endings: TIER_ENDINGS };
  await using stage = await Stage.start({ home });
  const [refusal] = (await stage.reconcile(stage.toWish(home, [80]))).refusals;
  expect(refusal).toContain("has no conserve mode, and it is in use for SourceNat");
  expect(stage.rules).toEqual([]);
});
