import { expect, test } from "bun:test";
import { OUT_OF_SERVICE } from "../../../lib/cloud/deletion/out_of_service_settings.ts";

test.each<[object, string[]]>([
  [{}, []],
  [{ graceDuration: "30s", confirmations: 2 }, []],
  [{ graceDuration: "29s" }, ["graceDuration: less than 30s is not safe"]],
  [{ confirmations: 1 }, ["confirmations: fewer than 2 are not safe"]],
])("outOfService warns of what is not safe in %p", (written, warnings) => {
  const { warnings: said } = OUT_OF_SERVICE.parse(written);
  const why = ": a machine that restarts is off for a moment";
  expect(said.map(({ path, message }) => `${path}: ${message}`)).toEqual(
    warnings.map((text) => `outOfService.${text}${why}`),
  );
});
