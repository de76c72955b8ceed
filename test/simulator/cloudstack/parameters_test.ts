import { expect, test } from "bun:test";
import { Parameters, readParameters } from "../../../lib/simulator/cloudstack/parameters.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const URL_OF_API = "http://memory/client/api";

test("readParameters() reads the query of a GET, and the form of a POST", async () => {
  const get = await readParameters(new Request(`${URL_OF_API}?command=listZones&Name=a+b%2B`));
  expect([get.command, get.get("name"), get.raw.get("Name")]).toEqual([
    "listZones",
    "a b+",
    "a b+",
  ]);
  const body = "command=startVirtualMachine&id=%C3%BC";
  const post = await readParameters(
    new Request(URL_OF_API, { method: "POST", headers: FORM, body }),
  );
  expect([post.command, post.get("id")]).toEqual(["startVirtualMachine", "ü"]);
});

test("readParameters() takes the first of two values", async () => {
  const twice = await readParameters(new Request(`${URL_OF_API}?name=a&name=b`));
  expect(twice.raw.get("name")).toBe("a");
});

test("Parameters: an empty value counts as absent", () => {
  const parameters = new Parameters(new Map([["id", ""]]));
  expect([parameters.get("id"), parameters.command]).toEqual([undefined, ""]);
  expect(parameters.raw.has("id")).toBe(true);
});

test("Parameters.isTrue() and list()", () => {
  const parameters = new Parameters(
    new Map([
      ["listAll", "TRUE"],
      ["details", "min, nics,,servoff"],
    ]),
  );
  expect([parameters.isTrue("listall"), parameters.isTrue("expunge")]).toEqual([true, false]);
  expect([parameters.list("details"), parameters.list("ids")]).toEqual([
    ["min", "nics", "servoff"],
    [],
  ]);
});

test("Parameters.entries() puts together what has the same index, in any order and case", () => {
  const parameters = new Parameters(
    new Map([
      ["tags[0].key", "a"],
      ["tags[10].Value", "d"],
      ["Tags[0].value", "b, c"],
      ["tags[10].key", "c"],
      ["tags[2].key", ""],
      ["param[0].name", "x"],
      ["tags", "y"],
    ]),
  );
  expect(parameters.entries("tags")).toEqual([
    { key: "a", value: "b, c" },
    { key: "c", value: "d" },
    { key: "" },
  ]);
  expect(parameters.entries("nothing")).toEqual([]);
});

test.each([
  ["a\tb", "name"],
  ["a\u007F", "name"],
  ["a\nb ü", undefined],
])("Parameters.findUnprintable() of %j: %p", (value, found) => {
  expect(new Parameters(new Map([["name", value]])).findUnprintable()).toBe(found);
});
