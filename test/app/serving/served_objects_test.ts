import { expect, test } from "bun:test";
import type { Parts } from "../../../lib/app/parts.ts";
import { describeObjects, findServedObjects } from "../../../lib/app/serving/served_objects.ts";
import type { RunningController } from "../../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { Caches } from "../../../lib/kube/cache/caches.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { ScriptedKubeClient } from "../../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../../support/manual_clock.ts";

function toController(describe?: RunningController["describe"]): RunningController {
  const objects = new Store({ resource: BARE_METAL_HOSTS, log: silentLogger });
  objects.replace([{ metadata: { namespace: "n", name: "a" } }], "1");
  return { run: async () => {}, objects, ...(describe && { describe }) };
}

function toParts(controller: RunningController): Pick<Parts, "caches" | "groups"> {
  const [definition] = CONTROLLERS;
  if (definition === undefined) throw new Error("there is no controller");
  const clock = new ManualClock();
  const caches = new Caches({ client: new ScriptedKubeClient(clock), clock, log: silentLogger });
  return { caches, groups: [{ controllers: [{ definition, controller }] }] };
}

test("describeObjects() starts from what a view has at least", () => {
  const described = describeObjects(
    toController(() => ({ state: "ready" })),
    { state: "working", parts: 0 },
  );
  expect(described?.find("n/a")).toEqual({ namespace: "n", name: "a", state: "ready", parts: 0 });
  expect([...(described?.list() ?? [])]).toHaveLength(1);
});

test("describeObjects() leaves out what the controller does not work on", () => {
  expect([...(describeObjects(toController(), {})?.list() ?? [])]).toEqual([]);
  expect(describeObjects({ run: async () => {} }, {})).toBeUndefined();
});

test("findServedObjects() finds the controller by what it offers", () => {
  const parts = toParts(toController());
  expect(findServedObjects(parts, () => true, {})?.readServing()).toEqual({ missing: [] });
  expect(findServedObjects(parts, ({ listHosts }) => listHosts !== undefined, {})).toBeUndefined();
});
