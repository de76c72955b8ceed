import { expect, test } from "bun:test";
import { type Ask, createRig, credentialsOf } from "../../support/redfish/client.ts";

const A = credentialsOf("a");
const SYSTEM = "/redfish/v1/Systems/a";
const RESET = `${SYSTEM}/Actions/ComputerSystem.Reset`;

test("createRedfishService() tells everyone the version and the root, also as a standby", async () => {
  const { backend, ask } = createRig();
  backend.isLeader = false;
  expect((await ask("/redfish")).json).toEqual({ v1: "/redfish/v1/" });
  for (const path of ["/redfish/v1", "/redfish/v1/"]) {
    const { status, json, headers } = await ask(path);
    expect([status, json["@odata.id"], json["Systems"]]).toEqual([
      200,
      "/redfish/v1/",
      { "@odata.id": "/redfish/v1/Systems" },
    ]);
    expect([headers.get("odata-version"), headers.get("allow")]).toEqual(["4.0", "GET, HEAD"]);
  }
});

test("createRedfishService() answers everything else with 503 and Retry-After as a standby", async () => {
  const { backend, ask } = createRig();
  backend.isLeader = false;
  const posts: [path: string, ask: Ask][] = [
    ["/redfish/v1/Systems", { as: A }],
    [SYSTEM, { as: A }],
    [`${SYSTEM}/Actions/ComputerSystem.Reset`, { as: A, method: "POST", body: {} }],
    ["/redfish/v1/SessionService/Sessions", { method: "POST", body: {} }],
  ];
  for (const [path, asked] of posts) {
    const { status, headers } = await ask(path, asked);
    expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
  }
  expect(backend.asked).toEqual([]);
});

test("createRedfishService() is ready only as the leader", async () => {
  const { backend, ask } = createRig();
  expect((await ask("/readyz")).status).toBe(200);
  backend.isLeader = false;
  expect((await ask("/readyz")).status).toBe(503);
});

test.each<[title: string, path: string, ask: Ask, status: number, id: string]>([
  ["nobody", SYSTEM, {}, 401, "NoValidSession"],
  ["a wrong password", SYSTEM, { as: { ...A, password: "x" } }, 401, "ResourceAtUriUnauthorized"],
  ["a broken header", SYSTEM, { headers: { authorization: "Basic !" } }, 401, "NoValidSession"],
  ["an old token", SYSTEM, { headers: { "x-auth-token": "x" } }, 401, "NoValidSession"],
  ["the machine of another", "/redfish/v1/Systems/b", { as: A }, 401, "ResourceAtUriUnauthorized"],
  ["no machine at all", "/redfish/v1/Systems/c", { as: A }, 401, "ResourceAtUriUnauthorized"],
  ["virtual media", "/redfish/v1/Managers/a/VirtualMedia", { as: A }, 404, "ResourceMissingAtURI"],
  ["a path that is none", "/nothing", {}, 404, "ResourceMissingAtURI"],
  ["$expand", "/redfish/v1/Systems?$expand=.", { as: A }, 501, "QueryNotSupported"],
  ["$select", `${SYSTEM}?$select=Boot`, { as: A }, 501, "QueryNotSupported"],
  [
    "another OData",
    SYSTEM,
    { as: A, headers: { "odata-version": "3.0" } },
    412,
    "PreconditionFailed",
  ],
  ["a method without a meaning", SYSTEM, { as: A, method: "DELETE" }, 405, "OperationNotAllowed"],
  ["PUT", SYSTEM, { as: A, method: "PUT", body: {} }, 405, "OperationNotAllowed"],
  [
    "a form",
    SYSTEM,
    patch("a=b", { "content-type": "text/plain" }),
    415,
    "UnrecognizedRequestBody",
  ],
  ["no JSON", SYSTEM, patch("{"), 400, "MalformedJSON"],
  ["a list", SYSTEM, patch([]), 400, "MalformedJSON"],
  ["nothing to change", SYSTEM, patch({}), 400, "PropertyMissing"],
  ["a new name", SYSTEM, patch({ HostName: "x" }), 400, "PropertyUnknown"],
  ["an order", SYSTEM, patch({ Boot: { BootOrder: [] } }), 400, "PropertyUnknown"],
  ["a floppy", SYSTEM, patch(boot({ Target: "Floppy" })), 400, "PropertyValueNotInList"],
  ["twice", SYSTEM, patch(boot({ Enabled: "Twice" })), 400, "PropertyValueNotInList"],
  ["a mode", SYSTEM, patch(boot({ Mode: "toString" })), 400, "PropertyValueNotInList"],
  ["an ETag", SYSTEM, patch(boot({}), { "if-match": '"1"' }), 412, "PreconditionFailed"],
  ["no reset", RESET, post({}), 400, "ActionParameterMissing"],
  ["Nmi", RESET, post({ ResetType: "Nmi" }), 400, "ActionParameterValueNotInList"],
  [
    "a second parameter",
    RESET,
    post({ ResetType: "On", Slowly: 1 }),
    400,
    "ActionParameterUnknown",
  ],
])("createRedfishService() refuses %s", async (_title, path, asked, status, id) => {
  const { backend, ask } = createRig();
  const told = await ask(path, asked);
  expect(told.status).toBe(status);
  expect(told.json).toMatchObject({
    error: { "@Message.ExtendedInfo": [{ MessageId: `Base.1.18.${id}` }] },
  });
  expect(backend.asked).toEqual([]);
});

function patch(body: unknown, headers: Readonly<Record<string, string>> = {}): Ask {
  return { as: A, method: "PATCH", body, headers };
}
function post(body: unknown): Ask {
  return { as: A, method: "POST", body };
}
function boot(fields: Readonly<Record<string, string>>): object {
  const named = Object.entries(fields).map(([name, value]) => [`BootSourceOverride${name}`, value]);
  return { Boot: Object.fromEntries(named) };
}

test("createRedfishService() leads from the root to every resource, each at its own path", async () => {
  const { ask } = createRig();
  const left = ["/redfish/v1/"];
  const seen = new Set<string>();
  for (const path of left) {
    if (seen.has(path)) continue;
    seen.add(path);
    const { status, json, headers } = await ask(path, { as: A });
    expect([path, status, json["@odata.id"]]).toEqual([path, 200, path]);
    const [, schema] = /^#(.*)\.\w+$/.exec(String(json["@odata.type"])) ?? [];
    expect(headers.get("link")).toEndWith(`/${schema}.json>; rel=describedby`);
    const links = JSON.stringify(json).matchAll(/"@odata.id":"([^"]+)"/g);
    left.push(...Array.from(links, ([, link = ""]) => link));
  }
  expect([...seen].toSorted()).toEqual([
    "/redfish/v1/",
    "/redfish/v1/AccountService",
    "/redfish/v1/AccountService/Roles",
    "/redfish/v1/AccountService/Roles/Administrator",
    "/redfish/v1/AccountService/Roles/Operator",
    "/redfish/v1/AccountService/Roles/ReadOnly",
    "/redfish/v1/Managers",
    "/redfish/v1/Managers/a",
    "/redfish/v1/SessionService",
    "/redfish/v1/SessionService/Sessions",
    "/redfish/v1/Systems",
    "/redfish/v1/Systems/a",
    "/redfish/v1/Systems/a/EthernetInterfaces",
    "/redfish/v1/Systems/a/EthernetInterfaces/0",
    "/redfish/v1/Systems/a/EthernetInterfaces/1",
    "/redfish/v1/Systems/a/Processors",
    "/redfish/v1/Systems/a/Processors/CPU",
  ]);
});

test("createRedfishService() never shows a password", async () => {
  const { ask } = createRig();
  const asked = [
    await ask(SYSTEM, { as: { ...A, password: "guess" } }),
    await ask(SYSTEM, { as: A }),
  ];
  const text = JSON.stringify(asked.map(({ json }) => json));
  expect(text).not.toContain(A.password);
  expect(text).not.toContain("guess");
});
