import { expect } from "bun:test";
import { dropRule, free } from "../../../../lib/simulator/cloudstack/world/addresses.ts";
import { toFirewallRule } from "../../../../lib/simulator/cloudstack/world/firewall.ts";
import { applyRule } from "../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import type { PublicIp } from "../../../../lib/simulator/cloudstack/world/records.ts";
import { listUntrue } from "../../judges/calm.ts";
import { settle, SETTINGS } from "../../settled.ts";
import { CloudStackWorld } from "../cloud.ts";
import { type CloudStackBalancing, drawSite } from "./balancing.ts";
import { listRules } from "./service_judge.ts";
import { RECORD } from "./wishes.ts";
import { toLoadBalancerRule, toPortForwarding } from "../../../support/cloud/cloudstack_rules.ts";
import { longTest } from "../../../support/long_tests.ts";

const SEED = findSeed();
const WEB = { name: "web", namespace: "default" } as const;
const JOB = {
  command: "createFirewallRule",
  userId: "",
  accountId: "",
  instanceType: "None",
  instanceId: "",
} as const;
const LEASE = { namespace: "kube-system", name: "cloud-controller-manager" } as const;

/** One whose networks have a firewall, and whose machines are in one of them. */
function findSeed(): number {
  for (let seed = 1; ; seed += 1) {
    const site = drawSite(seed);
    if (site?.kind === "isolated" && site.isInOneZone) return seed;
  }
}

interface Scene extends AsyncDisposable {
  readonly world: CloudStackWorld;
  readonly balancing: CloudStackBalancing;
}

/** A Service at rest whose clients are in one block. */
async function start(): Promise<Scene> {
  const world = new CloudStackWorld(SEED, () => SETTINGS);
  const { balancing } = world.cloud;
  if (balancing === undefined) throw new Error("There are no load balancers");
  world.said = { ...world.said, leavesAddresses: false };
  world.server.objects.create("services", {
    metadata: WEB,
    spec: {
      type: "LoadBalancer",
      ports: [{ port: 80, nodePort: 30_080, protocol: "TCP" }],
      loadBalancerSourceRanges: ["10.0.0.0/8"],
    },
  });
  await settle(world, ["n1", "n2"], 60_000);
  return { world, balancing, [Symbol.asyncDispose]: () => world.leave() };
}

function toRule({ cloud, knowledge }: CloudStackBalancing) {
  const life = knowledge.lives.find(({ name }) => name === WEB.name);
  const [rule] = life ? listRules(cloud.state.loadBalancerRules.values(), life) : [];
  if (rule === undefined) throw new Error("The Service has no rule");
  return rule;
}

function toAddress(balancing: CloudStackBalancing): PublicIp {
  const ip = balancing.cloud.state.publicIps.get(toRule(balancing).ipId);
  if (ip === undefined) throw new Error("The Service has no address");
  return ip;
}

function findOther({ cloud, book }: CloudStackBalancing): PublicIp {
  const ip = [...cloud.state.publicIps.values()].find(
    ({ id, isSourceNat, networkId }) =>
      book.has(id) && !isSourceNat && !book.isUsed(id) && networkId !== undefined,
  );
  if (ip === undefined) throw new Error("People have no address");
  return ip;
}

type Act = (scene: Scene) => unknown;

/** Who says something, all in one line. */
const broken = ({ balancing }: Scene): string => balancing.listBroken().join();
const untrue = ({ world }: Scene): string => listUntrue(world).join();
const violations = ({ world }: Scene): string => world.invariants.violations.join();

/** A rule of people. */
function findTheirs({ cloud: { state }, book }: CloudStackBalancing) {
  const rule = state.loadBalancerRules.values().find(({ id }) => book.has(id));
  if (rule === undefined) throw new Error("People have no rule");
  return rule;
}

const editTheirs: Act = ({ balancing }) => {
  findTheirs(balancing).algorithm = "source";
};

const dropTheirs: Act = ({ balancing }) =>
  dropRule(balancing.cloud.state, findTheirs(balancing).id);

const tagTheirs: Act = ({ balancing }) => {
  const { id: resourceId, accountId = "" } = findOther(balancing);
  const key = "landfall.dev/service-uid";
  const resourceType = "PublicIpAddress";
  balancing.cloud.state.tags.add({ key, value: "x", resourceType, resourceId, accountId });
};

const openWide: Act = ({ balancing }) => {
  const everybody = toFirewallRule({ ip: toAddress(balancing), startPort: 80 });
  balancing.cloud.state.firewallRules.set(everybody.id, everybody);
};

const addTwin: Act = ({ balancing }) => {
  const { state } = balancing.cloud;
  const rule = toRule(balancing);
  const vms = rule.members.flatMap(({ vmId }) => state.vms.get(vmId) ?? []);
  const twin = toLoadBalancerRule({ ip: findOther(balancing), name: rule.name, vms });
  state.loadBalancerRules.set(twin.id, twin);
  applyRule(twin, state.stickinessPolicies);
};

const changeCloud: Act = ({ world: { invariants } }) =>
  invariants.checkAsked("b1", new Request("http://b1.memory/client/api", { method: "POST" }));

const writeStatus: Act = ({ world: { invariants, replicas, server } }) => {
  const process = replicas[0]?.current?.process;
  if (process === undefined) throw new Error("No process runs");
  server.objects.patch("leases", LEASE, { spec: { holderIdentity: "somebody" } });
  const path = "/api/v1/namespaces/default/services/web/status";
  invariants.checkSent(process, { method: "PATCH", path, headers: {}, body: "{}" });
};

const loseMember: Act = ({ balancing }) => {
  const rule = toRule(balancing);
  rule.members = rule.members.slice(1);
};

const editRule: Act = ({ balancing }) => {
  const rule = toRule(balancing);
  applyRule(rule, balancing.cloud.state.stickinessPolicies);
  rule.algorithm = "leastconn";
};

const loseTags: Act = ({ balancing }) =>
  void balancing.cloud.state.tags.drop(toRule(balancing).ipId);

const loseRule: Act = ({ balancing }) => dropRule(balancing.cloud.state, toRule(balancing).id);

const killAll: Act = ({ world }) => {
  for (const replica of world.replicas) replica.kill();
};

const unprotect: Act = ({ world: { server } }) =>
  server.objects.patch("services", WEB, { metadata: { finalizers: [] } });

const remove: Act = ({ world: { server } }) => server.objects.delete("services", WEB);

longTest.each<readonly [what: string, acts: readonly Act[], by: typeof broken, ...said: string[]]>([
  ["a rule of people is changed", [editTheirs], broken, "rule THEIRS of somebody else is"],
  ["a rule of people is gone", [dropTheirs], broken, "rule THEIRS of somebody else is gone"],
  ["an address of people gets a tag", [tagTheirs], broken, "address OTHER of somebody else is"],
  ["more clients get in than the Service asks for", [openWide], broken, "open wider than it asks"],
  ["traffic of one Service is on two addresses", [addTwin], broken, "has traffic on two addresses"],
  ["a process changes the cloud that does not lead", [changeCloud], violations, "holds the Lease"],
  [
    "a process writes a Service that does not lead",
    [writeStatus],
    violations,
    "while somebody holds the Lease",
  ],
  ["a backend is missing", [loseMember], untrue, "has members"],
  ["a rule is changed", [editRule], untrue, "has algorithm leastconn instead of roundrobin"],
  ["tags of an address are missing", [loseTags], untrue, "has an address without tags"],
  ["a rule is missing", [loseTags, loseRule], untrue, "has no rule", "is nobody's"],
  [
    "something is left of a Service that is gone",
    [killAll, unprotect, remove],
    untrue,
    "leaves address",
    "leaves rule",
  ],
  ["a finalizer stays", [killAll, remove], untrue, "keeps its finalizer"],
])("judges see that %s", async (_what, acts, by, ...said) => {
  await using scene = await start();
  expect([broken(scene), untrue(scene), violations(scene)]).toEqual(["", "", ""]);
  const [theirs, other] = [findTheirs(scene.balancing).id, findOther(scene.balancing).id];
  for (const act of acts) await act(scene);
  const found = by(scene);
  for (const part of said)
    expect(found).toContain(part.replace("THEIRS", theirs).replace("OTHER", other));
});

longTest(
  "judges let a destroyed machine stay behind a rule, which no list of members shows",
  async () => {
    await using scene = await start();
    const { balancing, world } = scene;
    balancing.cloud.state.setState(toRule(balancing).members[0]?.vmId ?? "", "Destroyed");
    expect(balancing.listUntrue(world)).toEqual([]);
  },
);

longTest("judges let people open a port by hand, and then it must be closed again", async () => {
  await using scene = await start();
  await openWide(scene);
  scene.balancing.judge.accept();
  expect(broken(scene)).toBe("");
  expect(untrue(scene)).toContain("has clients");
  await scene.world.timeline.advance(90_000);
  expect(untrue(scene)).toBe("");
});

longTest.each([
  { story: "asks before people change the Service", asks: "before", isTold: false },
  { story: "asks after it has seen their change", asks: "after", isTold: true },
  { story: "had its answer before", asks: "before", isAnswered: true, isTold: true },
  {
    story: "had its answer before, and the job runs",
    asks: "before",
    isAnswered: true,
    hasJob: true,
    isTold: false,
  },
])(
  "judges hold what CloudStack carries out half a minute late against what was known when a process $story",
  async ({ asks, isAnswered = false, hasJob = false, isTold }) => {
    await using scene = await start();
    const { world, balancing } = scene;
    const { timeline, server } = world;
    killAll(scene);
    const { jobs, settings, state } = balancing.cloud.server;
    const { firewallRules } = state;
    const opening = firewallRules.values().find(({ id }) => !balancing.book.has(id));
    if (opening === undefined) throw new Error("The Service has no firewall rule");
    firewallRules.delete(opening.id);
    const ask = (): (() => void) =>
      balancing.judge.noteAsked("a1", "createFirewallRule", new URLSearchParams());
    const endFirst = asks === "before" ? ask() : undefined;
    settings.jobMs = 60_000;
    // A job is dated in whole milliseconds.
    await timeline.advance(0.4);
    if (hasJob) jobs.start({ ...JOB, run: () => ({}) });
    if (isAnswered) endFirst?.();
    await timeline.advance(0.5);
    const ports = [{ port: 81, nodePort: 30_081, protocol: "TCP" }];
    server.objects.patch("services", WEB, { spec: { ports } });
    balancing.noteShown("a1", server.services);
    await timeline.advance(35_000);
    expect(broken(scene)).toBe("");
    const end = endFirst ?? ask();
    firewallRules.set(opening.id, opening);
    end();

    expect(broken(scene).includes("open wider than it asks")).toBe(isTold);
  },
);

longTest.each([
  { record: "from a clock that is half an hour ahead", aheadMs: 1_800_000, leadMs: 1_800_000 },
  { record: "from a clock that is half an hour behind", aheadMs: -1_800_000, leadMs: 0 },
  { record: "that people spoilt", leadMs: 0 },
])(
  "judges wait for a request that may still come by a record $record: $leadMs ms longer",
  async ({ aheadMs, leadMs }) => {
    await using scene = await start();
    const { world, balancing } = scene;
    killAll(scene);
    const at =
      aheadMs === undefined ? undefined : new Date(world.timeline.now() + aheadMs).toISOString();
    const text = at === undefined ? "{" : JSON.stringify({ v: 1, address: { at } });
    world.server.objects.patch("services", WEB, { metadata: { annotations: { [RECORD]: text } } });

    expect(balancing.measureLead(world)).toBe(leadMs);
  },
);

longTest.each([
  { when: "before", isTold: true },
  { when: "after", isTold: false },
])(
  "judges see that what people had on an address goes with it, if they had it $when the last look",
  async ({ when, isTold }) => {
    await using scene = await start();
    const { balancing } = scene;
    const { state } = balancing.cloud;
    const ip = toAddress(balancing);
    const vmId = toRule(balancing).members[0]?.vmId ?? "";
    const theirs = toPortForwarding({ ip, vmId, publicPort: 7_000 });
    const asked = new URLSearchParams({ id: ip.id });
    const put = (): void => {
      state.portForwardings.set(theirs.id, theirs);
      balancing.book.keep("forwarding", theirs.id, balancing.nowMs);
    };
    if (when === "before") put();
    await scene.world.timeline.advance(1);
    balancing.judge.noteAsked("a1", "listPublicIpAddresses", asked);
    await scene.world.timeline.advance(1);
    if (when === "after") put();
    balancing.judge.noteAsked("a1", "disassociateIpAddress", asked);
    free(state, ip);

    expect(balancing.listBroken().join().includes(`${theirs.id} of somebody else is gone`)).toBe(
      isTold,
    );
  },
);
