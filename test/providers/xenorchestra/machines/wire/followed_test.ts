import { expect, test } from "bun:test";
import { FOLLOWED } from "../../../../../lib/providers/xenorchestra/machines/wire/followed.ts";
import { decode } from "../../../../../lib/cloud_http/decode.ts";

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
