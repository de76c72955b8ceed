/**
 * What the texts and labels of users make Landfall do in one go, with inputs as bad as the limits allow.
 * @module
 */
import { YAML_SYNTAX } from "../../../lib/config/yaml_syntax.ts";
import { parseNetworkData } from "../../../lib/controllers/sipcluster/hosts/network_data.ts";
import type {
  NodeSet,
  SipCluster,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { schedule } from "../../../lib/controllers/sipcluster/schedule/schedule.ts";
import type { HostFacts } from "../../../lib/controllers/sipcluster/schedule/types.ts";
import { planLoadBalancers } from "../../../lib/controllers/sipcluster/services/load_balancer/plan.ts";
import { Random } from "../../support/random.ts";
import { machine } from "../../support/sipcluster/machines.ts";
import { countWork } from "./counter.ts";

/** Something that has a limit. */
interface Budget {
  /** What the worst input may cost, as `countWork()` counts. A million takes about 0.1 s without a compiler. */
  readonly workMax: number;
  /** Draws an input, and returns what is done with it. */
  readonly draw: (random: Random) => () => unknown;
}

/** All, by what has the limit. */
export const BUDGETS: Readonly<Record<string, Budget>> = {
  templates: { workMax: 1_000_000, draw: drawTemplate },
  "network data": { workMax: 1_000_000, draw: drawNetworkData },
  matching: { workMax: 4_000_000, draw: drawHosts },
  "label selectors": { workMax: 1_000_000, draw: drawSelector },
  "YAML of settings": { workMax: 1_000_000, draw: drawSettings },
};

/** A text, with a unit in the middle that is repeated until all of it is as long as it may be. */
function fill(head: string, unit: string, tail: string, length: number): string {
  const times = Math.floor((length - head.length - tail.length) / unit.length);
  return head + unit.repeat(Math.max(0, times)) + tail;
}

const TEMPLATE_UNITS =
  "{{|}}|x|\n|{{/**/}}|{{- /**/ -}} |{{$a:=.}}|{{.Name}}|{{$i}}|x{{$i}}|{{if $}}{{end}}|{{if $i}}{{$e.Name}}{{end}}|" +
  "{{range $.Servers}}{{end}}|{{range $.ContainerPorts}}{{.Name}}{{end}}";
const ACTION_UNITS = ' |.|.a|$|$a|a|,|-|:=|"';
const TEMPLATE_LENGTHS = [1_000, 30_000, 300_000, 1_048_576];

function drawTemplate(random: Random): () => unknown {
  const variables = random.pick([0, 90, 1_000, 10_000]);
  const depth = random.between(0, 8);
  const head =
    Array.from({ length: variables }, (_, at) => `{{$${at.toString(36)}:=.}}`).join("") +
    "{{range $i, $e := $.ContainerPorts}}".repeat(depth);
  const tail = "{{end}}".repeat(depth);
  const length = random.pick(TEMPLATE_LENGTHS);
  const start = random.pick(["", "if ", "range ", "$a := "]);
  const template = random.chance(0.8)
    ? fill(head, random.pick(TEMPLATE_UNITS.split("|")), tail, length)
    : fill(`${head}{{${start}`, random.pick(ACTION_UNITS.split("|")), `}}${tail}`, length);
  const nodePortRange = { start: 30_000, end: 30_255 };
  const services = { loadBalancerWorker: [{ nodeInterfaceId: "oam", nodePortRange }] };
  const cluster: SipCluster = { metadata: { name: "a", namespace: "b" }, spec: { services } };
  const machines = Array.from({ length: random.pick([0, 1, 300]) }, (_, at) =>
    machine(`w-${at}`, `10.0.${at >> 8}.${at & 255}`, { role: "Worker" }),
  );
  const templates = { loadBalancerWorker: { "loadBalancerWorker.cfg": template } };
  return () => [...planLoadBalancers({ cluster, machines, tolerations: [] }, { templates })];
}

const NETWORK_UNITS =
  "{} 0 [] {id:1} {ip_address:'::1/1',id:1} *a {<<:*a} {type:*b} {ip_address:*b,id:*b} {id:*b,type:*b}";
const NETWORK_DATA_LENGTH = 262_144;

function drawNetworkData(random: Random): () => unknown {
  const unit = random.pick([..."d:.10/é", "::1/", "1.1.1.1/", "dhc"]);
  const text = fill("", unit, "", random.pick([1, 1_000, 100_000]));
  const field = random.pick(["type", "ip_address", "id"]);
  const head = `a: &a {id: a, ip_address: "2001:db8::1/64", ${field}: &b "${text}"}\nnetworks: [`;
  const network = random.pick(NETWORK_UNITS.split(" ")).replaceAll(":", ": ");
  const all = fill(head, `${network},`, "0]", NETWORK_DATA_LENGTH);
  return () => parseNetworkData(all);
}

const HOSTS = 2_000;

function drawHosts(random: Random): () => unknown {
  const keys = Array.from({ length: random.between(1, 9) }, (_, at) => `key-${at}`);
  const values = keys.map(() => random.pick([2, 10, 100, 300, 1_000, HOSTS]));
  const missing = random.pick([0, 0, 0.1, 0.5]);
  const shared = random.pick([0, 0.5, 1]);
  const hosts = Array.from({ length: HOSTS }, (_, at): HostFacts => {
    const labels: Record<string, string> = {};
    for (const [index, key] of keys.entries())
      if (!random.chance(missing)) labels[key] = `${random.between(1, values[index] ?? 1)}`;
    const isFirst = random.chance(0.5);
    if (isFirst || random.chance(shared)) labels["one"] = "";
    if (!isFirst || random.chance(shared)) labels["other"] = "";
    return { key: `metal/host-${String(at).padStart(5, "0")}`, labels, isInUse: false };
  });
  const least = Math.min(...values);
  const toSet = (label: string): NodeSet => ({
    topologyKeys: keys.filter(() => random.chance(0.8)),
    labelSelector: { matchLabels: { [label]: "" } },
    count: { active: random.pick([0, 1, least >> 1, least - 1, least, 300, HOSTS]) },
  });
  const nodes = { ControlPlane: toSet("one"), Worker: toSet("other") };
  const scheduling = { spreadAcrossRoles: random.chance(0.5) };
  return () => schedule({ cluster: "tenant/one", nodes, scheduling, hosts });
}

/** As many expressions and values as the schema allows. */
function drawSelector(random: Random): () => unknown {
  const keys = Array.from({ length: 64 }, (_, at) => `key-${at}`);
  const values = Array.from({ length: 256 }, (_, at) => `${at}`);
  const matchExpressions = keys.map((key) => {
    return { key, operator: random.pick(["In", "NotIn"] as const), values };
  });
  const labels = Object.fromEntries(
    matchExpressions.map(({ key, operator }) => [key, operator === "In" ? "255" : "none"]),
  );
  const hosts = Array.from({ length: HOSTS }, (_, at) => {
    return { key: `metal/${at}`, labels, isInUse: false };
  });
  const nodes = { Worker: { labelSelector: { matchExpressions }, count: { active: 1 } } };
  return () => schedule({ cluster: "tenant/one", nodes, scheduling: {}, hosts });
}

const YAML_UNITS =
  "a: 1\n|- a\n|a\n|? |- |a: |[|{a: |\"|'|&a b\n|*a,|# a\n" +
  "|--- \n|%a\n|!!str |\n| |\t|a b|, |a: *a\n|- &a [*a]\n|{<<: *a},";
const SETTINGS_LENGTH = 20_000;

function drawSettings(random: Random): () => unknown {
  const head = random.pick(["", "a: &a {b: 1}\n", "a: ", "[", '"', "x: |\n "]);
  const unit = random.pick(YAML_UNITS.split("|"));
  const text = fill(head, unit, random.pick(["", "]", "\n", "}"]), SETTINGS_LENGTH);
  return async () => {
    const { locate } = await YAML_SYNTAX.parse(text);
    return (await locate())("a.0.b");
  };
}

/** Draws many inputs of each budget, and prints those that are too much work: a list in JSON. */
if (import.meta.main) {
  const draws = Number(process.argv[2]);
  const found: object[] = [];
  for (const [name, { workMax, draw }] of Object.entries(BUDGETS)) {
    for (let seed = 1; seed <= draws; seed += 1) {
      const work = Math.round(await countWork(draw(new Random(seed))));
      if (work > workMax) found.push({ name, seed, work, workMax });
    }
  }
  console.log(JSON.stringify(found));
}
