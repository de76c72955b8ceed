import { expect, test } from "bun:test";
import { pickFields } from "../../../lib/simulator/xenorchestra/pick.ts";

const RECORD = {
  id: "a",
  CPUs: { max: 4, number: 2 },
  memory: { static: [1, 2], size: 3 },
  tags: [],
};

test.each<[readonly string[], object]>([
  [[], {}],
  [[""], {}],
  [["id", "tags"], { id: "a", tags: [] }],
  [["CPUs.max"], { CPUs: { max: 4 } }],
  [["CPUs.max", "CPUs.number"], { CPUs: { max: 4, number: 2 } }],
  [["memory.static", "id"], { memory: { static: [1, 2] }, id: "a" }],
  [["nothing", "toString"], {}],
])("pickFields() of %j", (fields, wanted) => {
  expect(pickFields(RECORD, fields)).toEqual({ ...wanted });
});
