import { describe, expect, test } from "bun:test";
import { parseConfig } from "../../../lib/providers/static/settings.ts";
import { toInstances } from "../../../lib/providers/static/inventory.ts";

describe("toInstances()", () => {
  const { settings: file } = parseConfig({
    scheme: "pets",
    region: "r",
    zone: "z",
    instances: [
      {
        id: "a",
        name: "rex",
        addresses: [
          { type: "InternalIP", address: "FD00:0:0::1" },
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "InternalIP", address: "fd00::1" },
          { type: "ExternalIP", address: "10.0.0.1" },
        ],
      },
      { id: "b", name: "bella", state: "stopped", zone: "own", region: "other", type: "big" },
      { id: "c", name: "luna", state: "deleted" },
    ],
  });
  const instances = file === undefined ? new Map() : toInstances(file);

  test("gives defaults to those who name none", () => {
    expect(instances.get("a")).toMatchObject({ region: "r", zone: "z", providerId: "pets://a" });
    expect(instances.get("b")).toMatchObject({
      region: "other",
      zone: "own",
      instanceType: "big",
      state: "stopped",
    });
  });

  test("leaves out what is deleted", () => {
    expect([...instances.keys()]).toEqual(["a", "b"]);
  });

  test("writes addresses in canonical form, in the order of the file, each once", () => {
    expect(instances.get("a").addresses).toEqual([
      { type: "InternalIP", address: "fd00::1" },
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "ExternalIP", address: "10.0.0.1" },
    ]);
  });
});
