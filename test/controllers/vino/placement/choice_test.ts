import { describe, expect, test } from "bun:test";
import { choosePool } from "../../../../lib/controllers/vino/placement/choice.ts";

const lyon = { id: "p-1", name: "lyon", isComplete: true };
const paris = { id: "p-2", name: "paris", isComplete: true };

describe("choosePool()", () => {
  test.each([
    ["the only one", [lyon], undefined, "p-1"],
    ["one by its ID", [lyon, paris], "p-2", "p-2"],
    ["one by its name", [lyon, paris], "paris", "p-2"],
    [
      "the one whose ID it is, although another has it as a name",
      [{ ...lyon, name: "p-2" }, paris],
      "p-2",
      "p-2",
    ],
  ])("finds %s", (_title, pools, wanted, id) => {
    expect(choosePool(pools, wanted)).toMatchObject({ pool: { id } });
  });

  test.each([
    ["none is shown", [], undefined, "Set spec.xenOrchestra.pool, because the cloud shows no pool"],
    ["there are several", [lyon, paris], undefined, "2 pools: lyon (p-1), paris (p-2)"],
    [
      "it is not shown",
      [lyon],
      "paris",
      'The cloud does not show pool "paris". It shows: lyon (p-1)',
    ],
    [
      "a name is that of two",
      [lyon, { ...paris, name: "lyon" }],
      "lyon",
      'shows 2 pools with the name "lyon"',
    ],
  ])("says why there is none if %s", (_title, pools, wanted, message) => {
    expect(choosePool(pools, wanted)).toMatchObject({ problem: expect.stringContaining(message) });
  });
});
