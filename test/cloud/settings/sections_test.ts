/**
 * The section `deletion`.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION, type DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import { DELETION, OUT_OF_SERVICE } from "../../../lib/cloud/settings/sections.ts";

const COUNT = "must be a whole number from 1 to 100, without quotes";
const SHARE = "must be a number from 0 to 1, without quotes, for example 0.34 for a third";
const HOLD_OFF = 'must be a duration from 0s to 24h, for example "90s"';
const WINDOW = 'must be a duration from 1m to 24h, for example "90s"';
const BLINK = "a short loss of the cloud's connection can look like deleted machines for a minute";

function toLines(
  issues: readonly { readonly path?: string; readonly message: string }[],
): string[] {
  return issues.map(({ path, message }) => `${path}: ${message}`);
}

describe("DELETION", () => {
  const empty = [{}, null, "", { enabled: null, confirmations: "", fleetWindow: null }];
  test.each([undefined, ...empty])("DELETION takes %j for not set", (written) => {
    expect(DELETION.parse(written)).toEqual({
      settings: DEFAULT_DELETION,
      issues: [],
      warnings: [],
    });
  });

  const good: readonly [Record<string, unknown>, Partial<DeletionSettings>][] = [
    [{ enabled: true }, {}],
    [{ confirmations: 100 }, { confirmations: 100 }],
    [{ holdOff: "24h" }, { holdOffMs: 86_400_000 }],
    [{ holdOff: "1m30s" }, { holdOffMs: 90_000 }],
    [{ fleetShare: 0 }, { fleetShare: 0 }],
    [{ fleetShare: 0.5 }, { fleetShare: 0.5 }],
    [{ fleetWindow: "1m" }, { fleetWindowMs: 60_000 }],
    [{ fleetWindow: "24h" }, { fleetWindowMs: 86_400_000 }],
    [{ whileOtherPoolsAreLost: false }, {}],
    [{ whileOtherPoolsAreLost: true }, { whileOtherPartsAreLost: true }],
    [
      { enabled: false, confirmations: 1, holdOff: "0s", fleetShare: 1 },
      { enabled: false, confirmations: 1, holdOffMs: 0, fleetShare: 1 },
    ],
  ];
  test.each(good)("DELETION reads %j without a word", (written, changed) => {
    const { settings, issues, warnings } = DELETION.parse(written);
    expect(settings).toEqual({ ...DEFAULT_DELETION, ...changed });
    expect([...issues, ...warnings]).toEqual([]);
  });

  const bad: readonly [unknown, readonly string[]][] = [
    [false, ["deletion: must be a block of settings (key: value), but is false"]],
    [0, ["deletion: must be a block of settings (key: value), but is 0"]],
    [[], ["deletion: must be a block of settings (key: value), but is a list"]],
    [{ enabled: "no" }, ['deletion.enabled: must be true or false, but is "no"']],
    [{ enabled: 0 }, ["deletion.enabled: must be true or false, but is 0"]],
    [
      { whileOtherPoolsAreLost: "yes" },
      ['deletion.whileOtherPoolsAreLost: must be true or false, but is "yes"'],
    ],
    [{ confirmations: 0 }, [`deletion.confirmations: ${COUNT}, but is 0`]],
    [{ confirmations: 101 }, [`deletion.confirmations: ${COUNT}, but is 101`]],
    [{ confirmations: 2.5 }, [`deletion.confirmations: ${COUNT}, but is 2.5`]],
    [{ confirmations: "3" }, [`deletion.confirmations: ${COUNT}, but is "3"`]],
    [{ holdOff: -1 }, [`deletion.holdOff: ${HOLD_OFF}, but is -1`]],
    [{ holdOff: 60 }, [`deletion.holdOff: ${HOLD_OFF}, but is 60`]],
    [{ holdOff: "60" }, [`deletion.holdOff: ${HOLD_OFF}, but is "60"`]],
    [{ holdOff: "-1s" }, [`deletion.holdOff: ${HOLD_OFF}, but is "-1s"`]],
    [{ holdOff: "24h1s" }, [`deletion.holdOff: ${HOLD_OFF}, but is "24h1s"`]],
    [{ fleetShare: -0.01 }, [`deletion.fleetShare: ${SHARE}, but is -0.01`]],
    [{ fleetShare: 1.01 }, [`deletion.fleetShare: ${SHARE}, but is 1.01`]],
    [{ fleetShare: 34 }, [`deletion.fleetShare: ${SHARE}, but is 34`]],
    [{ fleetShare: "34%" }, [`deletion.fleetShare: ${SHARE}`]],
    [{ fleetShare: Number.NaN }, [`deletion.fleetShare: ${SHARE}, but is a number`]],
    [{ fleetWindow: "59s" }, [`deletion.fleetWindow: ${WINDOW}, but is "59s"`]],
    [{ fleetWindow: "25h" }, [`deletion.fleetWindow: ${WINDOW}, but is "25h"`]],
    [
      { enabled: 7, confirmations: [], holdOff: {}, fleetShare: true, fleetWindow: 1 },
      [
        "deletion.enabled: must be true or false, but is 7",
        `deletion.confirmations: ${COUNT}, but is a list`,
        `deletion.holdOff: ${HOLD_OFF}, but is a block (key: value)`,
        `deletion.fleetShare: ${SHARE}, but is true`,
        `deletion.fleetWindow: ${WINDOW}, but is 1`,
      ],
    ],
  ];
  test.each(bad)("P-05 DELETION refuses %j and says the range", (written, issues) => {
    expect(toLines(DELETION.parse(written).issues)).toEqual([...issues]);
  });

  const odd: readonly [Record<string, unknown>, readonly string[]][] = [
    [{ confirmations: 2 }, [`deletion.confirmations: fewer than 3 are not safe: ${BLINK}`]],
    [{ holdOff: "59.9s" }, [`deletion.holdOff: less than 60s is not safe: ${BLINK}`]],
    [
      { fleetShare: 1 },
      [
        "deletion.fleetShare: more than 0.5 is not safe: Landfall may then delete most Nodes at once " +
          "during an outage",
      ],
    ],
  ];
  test.each(odd)("DELETION warns about %j", (written, warnings) => {
    const read = DELETION.parse(written);
    expect(read.issues).toEqual([]);
    expect(toLines(read.warnings)).toEqual([...warnings]);
  });
});

describe("settings of DELETION", () => {
  test("settings of DELETION say the defaults that hold", () => {
    const lines = DELETION.settings.map(
      ({ path, default: standard }) => `${path.replace("deletion.", "")}: ${standard}`,
    );
    const { settings, issues } = DELETION.parse(Bun.YAML.parse(lines.join("\n")));
    expect(issues).toEqual([]);
    expect(lines).toHaveLength(Object.keys(DEFAULT_DELETION).length);
    expect(settings).toEqual(DEFAULT_DELETION);
  });

  test("settings of DELETION say of each what it does", () => {
    for (const { type, description } of DELETION.settings) {
      expect(type).not.toBe("undefined");
      expect(description).toEndWith(".");
    }
  });
});

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
