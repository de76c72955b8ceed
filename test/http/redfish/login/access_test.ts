import { expect, test } from "bun:test";
import {
  createRig,
  credentialsOf,
  SESSIONS,
  signIn,
  SYSTEMS,
  toToken,
} from "../../../support/redfish/client.ts";
import { makeSystem } from "../../../support/redfish/memory_backend.ts";
import { longTest } from "../../../support/long_tests.ts";

const A = credentialsOf("a");
const WRONG = { ...A, password: "guess" };

test("Access shows each user only the machines that have its user and password", async () => {
  const shared = { credentials: A };
  const { ask } = createRig([makeSystem("a"), makeSystem("b"), makeSystem("c", shared)]);
  const { json } = await ask(SYSTEMS, { as: A });
  expect(json["Members"]).toEqual([
    { "@odata.id": "/redfish/v1/Systems/a" },
    { "@odata.id": "/redfish/v1/Systems/c" },
  ]);
  const { json: managers } = await ask("/redfish/v1/Managers", { as: credentialsOf("b") });
  expect(managers["Members"]).toEqual([{ "@odata.id": "/redfish/v1/Managers/b" }]);
});

test("Access ends a session that was not used for half an hour, and only that", async () => {
  const rig = createRig();
  const [used, unused] = [toToken(await signIn(rig)), toToken(await signIn(rig))];
  for (let at = 0; at < 2; at += 1) {
    await rig.clock.advance(20 * 60_000);
    expect((await rig.ask(SYSTEMS, used)).status).toBe(200);
  }
  expect((await rig.ask(SYSTEMS, unused)).status).toBe(401);
});

test("Access ends a session when the password of its machine changes", async () => {
  const rig = createRig();
  const as = toToken(await signIn(rig));
  const credentials = { ...A, password: "new" };
  rig.backend.systems.set("a", makeSystem("a", { credentials }));
  expect((await rig.ask(SYSTEMS, as)).status).toBe(401);
  rig.backend.systems.set("a", makeSystem("a"));
  expect((await rig.ask(SYSTEMS, as)).status).toBe(401);
});

test("Access keeps at most 32 sessions of one user, the newest ones", async () => {
  const rig = createRig();
  const tokens: ReturnType<typeof toToken>[] = [];
  for (let at = 0; at < 33; at += 1) tokens.push(toToken(await signIn(rig)));
  const { json } = await rig.ask(SESSIONS, { as: A });
  expect(json["Members@odata.count"]).toBe(32);
  expect((await rig.ask(SYSTEMS, tokens[0])).status).toBe(401);
  expect((await rig.ask(SYSTEMS, tokens[1])).status).toBe(200);
});

longTest("Access keeps at most 2048 sessions", async () => {
  const systems = Array.from({ length: 80 }, (_one, at) => makeSystem(`s${at}`));
  const rig = createRig(systems);
  const first = toToken(await signIn(rig, credentialsOf("s0")));
  for (let at = 0; at < 2_048; at += 1) {
    await signIn(rig, credentialsOf(`s${1 + (at % 79)}`));
  }
  expect((await rig.ask(SYSTEMS, first)).status).toBe(401);
});

async function guess(rig: ReturnType<typeof createRig>, times: number, ask: object = {}) {
  for (let at = 0; at < times; at += 1) await rig.ask(SYSTEMS, { as: WRONG, ...ask });
}

test("Access refuses one user from one address after a hundred wrong passwords, and no other", async () => {
  const rig = createRig();
  await guess(rig, 99);
  expect((await rig.ask(SYSTEMS, { as: WRONG })).status).toBe(401);
  const told = await rig.ask(SYSTEMS, { as: WRONG });
  expect([told.status, told.headers.get("retry-after")]).toEqual([429, "10"]);
  expect(told.message).toContain("came from your address; wait 10 seconds.");
  const b = credentialsOf("b");
  expect((await rig.ask(SYSTEMS, { as: b })).status).toBe(200);
  expect((await rig.ask(SYSTEMS, { as: A, address: "192.0.2.2" })).status).toBe(200);
  await rig.clock.advance(100);
  expect((await signIn(rig, WRONG)).status).toBe(401);
  expect((await signIn(rig, WRONG)).status).toBe(429);
});

test("Access lets a client in that was right before, whoever guesses behind its address", async () => {
  const rig = createRig();
  expect((await rig.ask(SYSTEMS, { as: A })).status).toBe(200);
  await guess(rig, 500);
  expect((await rig.ask(SYSTEMS, { as: A })).status).toBe(200);
});

test("Access of a process that knows no client yet lets those in that are right", async () => {
  const systems = Array.from({ length: 31 }, (_one, at) =>
    makeSystem(`s${at}`, { credentials: A }),
  );
  const rig = createRig(systems);
  // 30 hosts with a wrong password of the same user ask every 20 s: 1.5 guesses a second.
  for (let at = 0; at < 300; at += 1) {
    await rig.clock.advance(667);
    await guess(rig, 1);
  }
  expect((await rig.ask(SYSTEMS, { as: A })).status).toBe(200);
});

test("Access counts all addresses of a client with IPv6 as one", async () => {
  const rig = createRig();
  for (let at = 0; at < 100; at += 1) await guess(rig, 1, { address: `2001:db8::${at}` });
  expect((await rig.ask(SYSTEMS, { as: WRONG, address: "2001:db8::ffff" })).status).toBe(429);
  expect((await rig.ask(SYSTEMS, { as: WRONG, address: "2001:db8:0:1::" })).status).toBe(401);
});

test("Access lets right clients in while many addresses guess", async () => {
  const rig = createRig();
  for (let at = 0; at < 600; at += 1) await guess(rig, 1, { address: `198.51.100.${at % 200}` });
  expect((await rig.ask(SYSTEMS, { as: A, address: "203.0.113.1" })).status).toBe(200);
});

test.each(["utf8", "latin1"] as const)("Access reads a basic password in %s", async (encoding) => {
  const credentials = { username: "jürgen", password: "paßwort:§" };
  const rig = createRig([makeSystem("a", { credentials })]);
  const basic = Buffer.from("jürgen:paßwort:§", encoding).toString("base64");
  const headers = { authorization: `Basic ${basic}` };
  expect((await rig.ask(SYSTEMS, { headers })).status).toBe(200);
});

test("Access keeps a session that is right for other machines than the one that is asked for", async () => {
  const rig = createRig();
  const as = toToken(await signIn(rig));
  expect((await rig.ask(`${SYSTEMS}/b`, as)).status).toBe(401);
  expect((await rig.ask(`${SYSTEMS}/A`, as)).status).toBe(200);
});

test("Access does not count requests with an old token as guesses", async () => {
  const rig = createRig();
  for (let at = 0; at < 20; at += 1) {
    await rig.ask(SYSTEMS, { headers: { "x-auth-token": "old" } });
  }
  expect((await rig.ask(SYSTEMS, { as: A })).status).toBe(200);
});

test("Access knows nobody while what is behind it is silent, and counts no guess", async () => {
  const rig = createRig();
  const find = rig.backend.findSystems.bind(rig.backend);
  const silent = { kind: "silent", message: "The API server does not answer" } as const;
  rig.backend.findSystems = () => Promise.resolve(silent);
  for (let at = 0; at < 20; at += 1) {
    expect((await rig.ask(SYSTEMS, { as: WRONG })).status).toBe(503);
  }
  rig.backend.findSystems = find;
  expect((await rig.ask(SYSTEMS, { as: A })).status).toBe(200);
});

test("Access lets the right password of a machine in that also asks for machines that are gone", async () => {
  const rig = createRig();
  const gone = async (times: number): Promise<void> => {
    for (let at = 0; at < times; at += 1) await rig.ask(`${SYSTEMS}/gone-${at % 15}`, { as: A });
  };
  await gone(15);
  expect((await rig.ask(`${SYSTEMS}/a`, { as: A })).status).toBe(200);
  await gone(150);
  expect((await rig.ask(`${SYSTEMS}/gone-1`, { as: A })).status).toBe(429);
  expect((await rig.ask(`${SYSTEMS}/a`, { as: A })).status).toBe(200);
});
