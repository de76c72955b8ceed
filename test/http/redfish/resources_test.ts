import { expect, test } from "bun:test";
import {
  toCollection,
  toInterface,
  toManager,
  toProcessor,
  toRoot,
  toServiceDocument,
  toSession,
  toSessionService,
  toSystem,
} from "../../../lib/http/redfish/resources.ts";
import { makeSystem } from "../../support/redfish/memory_backend.ts";

test("resources say what type they are, each with a version", () => {
  const system = makeSystem("a");
  const resources = [
    toRoot(),
    toSystem(system, true),
    toProcessor(system),
    toInterface("a", 0, { mac: "52:54:00:00:00:01" }),
    toManager("a", "1.2.3", false),
    toSessionService(1_800),
    toSession("s", "user"),
  ];
  for (const resource of resources) {
    expect(resource).toMatchObject({
      "@odata.type": expect.stringMatching(/^#(\w+)\.v1_\d+_\d+\.\1$/),
      "@odata.id": expect.stringMatching(/^\/redfish\/v1\//),
      Id: expect.any(String),
      Name: expect.any(String),
    });
  }
});

test("toSystem() offers no virtual media without a storage for it, no disks, and no certificate", () => {
  const text = JSON.stringify([
    toSystem(makeSystem("a"), false),
    toManager("a", "1.2.3", false),
    toRoot(),
  ]);
  expect(text).not.toMatch(/VirtualMedia|Storage|Certificate|Chassis/);
});

test("toSystem() leaves the credentials of a machine out", () => {
  const { username, password } = makeSystem("a").credentials;
  const text = JSON.stringify(toSystem(makeSystem("a"), false));
  expect(text).not.toContain(username);
  expect(text).not.toContain(password);
});

test("toInterface() is named by its network, or by its place", () => {
  const mac = "52:54:00:00:00:02";
  expect(toInterface("a", 1, { mac })).toMatchObject({
    MACAddress: mac,
    Id: "1",
    Name: "Interface 1",
  });
  expect(toInterface("a", 1, { mac, network: "oam" })).toMatchObject({ Name: "oam" });
});

test("toCollection() counts its members", () => {
  expect(toCollection("Manager", "/x", ["/x/1"])).toEqual({
    "@odata.type": "#ManagerCollection.ManagerCollection",
    "@odata.id": "/x",
    Name: "Manager Collection",
    "Members@odata.count": 1,
    Members: [{ "@odata.id": "/x/1" }],
  });
});

test("toServiceDocument() names what the root leads to", () => {
  expect(toServiceDocument()).toMatchObject({
    value: [
      { name: "Service" },
      { name: "Systems" },
      { name: "Managers" },
      { name: "SessionService" },
    ],
  });
});
