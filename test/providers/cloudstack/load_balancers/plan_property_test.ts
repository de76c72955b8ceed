import { expect, test } from "bun:test";
import type { LoadBalancerSpec } from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { isInCidr, parseCidr } from "../../../../lib/core/net/ip.ts";
import { plan } from "../../../../lib/providers/cloudstack/load_balancers/plan.ts";
import {
  isTaggedFor,
  isWaiting,
} from "../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { toDesired } from "../../../../lib/providers/cloudstack/load_balancers/desired.ts";
import { Random } from "../../../support/random.ts";
import { type Drawn, drawCloud, drawSpec, editByHand } from "./cloud/chance.ts";
import { CLUSTER, type CloudModel } from "./cloud/cloud_model.ts";
import { converge, LB_NAME, type Outcome, release, UID } from "./cloud/services.ts";
import { tries } from "../../../support/extent.ts";

const SEEDS = tries(80).numRuns;
const CLIENTS = ["10.1.1.1", "10.200.1.1", "192.168.1.1", "203.0.113.9", "8.8.8.8"];

/** Who gets through to which port of the Service, over all its addresses. */
function listOpen(cloud: CloudModel): Set<string> {
  const open = new Set<string>();
  for (const rule of cloud.rules.values()) {
    if (!rule.name.startsWith(LB_NAME)) continue;
    for (const client of CLIENTS) {
      if (cloud.lets(rule, client)) open.add(`${rule.addressId} ${rule.publicPort} ${client}`);
    }
  }
  return open;
}

function mayConnect(sources: readonly string[] | undefined, client: string): boolean {
  return (sources ?? ["0.0.0.0/0"]).some((text) => {
    const cidr = parseCidr(text);
    return cidr !== undefined && isInCidr(client, cidr);
  });
}

function snapshot({ cloud, foreign }: Drawn): unknown {
  const all = [
    ...cloud.rules.values(),
    ...cloud.firewallRules.values(),
    ...[...cloud.aclItems.values()].flat(),
    // Without the network: a rule binds an address of a VPC to its own.
    ...[...cloud.addresses.values()].map(({ id, ip, tags }) => ({ id, ip, tags: [...tags] })),
  ];
  return all.filter(({ id }) => foreign.has(id)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function listOwn(cloud: CloudModel): string[] {
  return [...cloud.addresses.values()]
    .filter(({ tags }) => isTaggedFor(tags, [CLUSTER], UID))
    .map(({ id }) => id);
}

function checkRest(
  { cloud }: Drawn,
  spec: LoadBalancerSpec,
  { ingress, record }: Pick<Outcome, "ingress" | "record">,
): void {
  const kept = record === undefined ? {} : { record };
  const last = plan(cloud.observation(), { ...spec, ingress, ...kept });
  expect(last.steps).toEqual([]);
  if (isWaiting(last.problems)) return;
  const { desired } = toDesired(spec);
  const rules = [...cloud.rules.values()].filter(({ name }) => name.startsWith(LB_NAME));
  expect(new Set(rules.map(({ addressId }) => addressId)).size).toBe(1);
  const at = rules[0]?.addressId ?? "";
  // What was deleted by hand may leave a firewall rule that nobody knows any more: it keeps its address.
  const used = new Set([...cloud.firewallRules.values()].map(({ addressId }) => addressId));
  expect(listOwn(cloud).filter((id) => id !== at && !used.has(id))).toEqual([]);
  expect(rules.map(({ name }) => name).toSorted()).toEqual(
    desired.ports.map(({ name }) => name).toSorted(),
  );
  const backends = spec.backends.map(({ instanceId }) => instanceId ?? "").toSorted();
  for (const rule of rules) {
    expect([...(cloud.members.get(rule.id) ?? [])].toSorted()).toEqual(backends);
    expect(cloud.applied.get(rule.id)?.protocol).toBe(rule.protocol);
    if (last.problems.some(({ message }) => message.includes("denies"))) continue;
    for (const client of CLIENTS) {
      const isIn = cloud.lets(rule, client);
      if (isIn !== mayConnect(desired.sources, client))
        throw new Error(`${rule.name} ${client} ${isIn}`);
    }
  }
}

/** Draws a story of one Service, and checks it after every step. */
function live(seed: number): void {
  const random = new Random(seed);
  const drawn = drawCloud(random);
  const { cloud } = drawn;
  const foreign = snapshot(drawn);
  let { ingress } = drawn;
  let spec = drawSpec(random, ingress);
  for (let round = 0; round < 4; round += 1) {
    const sources = toDesired(spec).desired.sources;
    let before = listOpen(cloud);
    const outcome = converge(cloud, spec, ({ summary }) => {
      const now = listOpen(cloud);
      const wider = [...now].filter(
        (one) => !before.has(one) && !mayConnect(sources, one.split(" ")[2] ?? ""),
      );
      if (wider.length > 0) throw new Error(`${summary} opened ${wider.join(", ")}`);
      before = now;
      expect(snapshot(drawn)).toEqual(foreign);
    });
    ingress = outcome.ingress;
    checkRest(drawn, spec, outcome);
    const { record } = outcome;
    const next = random.chance(0.7) ? drawSpec(random, ingress) : { ...spec, ingress };
    spec = { ...next, ...(record !== undefined && { record }) };
    if (random.chance(0.5)) editByHand(random, drawn);
  }
  release(cloud, { ...spec, ingress }, () => expect(snapshot(drawn)).toEqual(foreign));
  expect([...cloud.rules.values()].filter(({ name }) => name.startsWith(LB_NAME))).toEqual([]);
  expect(
    [...cloud.aclItems.values()].flat().filter(({ reason }) => reason?.endsWith(LB_NAME)),
  ).toEqual([]);
  // What edits by hand left on an address keeps it.
  const used = new Set([...cloud.firewallRules.values()].map(({ addressId }) => addressId));
  expect(listOwn(cloud).filter((id) => !used.has(id))).toEqual([]);
}

test("a plan converges from any state, touches nothing of others, and never lets in more clients", () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    try {
      live(seed);
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
});
