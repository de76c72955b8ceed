import { expect, test } from "bun:test";
import { toClusterSpec, toVinoSpec } from "../../../../lib/cli/demo/vino/specs.ts";
import { checkSpec } from "../../../../lib/controllers/sipcluster/resource/check_spec.ts";
import { checkVino } from "../../../../lib/controllers/vino/resource/check_spec.ts";

test("toVinoSpec() and toClusterSpec() are specs that controllers take", () => {
  for (const spec of [
    toVinoSpec(3),
    toVinoSpec(0, { controlPlanesPerHost: 0, deletionPolicy: "Retain" }),
  ]) {
    expect(checkVino({ metadata: { name: "a", namespace: "b" }, spec })).toMatchObject({
      isValid: true,
    });
  }
  expect(checkSpec(toClusterSpec(3, 2))).toMatchObject({ isValid: true });
});
