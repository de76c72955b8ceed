import { expect, test } from "bun:test";
import { toActing } from "../../../../lib/cli/check/outlook/acting.ts";
import { DEFAULT_DELETION } from "../../../../lib/cloud/deletion/guard.ts";
import { nodeController } from "../../../../lib/controllers/node/definition.ts";
import { nodeLifecycleController } from "../../../../lib/controllers/node_lifecycle/definition.ts";
import { nodeOutOfServiceController } from "../../../../lib/controllers/node_out_of_service/definition.ts";

const deletion = DEFAULT_DELETION;
const OUT = [nodeLifecycleController, nodeOutOfServiceController];

test.each([
  [
    "neither, where only another controller runs",
    [nodeController],
    { hasLifecycle: false, deletion },
  ],
  ["the lifecycle controller", [nodeLifecycleController], { hasLifecycle: true, deletion }],
  [
    "both",
    OUT,
    { hasLifecycle: true, deletion, outOfService: { confirmations: 2, graceMs: 30_000 } },
  ],
])("toActing() finds %s", (_what, fitting, expected) => {
  const sources = { fitting, sections: undefined, flags: {} };
  expect(toActing(sources)).toEqual(expected);
});

test("toActing() takes the settings of the file, and the longer of both grace periods", () => {
  const slow = { confirmations: 5, graceMs: 60_000 };
  const off = { ...DEFAULT_DELETION, enabled: false };
  const sections = new Map<string, unknown>([
    ["outOfService", slow],
    ["deletion", off],
  ]);
  const find = (ms: number): unknown => {
    const flags = { "node-out-of-service-grace-period": ms };
    return toActing({ fitting: OUT, sections, flags });
  };
  expect(find(90_000)).toMatchObject({ deletion: off, outOfService: { ...slow, graceMs: 90_000 } });
  expect(find(0)).toMatchObject({ outOfService: slow });
});
