import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Instance } from "../../../lib/cloud/instance.ts";
import type { Presence } from "../../../lib/cloud/provider.ts";
import { type Labels, planNodeLabels } from "../../../lib/controllers/node_labels/plan.ts";
import { isLabelValue } from "../../../lib/core/text/label.ts";
import { toInstance as toXenInstance } from "../../../lib/providers/xenorchestra/inventory.ts";
import type { InstanceSettings } from "../../../lib/providers/xenorchestra/settings.ts";
import { ORIGIN_LABELS } from "../../../lib/providers/xenorchestra/labels.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { toNode } from "../../support/nodes/nodes.ts";
import { toSettings } from "../../providers/xenorchestra/fake_server.ts";
import { tries } from "../../support/extent.ts";

const TOPOLOGY = [
  "topology.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/region",
  "node.kubernetes.io/instance-type",
  "beta.kubernetes.io/instance-type",
];
const HOST_ID = "topology.k8s.xenorchestra/host_id";
const POOL_ID = "topology.k8s.xenorchestra/pool_id";
const FIRST_HOST = ORIGIN_LABELS[HOST_ID] ?? "";
const FIRST_POOL = ORIGIN_LABELS[POOL_ID] ?? "";
const OURS = [
  ...TOPOLOGY,
  HOST_ID,
  POOL_ID,
  "topology.k8s.xenorchestra/host_name_label",
  "topology.k8s.xenorchestra/pool_name_label",
  "vm.k8s.xenorchestra/name_label",
];

const NOT_LISTED: Presence = { kind: "unknown", reason: "notListed", message: "not listed" };
const HOSTS: Readonly<Record<string, readonly string[]>> = {
  p1: ["h1", "h2"],
  p2: ["h3", "h4"],
};
const ZONE_KINDS: readonly InstanceSettings["zoneLabelFrom"][] = [
  { kind: "host" },
  { kind: "pool" },
  { kind: "hostTag", prefix: "rack=" },
];

/** What happens to a machine, its labels, the cloud or the controller. */
type Step =
  | { readonly do: "halt" | "start" | "pause" | "loseHosts" | "losePool" | "recover" | "restart" }
  | { readonly do: "move"; readonly pool: string; readonly host: number }
  | { readonly do: "edit"; readonly key: string; readonly value: string }
  | { readonly do: "delete"; readonly key: string };

/** A machine of Xen Orchestra, its Node, and a controller that plans and writes after each step. */
class Model {
  labels: Record<string, string>;
  reported: Labels = {};
  power = "Running";
  pool = "p1";
  host = "h1";
  hostsShown = true;
  poolShown = true;
  edits = 0;
  /** Hosts and pools where it really was when somebody looked. */
  readonly stays: Set<string> = new Set(["h1", "p1"]);
  readonly #settings: InstanceSettings;

  constructor(zoneLabelFrom: InstanceSettings["zoneLabelFrom"], labels: Labels) {
    this.#settings = { ...toSettings("http://xo.example"), zoneLabelFrom };
    this.labels = { ...labels };
  }

  step(step: Step): void {
    this.#act(step);
    const presence = this.poolShown ? this.toPresence() : NOT_LISTED;
    const node = toNode("n", {
      providerId: "xenorchestra://p/v",
      uninitialized: false,
      labels: this.labels,
    });
    const plan = planNodeLabels(node, presence, {
      reported: this.reported,
      origins: ORIGIN_LABELS,
    });
    Object.assign(this.labels, plan.set);
    this.reported = plan.reported;
    this.stays.add(this.pool).add(this.host);
  }

  toPresence(): Presence {
    const running = this.power === "Running" || this.power === "Paused";
    const vm = {
      id: "v",
      name_label: "vm",
      power_state: this.power,
      $pool: this.pool,
      // A machine that does not run names its pool.
      $container: running ? this.host : this.pool,
      CPUs: { max: 2 },
    };
    const hosts = this.hostsShown ? Object.values(HOSTS).flat() : [];
    const surroundings = {
      pools: new Map(),
      hosts: new Map(
        hosts.map((id) => [id, { id, name_label: `name-${id}`, tags: [`rack=r${id}`] }]),
      ),
    };
    const instance = toXenInstance(vm, surroundings, this.#settings);
    return { kind: "present", instance, matchedBy: "providerId" };
  }

  #act(step: Step): void {
    switch (step.do) {
      case "halt":
        this.power = "Halted";
        break;
      case "start":
        this.power = "Running";
        break;
      case "pause":
        this.power = "Paused";
        break;
      case "loseHosts":
        this.hostsShown = false;
        break;
      case "losePool":
        this.poolShown = false;
        break;
      case "recover":
        this.hostsShown = true;
        this.poolShown = true;
        break;
      case "restart":
        this.reported = {};
        break;
      case "move":
        this.pool = step.pool;
        this.host = HOSTS[step.pool]?.[step.host] ?? "";
        break;
      case "edit":
        this.labels[step.key] = step.value === "new" ? `hand-${(this.edits += 1)}` : step.value;
        break;
      case "delete":
        delete this.labels[step.key];
    }
  }
}

const key = fc.constantFrom(...OURS);
const stay = fc.record({
  do: fc.constantFrom("halt", "start", "pause", "loseHosts", "losePool", "recover"),
});
const restart = fc.record({ do: fc.constant("restart") });
const remove = fc.record({ do: fc.constant("delete"), key });
/** Values that could be mistaken for the cloud's. */
const cunningEdit = fc.record({
  do: fc.constant("edit"),
  key,
  value: fc.constantFrom("new", "h1", "h2", "h3", "p1", "p2", "unknown"),
});
/** No two hands write the same. */
const newEdit = fc.record({ do: fc.constant("edit"), key, value: fc.constant("new") });
const move = fc.record({
  do: fc.constant("move"),
  pool: fc.constantFrom("p1", "p2"),
  host: fc.constantFrom(0, 1),
});
const zoneKind = fc.constantFrom(...ZONE_KINDS);

function toSteps(...steps: readonly fc.Arbitrary<unknown>[]): fc.Arbitrary<Step[]> {
  return fc.array(fc.oneof(...steps), { maxLength: 25 }) as fc.Arbitrary<Step[]>;
}

/** A machine that a controller knows. */
function toKnown(zone: InstanceSettings["zoneLabelFrom"]): Model {
  const model = new Model(zone, {});
  model.step({ do: "start" });
  return model;
}

describe("planNodeLabels()", () => {
  const text = fc.constantFrom("z", "bad value", "", "h1", "p1");
  const instance = fc.record(
    {
      region: text,
      zone: text,
      instanceType: text,
      labels: fc.dictionary(
        fc.constantFrom(HOST_ID, POOL_ID, "a.b/c", "k8s.io/x", "bad key"),
        text,
      ),
    },
    { requiredKeys: ["labels"] },
  );
  const labels = fc.dictionary(fc.constantFrom(...OURS, "a.b/c", "role", FIRST_HOST), text);
  const isListed = fc.boolean();

  function plan(before: Labels, reported: Labels, over: object, listed: boolean) {
    const shown = toInstance("i", over as Partial<Instance>);
    const presence: Presence = listed
      ? { kind: "present", instance: shown, matchedBy: "name" }
      : NOT_LISTED;
    const options = { providerId: "test://i", uninitialized: false, labels: before };
    return planNodeLabels(toNode("n", options), presence, { reported, origins: ORIGIN_LABELS });
  }

  test("plans nothing more once its plan was applied", () => {
    fc.assert(
      fc.property(labels, labels, instance, isListed, (before, reported, over, listed) => {
        const first = plan(before, reported, over, listed);
        const again = plan({ ...before, ...first.set }, first.reported, over, listed);
        expect([again.set, again.events]).toEqual([{}, []]);
        expect(again.reported).toEqual(first.reported);
      }),
    );
  });

  test("never sets a label that is not ours, nor one that Kubernetes would refuse", () => {
    fc.assert(
      fc.property(labels, labels, instance, isListed, (before, reported, over, listed) => {
        const { set } = plan(before, reported, over, listed);
        const cloud = listed ? Object.keys(over.labels) : [];
        const ours = new Set([...TOPOLOGY, ...cloud, FIRST_HOST, FIRST_POOL]);
        ours.delete("k8s.io/x");
        ours.delete("bad key");
        expect(Object.keys(set).filter((one) => !ours.has(one))).toEqual([]);
        const kept = Object.values(set).filter(
          (value) => value !== "bad value" && !isLabelValue(value),
        );
        expect(kept).toEqual([]);
      }),
    );
  });

  test("writes an Event only beside the labels that it reports", () => {
    fc.assert(
      fc.property(labels, labels, instance, isListed, (before, reported, over, listed) => {
        const { set, events } = plan(before, reported, over, listed);
        const topology = TOPOLOGY.filter((one) => set[one] !== undefined);
        expect(events.length).toBeLessThanOrEqual(topology.length);
      }),
    );
  });
});

describe("planNodeLabels() for Xen Orchestra", () => {
  test("never keeps a first host or pool while the machine stays, whatever users and failures do", () => {
    fc.assert(
      fc.property(zoneKind, toSteps(stay, remove, cunningEdit), (zone, steps) => {
        const model = toKnown(zone);
        for (const step of steps) model.step(step);
        expect(model.labels).not.toContainAnyKeys([FIRST_HOST, FIRST_POOL]);
      }),
      tries(500),
    );
  });

  test("nor does it after a restart of the controller, as long as no two hands write the same", () => {
    fc.assert(
      fc.property(zoneKind, toSteps(stay, remove, newEdit, restart), (zone, steps) => {
        const model = toKnown(zone);
        for (const step of steps) model.step(step);
        expect(model.labels).not.toContainAnyKeys([FIRST_HOST, FIRST_POOL]);
      }),
      tries(500),
    );
  });

  test("keeps the host and the pool before the first move, once and for ever", () => {
    fc.assert(
      fc.property(zoneKind, toSteps(stay, remove, cunningEdit, move, move), (zone, steps) => {
        const model = toKnown(zone);
        const last: Record<string, string> = { [HOST_ID]: "h1", [POOL_ID]: "p1" };
        const first: Record<string, string> = {};
        for (const step of steps) {
          model.step(step);
          const presence = model.poolShown ? model.toPresence() : NOT_LISTED;
          const shown = presence.kind === "present" ? presence.instance.labels : {};
          for (const [watched, origin] of Object.entries(ORIGIN_LABELS)) {
            const now = shown[watched];
            const before = last[watched];
            if (now === undefined || before === undefined) continue;
            if (now !== before) first[origin] ??= before;
            last[watched] = now;
          }
          expect([model.labels[FIRST_HOST], model.labels[FIRST_POOL]]).toEqual([
            first[FIRST_HOST],
            first[FIRST_POOL],
          ]);
        }
      }),
      tries(500),
    );
  });

  test("never takes the pool for a host, nor a place where the machine never was", () => {
    // As the Go controller leaves a halted machine.
    const halted = {
      ...Object.fromEntries(TOPOLOGY.slice(0, 4).map((one) => [one, "p1"])),
      [HOST_ID]: "p1",
      [POOL_ID]: "p1",
      "topology.k8s.xenorchestra/host_name_label": "unknown",
    };
    fc.assert(
      fc.property(zoneKind, toSteps(stay, newEdit, restart, move), (zone, steps) => {
        const model = new Model(zone, halted);
        model.power = "Halted";
        for (const step of steps) {
          model.step(step);
          const { [FIRST_HOST]: host = "h1", [FIRST_POOL]: pool = "p1" } = model.labels;
          expect(["p1", "p2"]).not.toContain(host);
          expect([...model.stays]).toContain(host);
          expect([...model.stays]).toContain(pool);
        }
      }),
      tries(500),
    );
  });
});
