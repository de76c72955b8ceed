import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { DELETION } from "../../lib/cloud/settings/sections.ts";
import {
  listFurtherRights,
  listRights,
  needAll,
  type Needs,
  toPolicy,
} from "../../lib/app/rights.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { CONTROLLER_NAMES } from "../../lib/cli/flags/controllers.ts";
import { TWIN_LEASE, TWIN_NAME, twinController } from "../support/galleries/definition.ts";
import { NODE_CONTROLLERS } from "../support/nodes/node_controllers.ts";

const LEASE = { namespace: "kube-system", name: "lease" } as const;
const ALL = needAll(LEASE, NODE_CONTROLLERS);

function listVerbs(needs: Needs): string[] {
  return listRights(needs).map(({ access: { verb, resource, subresource } }) =>
    subresource === undefined ? `${verb} ${resource}` : `${verb} ${resource}/${subresource}`,
  );
}

describe("needAll()", () => {
  test("names every controller that is on by default, and of those for some clouds those of the cloud", () => {
    const available = CONTROLLER_NAMES.filter((one) => one.isAvailable && !one.isOffByDefault);
    const names = available.map(({ name }) => name).toSorted();
    const forEvery = names.filter((name) => name !== "service");
    expect([...needAll(LEASE).controllers].toSorted()).toEqual(forEvery);
    const install = { controllers: ["service"] };
    expect([...needAll(LEASE, CONTROLLERS, install).controllers].toSorted()).toEqual(names);
  });
});

describe("listRights()", () => {
  test("names each right once", () => {
    const accesses = listRights(ALL).map(({ access }) => JSON.stringify(access));
    expect(new Set(accesses).size).toBe(accesses.length);
  });

  test("tells all purposes and controllers of a right that several need", () => {
    const patch = listRights(ALL).find(
      ({ access }) => access.verb === "patch" && access.resource === "nodes",
    );
    expect(patch).toMatchObject({
      purpose: "to initialise Nodes, to correct labels, to set the shutdown taint",
      controllers: ["cloud-node", "cloud-node-label-sync", "cloud-node-lifecycle"],
      mandatory: true,
    });
  });

  test("takes a right for mandatory if one of its controllers cannot do without it", () => {
    const [sample] = CONTROLLERS;
    if (sample === undefined) throw new Error("there is no controller");
    const access = { group: "", resource: "things", verb: "get" } as const;
    const toOne = (name: string, mandatory: boolean) => ({
      ...sample,
      name,
      listRights: () => [{ access, purpose: "to look", mandatory }],
    });
    const registry = [toOne("a", true), toOne("b", false)];
    const controllers = new Set(["a", "b"]);
    const found = listRights({ registry, controllers, hasSecurePort: false }).find(
      (one) => one.access.resource === "things",
    );
    expect(found).toMatchObject({ purpose: "to look", mandatory: true, controllers: ["a", "b"] });
  });

  const base = ["list nodes", "watch nodes"];
  const events = ["create events", "patch events"];
  const leases = ["get leases", "create leases", "update leases"];
  const reviews = ["create tokenreviews", "create subjectaccessreviews"];
  const only = (name: string): Needs => ({ ...ALL, controllers: new Set([name]) });
  const { lease: _lease, ...unelected } = ALL;
  test.each<[string, Needs, readonly string[]]>([
    [
      "cloud-node",
      only("cloud-node"),
      ["patch nodes", "patch nodes/status", "list services", "watch services"],
    ],
    ["cloud-node-label-sync", only("cloud-node-label-sync"), ["patch nodes"]],
    [
      "cloud-node-lifecycle",
      only("cloud-node-lifecycle"),
      ["patch nodes", "get nodes", "delete nodes"],
    ],
    [
      "cloud-node-lifecycle that deletes nothing",
      {
        ...only("cloud-node-lifecycle"),
        sections: new Map([[DELETION.key, { ...DEFAULT_DELETION, enabled: false }]]),
      },
      ["patch nodes"],
    ],
  ])("gives %s what it needs and nothing more", (_name, needs, wanted) => {
    expect(listVerbs(needs)).toEqual([...base, ...wanted, ...events, ...leases, ...reviews]);
  });

  const registry = [...NODE_CONTROLLERS, twinController];
  const listLeaseRights = (controllers: readonly string[]): unknown[] =>
    listRights({ ...ALL, registry, controllers: new Set(controllers) })
      .filter(({ access }) => access.resource === "leases")
      .map(({ access: { verb, namespace, name }, controllers: needing }) =>
        [verb, namespace, name, needing].filter((one) => one !== undefined),
      );
  const ofMain = (verb: string): unknown[] => [verb, "kube-system", "lease"];
  const ofTwin = (verb: string): unknown[] => [verb, "kube-system", TWIN_LEASE, [TWIN_NAME]];
  test.each([
    [["cloud-node"], [ofMain("get"), ["create", "kube-system"], ofMain("update")]],
    [[TWIN_NAME], [ofTwin("get"), ["create", "kube-system", [TWIN_NAME]], ofTwin("update")]],
    [
      ["cloud-node", TWIN_NAME],
      [ofMain("get"), ["create", "kube-system"], ofMain("update"), ofTwin("get"), ofTwin("update")],
    ],
  ])("gives %j the rights on the Leases that they wait for", (controllers, expected) => {
    expect(listLeaseRights(controllers)).toEqual(expected);
  });

  test("leaves out leases without leader election and reviews without a secure port", () => {
    expect(listVerbs(unelected).filter((right) => leases.includes(right))).toEqual([]);
    const closed = listVerbs({ ...ALL, hasSecurePort: false });
    expect(closed.filter((right) => reviews.includes(right))).toEqual([]);
    expect(closed).toEqual(expect.arrayContaining(leases));
  });
});

describe("listFurtherRights()", () => {
  const some = { ...ALL, controllers: new Set(["cloud-node"]) };

  test("gives what one more controller needs that is not needed yet", () => {
    const further = listFurtherRights(some, "cloud-node-lifecycle");
    expect(further.map(({ access: { verb } }) => verb)).toEqual(["get", "delete"]);
    expect(further.every(({ controllers }) => controllers?.[0] === "cloud-node-lifecycle")).toBe(
      true,
    );
  });

  test("gives nothing for one that needs what is needed already", () => {
    expect(listFurtherRights(some, "cloud-node-label-sync")).toEqual([]);
    expect(listFurtherRights(ALL, "cloud-node")).toEqual([]);
  });
});

describe("toPolicy()", () => {
  const { clusterRules, rules } = toPolicy(listRights(ALL));

  test("puts what has no namespace into one ClusterRole, a rule for each resource", () => {
    expect(clusterRules).toEqual([
      {
        apiGroups: [""],
        resources: ["nodes"],
        verbs: ["list", "watch", "patch", "get", "delete"],
      },
      { apiGroups: [""], resources: ["nodes/status"], verbs: ["patch"] },
      { apiGroups: [""], resources: ["services"], verbs: ["list", "watch"] },
      { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
      { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
      {
        apiGroups: ["authorization.k8s.io"],
        resources: ["subjectaccessreviews"],
        verbs: ["create"],
      },
    ]);
  });

  test("puts leases into a Role of their namespace, by name but for create", () => {
    const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
    expect([...rules]).toEqual([
      [
        "kube-system",
        [
          { ...leases, resourceNames: ["lease"], verbs: ["get", "update"] },
          { ...leases, verbs: ["create"] },
        ],
      ],
    ]);
  });

  test("grants no wildcard, no secret and nothing of service accounts", () => {
    const policy = toPolicy(listRights(needAll(LEASE)));
    const all = [...policy.clusterRules, ...[...policy.rules.values()].flat()];
    const words = all.flatMap((rule) => [...rule.apiGroups, ...rule.resources, ...rule.verbs]);
    expect(words.filter((word) => /\*|secret|serviceaccount/.test(word))).toEqual([]);
  });
});
