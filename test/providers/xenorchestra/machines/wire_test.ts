import { beforeEach, describe, expect, test } from "bun:test";
import type { CloudError } from "../../../../lib/cloud/errors.ts";
import type { Reply } from "../../../../lib/cloud_http/http.ts";
import {
  ChangeRefusal,
  isAlready,
  toRefusal,
} from "../../../../lib/providers/xenorchestra/machines/wire/refusal.ts";
import type { RawVdi } from "../../../../lib/providers/xenorchestra/machines/wire/objects.ts";
import {
  type Effect,
  OwnChanges,
  toChanged,
  toGone,
  withoutText,
  withText,
} from "../../../../lib/providers/xenorchestra/machines/wire/own_changes.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { FOLLOWED } from "../../../../lib/providers/xenorchestra/machines/wire/followed.ts";
import { decode } from "../../../../lib/cloud_http/decode.ts";

const bodies: Readonly<Record<string, { readonly status: number; readonly body: unknown }>> = {
  halted: {
    status: 500,
    body: {
      error: "VM_BAD_POWER_STATE(OpaqueRef:1, running, halted)",
      info: "This is a XenServer/XCP-ng error",
    },
  },
  blocked: {
    status: 403,
    body: { error: "forbidden operation: Start", data: { operation: "Start", reason: "no" } },
  },
  rights: {
    status: 403,
    body: {
      error: "not enough privileges",
      data: {
        missingPrivileges: [
          { objectId: "p", action: "create:vm", resource: "pool" },
          { action: "create", resource: "vdi" },
          { action: "update:tags", resource: "vm" },
          { action: "update:name_label", resource: "vm" },
        ],
      },
    },
  },
  missing: { status: 404, body: { error: "no such object x", data: { id: "x" } } },
  excess: { status: 422, body: { error: "invalid parameters" } },
  broken: { status: 500, body: { error: "other side closed" } },
};

function read(name: string): CloudError {
  const { status, body } = bodies[name] ?? { status: 0, body: undefined };
  const reply: Reply = { status, contentType: "application/json", json: { value: body } };
  return toRefusal(reply, "start VM x");
}

describe("toRefusal()", () => {
  test.each<[string, object]>([
    [
      "halted",
      {
        kind: "protocol",
        code: "VM_BAD_POWER_STATE",
        params: ["OpaqueRef:1", "running", "halted"],
      },
    ],
    ["blocked", { kind: "denied", isBlocked: true, missing: [] }],
    ["missing", { isMissing: true, status: 404 }],
    ["excess", { status: 422, isMissing: false }],
  ])("reads %s", (name, wanted) => {
    expect(read(name)).toBeInstanceOf(ChangeRefusal);
    expect(read(name)).toMatchObject(wanted);
  });

  test("names each right that is missing once, as the role does", () => {
    const error = read("rights");
    expect(error).toBeInstanceOf(ChangeRefusal);
    expect(error.message).toBe(
      "the user has no right to start VM x: it lacks pool create:vm on p, vdi create, vm update",
    );
  });

  test("does not take a lost connection for a refusal: it may have been carried out", () => {
    expect(read("broken")).not.toBeInstanceOf(ChangeRefusal);
    expect(read("broken").kind).toBe("unreachable");
    const page = toRefusal({ status: 502, contentType: "text/html" }, "start VM x");
    expect(page).not.toBeInstanceOf(ChangeRefusal);
    expect(page.kind).toBe("unreachable");
  });
});

test("isAlready() knows the state that a VM has", () => {
  expect(isAlready(read("halted"), "halted")).toBe(true);
  expect(isAlready(read("halted"), "running")).toBe(false);
  expect(isAlready(read("blocked"), "halted")).toBe(false);
  expect(isAlready(new Error("x"), "halted")).toBe(false);
});

const disk = { id: "d", size: 1, name_label: "seed", $VBDs: [] };
const addLink: Effect<RawVdi> = toChanged((one) => ({ ...one, $VBDs: withText(one.$VBDs, "l") }));

describe("OwnChanges", () => {
  let clock: ManualClock;
  let own: OwnChanges;
  beforeEach(() => {
    clock = new ManualClock();
    own = new OwnChanges(clock);
  });

  test("shows what was made, changed and deleted, in a list and alone", () => {
    own.note("vdis", "d", (one) => one ?? disk);
    own.note("vdis", "old", toGone);
    const old = { ...disk, id: "old" };
    expect(own.addTo("vdis", [old], own.now())).toEqual([disk]);
    expect(own.addToOne("vdis", "old", old, own.now())).toBeUndefined();
    own.note("vdis", "d", addLink);
    expect(own.addToOne("vdis", "d", undefined, own.now())).toEqual({ ...disk, $VBDs: ["l"] });
    expect(own.addTo("vms", [], own.now())).toEqual([]);
  });

  test("trusts reads again as soon as one shows it", () => {
    own.note("vdis", "d", addLink);
    const shown = { ...disk, $VBDs: ["l"] };
    expect(own.addToOne("vdis", "d", shown, own.now())).toEqual(shown);
    expect(own.addToOne("vdis", "d", disk, own.now())).toEqual(disk);
  });

  test("trusts no read that began before the answer", async () => {
    const beganMs = own.now();
    await clock.advance(5);
    own.note("vdis", "d", addLink);
    expect(own.addToOne("vdis", "d", { ...disk, $VBDs: ["l"] }, beganMs)).toBeDefined();
    expect(own.addToOne("vdis", "d", disk, own.now())).toMatchObject({ $VBDs: ["l"] });
  });

  test("trusts reads again after ten seconds", async () => {
    own.note("vdis", "d", addLink);
    await clock.advance(9_999);
    expect(own.addToOne("vdis", "d", disk, own.now())).toMatchObject({ $VBDs: ["l"] });
    await clock.advance(1);
    expect(own.addToOne("vdis", "d", disk, own.now())).toEqual(disk);
  });

  test("makes nothing of a change of what is not there", () => {
    own.note("vdis", "d", addLink);
    expect(own.addToOne("vdis", "d", undefined, own.now())).toBeUndefined();
  });
});

test("withText() and withoutText() change nothing more the second time", () => {
  expect(withText(withText(null, "a"), "a")).toEqual(["a"]);
  expect(withoutText(withoutText(["a", "b"], "a"), "a")).toEqual(["b"]);
  expect(withoutText(undefined, "a")).toEqual([]);
});

const ID = "5be2b0ce-0000-4000-8000-000000000001";
const VM = { id: ID, $pool: ID, name_label: "web" };

test.each<[string, object, boolean]>([
  ["a machine", { name_label: "vino-1b4e28ba-a-0" }, true],
  ["a copy of one", { name_description: "vino uid=u role=a index=0" }, true],
  ["another VM", { name_description: "Debian" }, false],
  ["a VM without a description", {}, false],
])("FOLLOWED keeps %s: %#", (_what, over, isKept) => {
  expect(FOLLOWED.isOurs({ ...VM, ...over })).toBe(isKept);
});

test("FOLLOWED reads what machines need beside what Nodes need", () => {
  const raw = {
    ...VM,
    CPUs: { number: 2, max: 4 },
    tags: ["vino"],
    name_description: "d",
    blockedOperations: { destroy: "x" },
  };
  expect(decode(FOLLOWED.vms.schema, raw)).toEqual({ value: raw });
});

test("FOLLOWED leaves out what cannot be read, because Nodes need the rest", () => {
  const odd = { ...VM, name_description: 7, blockedOperations: "x", creation: [], startTime: "y" };
  expect(decode(FOLLOWED.vms.schema, odd)).toMatchObject({ value: VM });
});
