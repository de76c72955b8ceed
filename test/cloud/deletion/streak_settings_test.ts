import { expect, test } from "bun:test";
import { OUT_OF_SERVICE } from "../../../lib/cloud/deletion/out_of_service_settings.ts";
import { listRiskyStreak } from "../../../lib/cloud/deletion/streak_settings.ts";

const SAFE = {
  least: { confirmations: 3, holdOffMs: 60_000 },
  spanKey: "holdOff",
  why: "it is too soon",
};

test.each<[number, number, string[]]>([
  [3, 60_000, []],
  [2, 60_000, ["confirmations: fewer than 3 are not safe: it is too soon"]],
  [3, 59_999, ["holdOff: less than 60s is not safe: it is too soon"]],
  [
    1,
    0,
    [
      "confirmations: fewer than 3 are not safe: it is too soon",
      "holdOff: less than 60s is not safe: it is too soon",
    ],
  ],
])(
  "listRiskyStreak() warns of %d confirmations over %d ms if they are too few",
  (confirmations, holdOffMs, warnings) => {
    const said = listRiskyStreak({ confirmations, holdOffMs }, SAFE);
    expect(said.map(({ key, message }) => `${key}: ${message}`)).toEqual(warnings);
  },
);

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
