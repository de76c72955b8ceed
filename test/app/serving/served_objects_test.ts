import { expect, test } from "bun:test";
import { describeObjects, findServedObjects } from "../../../lib/app/serving/served_objects.ts";
import type { RunningController } from "../../../lib/controllers/definition.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { toServedParts } from "../../support/page/served_parts.ts";

const run = async (): Promise<void> => {};

function list(offers: Partial<RunningController>): object[] | undefined {
  const { controllers } = toServedParts(BARE_METAL_HOSTS, ["n/a"], offers);
  const { controller = { run } } = controllers[0] ?? {};
  const described = describeObjects(controller, { state: "working", parts: 0 });
  return described && [...described.list()];
}

test("describeObjects() starts from what a view has at least", () => {
  expect(list({ describe: () => ({ state: "ready" }) })).toEqual([
    { namespace: "n", name: "a", state: "ready", parts: 0 },
  ]);
});

test("describeObjects() leaves out what the controller does not work on", () => {
  expect(list({})).toEqual([]);
  expect(describeObjects({ run }, {})).toBeUndefined();
});

test("findServedObjects() finds the controller by what it offers", () => {
  const parts = toServedParts(BARE_METAL_HOSTS, ["n/a"]);
  expect(findServedObjects(parts, () => true, {})?.readServing()).toEqual({ missing: [] });
  expect(findServedObjects(parts, ({ listHosts }) => listHosts !== undefined, {})).toBeUndefined();
});
