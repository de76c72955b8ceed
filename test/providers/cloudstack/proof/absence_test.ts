import { describe, expect, test } from "bun:test";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import type { Inventory } from "../../../../lib/cloud/inventory/inventory.ts";
import type { Instance } from "../../../../lib/cloud/instance.ts";
import type { Presence } from "../../../../lib/cloud/provider.ts";
import {
  proveAbsence,
  proveNeverKnown,
  toGone,
} from "../../../../lib/providers/cloudstack/proof/absence.ts";
import type { VmReading } from "../../../../lib/providers/cloudstack/wire/api.ts";
import { toInstance } from "../../../support/cloud/instances.ts";

const [GONE = "", OTHER = "", STRANGE = ""] = ["a", "b", "c"].map(
  (end) => `0a1b2c3d-0000-4000-8000-00000000000${end}`,
);
const OWNER = "account ops of domain d";
const EMPTY: VmReading = { kind: "empty" };
const signal = new AbortController().signal;

function toInventory(
  owners: Readonly<Record<string, string>>,
  over: Partial<Inventory> = {},
): Inventory {
  const entries = Object.entries(owners).map(([id, owner]): [string, Instance] => [
    id,
    Object.assign({ owner }, toInstance(id)),
  ]);
  return {
    observedAtMs: 0,
    instances: new Map(entries),
    coverage: new Map([["zone", { complete: true }]]),
    undecodable: new Map(),
    ...over,
  };
}

interface Scene {
  readonly owner?: string | undefined;
  readonly anywhere?: VmReading;
  readonly list?: Inventory;
  readonly nodes?: readonly string[];
  readonly trusts?: boolean;
}

/** What the proof says of a VM whose ID was answered with an empty list. */
async function prove(scene: Scene): Promise<Presence> {
  const { anywhere = EMPTY, list = toInventory({ [OTHER]: OWNER }) } = scene;
  const api = {
    readVmAnywhere: () => Promise.resolve(anywhere),
    list: () => Promise.resolve(list),
  };
  const question = {
    vmId: GONE,
    owner: "owner" in scene ? scene.owner : OWNER,
    nodeVmIds: new Set(scene.nodes ?? [GONE, OTHER]),
    trustsEmptyAnswer: scene.trusts ?? true,
  };
  return await proveAbsence(api, question, signal);
}

describe("proveAbsence()", () => {
  test("proves it when a new list shows another Node's VM of the same owner, and names it", async () => {
    const proof = await prove({});
    expect(proof).toMatchObject({ kind: "absent" });
    expect(JSON.stringify(proof)).toContain(OTHER);
  });

  test("proves it when the VM shows up in another project as expunging", async () => {
    const anywhere: VmReading = { kind: "found", vm: { id: GONE, state: "Expunging" } };
    expect(await prove({ anywhere })).toMatchObject({ kind: "absent" });
  });

  test.each<[string, Scene]>([
    ["the setting does not trust an empty answer", { trusts: false }],
    ["it is not known whose it was", { owner: undefined }],
    [
      "the server never says whose any VM is",
      {
        owner: undefined,
        list: toInventory({}, { instances: new Map([[OTHER, toInstance(OTHER)]]) }),
      },
    ],
    ["it is in a project", { anywhere: { kind: "found", vm: { id: GONE, projectid: "p" } } }],
    ["it is in no project", { anywhere: { kind: "found", vm: { id: GONE, state: "Destroyed" } } }],
    ["it cannot be read", { anywhere: { kind: "undecodable", problem: "x" } }],
    ["the list shows it again", { list: toInventory({ [OTHER]: OWNER, [GONE]: OWNER }) }],
    ["the list is empty", { list: toInventory({}) }],
    ["the list shows no VM of a Node", { list: toInventory({ [STRANGE]: OWNER }) }],
    ["the list shows only VMs of other owners", { list: toInventory({ [OTHER]: "project p" }) }],
    ["it is the only Node", { nodes: [GONE] }],
    [
      "a part of the list is missing",
      {
        list: toInventory({ [OTHER]: OWNER }, { coverage: new Map([["z", { complete: false }]]) }),
      },
    ],
    [
      "the list shows it in a form that cannot be read",
      { list: toInventory({ [OTHER]: OWNER }, { undecodable: new Map([[GONE, "x"]]) }) },
    ],
    [
      "the list holds a VM without a readable ID",
      { list: toInventory({ [OTHER]: OWNER }, { undecodable: new Map([["#3", "x"]]) }) },
    ],
  ])("proves nothing when %s", async (_why, scene) => {
    const proof = await prove(scene);
    expect(proof).toMatchObject({ kind: "unknown" });
    expect(JSON.stringify(proof)).toContain(GONE);
  });

  test("rejects when a question is not answered", async () => {
    const refuse = () => Promise.reject(new CloudError("unreachable", "no answer"));
    const question = {
      vmId: GONE,
      owner: OWNER,
      nodeVmIds: new Set([GONE, OTHER]),
      trustsEmptyAnswer: true,
    };
    const found = () => Promise.resolve(EMPTY);
    const api = [
      { readVmAnywhere: refuse, list: refuse },
      { readVmAnywhere: found, list: refuse },
    ];
    for (const one of api) {
      expect(
        await proveAbsence(one, question, signal).catch((error: unknown) => error),
      ).toBeInstanceOf(CloudError);
    }
  });
});

describe("proveNeverKnown()", () => {
  const question = {
    vmId: GONE,
    owner: OWNER,
    wasRemoved: true,
    nodeVmIds: new Set([GONE, OTHER]),
  };
  const prove431 = (list: Inventory, over: object = {}): Promise<Presence> =>
    proveNeverKnown({ list: () => Promise.resolve(list) }, { ...question, ...over }, signal);

  test("proves it while a new list shows another Node's VM, whosever it is", async () => {
    expect(await prove431(toInventory({ [OTHER]: "project p" }))).toMatchObject({ kind: "absent" });
  });

  test.each<[string, Inventory, object]>([
    ["no Node's VM is shown: it may be another CloudStack", toInventory({ [STRANGE]: OWNER }), {}],
    ["it is the only Node", toInventory({ [STRANGE]: OWNER }), { nodeVmIds: new Set([GONE]) }],
    ["this process never saw it", toInventory({ [OTHER]: OWNER }), { owner: undefined }],
    ["the list shows it again", toInventory({ [OTHER]: OWNER, [GONE]: OWNER }), {}],
    [
      "the server did not know its ID after it showed it: its database may be an old one",
      toInventory({ [OTHER]: OWNER }),
      { wasRemoved: false },
    ],
  ])("proves nothing when %s", async (_why, list, over) => {
    expect(await prove431(list, over)).toMatchObject({ kind: "unknown" });
  });
});

test("toGone() tells the state that proves it", () => {
  expect(toGone(GONE, "Expunging")).toEqual({
    kind: "absent",
    evidence: `CloudStack shows VM ${GONE} as Expunging`,
  });
});
