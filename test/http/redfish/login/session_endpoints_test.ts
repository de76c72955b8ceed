import { expect, test } from "bun:test";
import {
  createRig,
  credentialsOf,
  SESSIONS,
  signIn,
  SYSTEMS,
  toToken,
} from "../../../support/redfish/client.ts";

const A = credentialsOf("a");

test("listSessionEndpoints() gives a session for a right password, and ends it when it is deleted", async () => {
  const rig = createRig();
  const told = await signIn(rig);
  const path = told.headers.get("location") ?? "";
  expect([told.status, told.json["@odata.id"], told.json["UserName"]]).toEqual([
    201,
    path,
    A.username,
  ]);
  expect(JSON.stringify(told.json)).not.toContain(told.headers.get("x-auth-token") ?? "-");
  const as = toToken(told);
  expect((await rig.ask(SYSTEMS, as)).status).toBe(200);
  expect((await rig.ask(path, as)).json).toMatchObject({ UserName: A.username });
  expect((await rig.ask(path, { as: credentialsOf("b") })).status).toBe(404);
  expect((await rig.ask(path, { as: credentialsOf("b"), method: "DELETE" })).status).toBe(404);
  expect((await rig.ask(path, { ...as, method: "DELETE" })).status).toBe(204);
  expect((await rig.ask(SYSTEMS, as)).status).toBe(401);
});

test.each([
  ["no texts", { UserName: 1, Password: "x" }],
  ["no user", { Password: "x" }],
  ["an empty user", { UserName: "", Password: "x" }],
  ["an endless password", { UserName: "a", Password: "x".repeat(1_025) }],
])("listSessionEndpoints() gives no session for %s", async (_title, body) => {
  const { ask } = createRig();
  expect((await ask(SESSIONS, { method: "POST", body })).status).toBe(400);
});
