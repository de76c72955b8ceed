import { describe, expect, test } from "bun:test";
import type { CloudError } from "../../../../../lib/cloud/errors.ts";
import type { Reply } from "../../../../../lib/cloud_http/http.ts";
import {
  ChangeRefusal,
  isAlready,
  toRefusal,
} from "../../../../../lib/providers/xenorchestra/machines/wire/refusal.ts";

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
