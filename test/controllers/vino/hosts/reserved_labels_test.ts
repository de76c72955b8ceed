import { expect, test } from "bun:test";
import { isReservedForLandfall } from "../../../../lib/controllers/vino/hosts/reserved_labels.ts";

test.each<[string, boolean]>([
  ["vino.airshipit.org/vino", true],
  ["landfall.dev/vino-uid", true],
  ["sip.airshipit.org/cluster", true],
  ["claims.sip.airshipit.org/cluster", true],
  ["vino.airshipit.org/role", false],
  ["vino.airshipit.org/host", false],
  ["example.com/rack", false],
  ["rack", false],
])("isReservedForLandfall() of %s is %p", (key, expected) => {
  expect(isReservedForLandfall(key)).toBe(expected);
});
