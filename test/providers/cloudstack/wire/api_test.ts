/**
 * What the server says about one ID.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../../lib/providers/cloudstack/session/errors.ts";
import type { ObjectList } from "../../../../lib/providers/cloudstack/session/lists.ts";
import { CloudStackApi, type VmReading } from "../../../../lib/providers/cloudstack/wire/api.ts";
import type { Vm } from "../../../../lib/providers/cloudstack/wire/schema.ts";

const [ID = "", OTHER = ""] = ["a", "b"].map((end) => `0a1b2c3d-0000-4000-8000-00000000000${end}`);
const signal = new AbortController().signal;

/** Reads the VM from a server that answers with this list, or refuses. */
async function read(answer: Partial<ObjectList<Vm>> | Error): Promise<VmReading> {
  const give = (): Promise<never> => {
    const list = { objects: [], undecodable: new Map(), ...answer };
    // The session reads lists of any kind of objects.
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(list as never);
  };
  return await new CloudStackApi({ list: give, relist: give }).readVm(ID, undefined, signal);
}

function toRefusal(text: string): ApiError {
  return new ApiError({ code: 431, text }, { command: "listVirtualMachines", secrets: [] });
}

function toUnknownEntity(id: string): ApiError {
  return toRefusal(
    `Invalid parameter id value=${id} due to incorrect long value format, or entity does not exist`,
  );
}

describe("readVm()", () => {
  test.each<[string, Partial<ObjectList<Vm>> | Error, VmReading]>([
    ["the VM", { objects: [{ id: ID }] }, { kind: "found", vm: { id: ID } }],
    [
      "every VM, because it ignores the ID",
      { objects: [{ id: OTHER }, { id: ID }] },
      { kind: "found", vm: { id: ID } },
    ],
    ["an empty list", {}, { kind: "empty" }],
    ["error 431 about the ID", toUnknownEntity(ID.toUpperCase()), { kind: "neverKnown" }],
    [
      "a VM that cannot be read",
      { undecodable: new Map([[ID, "nic: must be Array"]]) },
      { kind: "undecodable", problem: "nic: must be Array" },
    ],
  ])("of a server that answers with %s", async (_what, answer, expected) => {
    expect(await read(answer)).toEqual(expected);
  });

  test.each<[string, Partial<ObjectList<Vm>> | Error]>([
    ["error 431 about another object", toUnknownEntity(OTHER)],
    ["error 431 about a parameter", toRefusal("Invalid parameter details")],
    ["a list that is not whole", { gap: "a page is missing" }],
  ])("rejects after %s", async (_what, answer) => {
    await expect(read(answer)).rejects.toMatchObject({ kind: "protocol" });
  });
});
