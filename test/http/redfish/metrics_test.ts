import { expect, test } from "bun:test";
import { createRig, credentialsOf } from "../../support/redfish/client.ts";

const A = credentialsOf("a");
const SYSTEM = "/redfish/v1/Systems/a";
const RESET = `${SYSTEM}/Actions/ComputerSystem.Reset`;

test("createRedfishMetrics() counts requests by method and code, and no probes", async () => {
  const { ask, listMetrics } = createRig();
  await ask("/readyz");
  expect(listMetrics("requests_total")).toEqual([]);
  await ask("/redfish/v1/");
  await ask(SYSTEM, { as: A });
  await ask(SYSTEM);
  await ask("/redfish/v1/Nothing", { as: A });
  await ask(SYSTEM, { as: A, method: "DELETE" });
  expect(listMetrics("requests_total").toSorted()).toEqual([
    'landfall_redfish_requests_total{code="200",method="GET"} 2',
    'landfall_redfish_requests_total{code="401",method="GET"} 1',
    'landfall_redfish_requests_total{code="404",method="GET"} 1',
    'landfall_redfish_requests_total{code="405",method="DELETE"} 1',
  ]);
});

test("createRedfishMetrics() counts wrong logins, and apart from them those that are not looked at", async () => {
  const { ask, listMetrics } = createRig();
  const name = "landfall_redfish_login_failures_total";
  // The first one must be a rise.
  expect(listMetrics(name)).toEqual([`${name}{reason="wrong"} 0`, `${name}{reason="throttled"} 0`]);
  await ask(SYSTEM);
  await ask(SYSTEM, { as: A });
  expect(listMetrics(name)).toContain(`${name}{reason="wrong"} 0`);
  for (let at = 0; at < 103; at += 1) await ask(SYSTEM, { as: { ...A, password: `guess-${at}` } });
  expect(listMetrics(name)).toEqual([
    `${name}{reason="wrong"} 100`,
    `${name}{reason="throttled"} 3`,
  ]);
});

test("createRedfishMetrics() counts resets by type and result", async () => {
  const { ask, backend, listMetrics } = createRig();
  const reset = async (ResetType: string): Promise<void> => {
    await ask(RESET, { as: A, method: "POST", body: { ResetType } });
  };
  await reset("On");
  await reset("ForceOff");
  await reset("ForceOff");
  await reset("Nonsense");
  backend.refusal = { kind: "refused", refusal: "notGraceful", message: "no tools" };
  await reset("GracefulShutdown");
  backend.refusal = { kind: "silent", message: "no answer" };
  await reset("On");
  const name = "landfall_redfish_resets_total";
  expect(listMetrics(name)).toEqual([
    `${name}{result="done",type="On"} 1`,
    `${name}{result="done",type="ForceOff"} 2`,
    `${name}{result="refused",type="GracefulShutdown"} 1`,
    `${name}{result="silent",type="On"} 1`,
  ]);
});
