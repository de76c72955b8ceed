import { expect, test } from "bun:test";
import { renderMetadata, toCollectionType, toType } from "../../../lib/http/redfish/resources.ts";
import { createRig, credentialsOf } from "../../support/redfish/client.ts";

const A = credentialsOf("a");
const PATH = "/redfish/v1/$metadata";

/** Follows all links, and collects the types of what is there. */
async function listTypes(ask: ReturnType<typeof createRig>["ask"]): Promise<Set<string>> {
  const types = new Set<string>();
  const seen = new Set<string>();
  const waiting = ["/redfish/v1/"];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const { status, json } = await ask(path, { as: A });
    expect([path, status]).toEqual([path, 200]);
    types.add(String(json["@odata.type"]));
    const links = JSON.stringify(json).matchAll(/"@odata\.id":"([^"]+)"/g);
    for (const [, link = ""] of links) waiting.push(link);
  }
  return types;
}

function listIncluded(text: string): readonly string[] {
  return [...text.matchAll(/<edmx:Include Namespace="([\w.]+)"/g)].map(([, name = ""]) => name);
}

test("renderMetadata() includes the schema of every resource that there is, and of errors", async () => {
  const { ask } = createRig();
  const types = await listTypes(ask);
  const session = { UserName: A.username, Password: A.password };
  const begun = await ask("/redfish/v1/SessionService/Sessions", { method: "POST", body: session });
  types.add(String(begun.json["@odata.type"]));
  const { json: wrong } = await ask("/redfish/v1/Nothing", { as: A });
  types.add(wrong["error"] && Object(wrong["error"])["@Message.ExtendedInfo"][0]["@odata.type"]);
  expect(types.size).toBeGreaterThan(10);
  const included = new Set(listIncluded(renderMetadata()));
  const missing = [...types].filter((type) => {
    const [, namespace = ""] = /^#(.+)\.\w+$/.exec(type) ?? [];
    return !included.has(namespace);
  });
  expect(missing).toEqual([]);
});

test("renderMetadata() includes each namespace once, and that of the container", () => {
  const text = renderMetadata();
  const included = listIncluded(text);
  expect(new Set(included).size).toBe(included.length);
  const [, container] =
    /<EntityContainer Name="Service" Extends="([^"]+)\.\w+"\/>/.exec(text) ?? [];
  expect(included).toContain(String(container));
  for (const [, file] of text.matchAll(/Uri="([^"]+)"/g)) {
    expect(file).toMatch(/^http:\/\/redfish\.dmtf\.org\/schemas\/v1\/\w+_v1\.xml$/);
  }
});

test("createRedfishService() gives the document to everyone as XML, also as a standby", async () => {
  const { ask, backend } = createRig();
  for (const isLeader of [true, false]) {
    backend.isLeader = isLeader;
    for (const path of [PATH, PATH.replace("$", "%24"), `${PATH}/`]) {
      const { status, headers } = await ask(path, { headers: { accept: "application/xml" } });
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get("content-type")).toBe("application/xml; charset=utf-8");
      expect(headers.get("odata-version")).toBe("4.0");
    }
  }
  expect((await ask(PATH, { method: "POST", as: A, body: {} })).status).toBe(405);
  const { json } = await ask("/redfish/v1/odata");
  expect(json["@odata.context"]).toBe(PATH);
});

test("toType() and toCollectionType() have the form of the standard", () => {
  expect(toType("Manager")).toMatch(/^#Manager\.v1_\d+_\d+\.Manager$/);
  expect(toCollectionType("Manager")).toBe("#ManagerCollection.ManagerCollection");
});
