import { expect, test } from "bun:test";
import {
  MissingBanner,
  StandbyBanner,
} from "../../../../lib/http/page/objects/serving_banners.tsx";

test("MissingBanner() names kinds that are missing", () => {
  expect(String(MissingBanner({ missing: ["a/v1", "b/v1"] }))).toContain("a/v1 and b/v1.");
  expect(MissingBanner({ missing: [] })).toBeNull();
});

test("StandbyBanner() is calm if there is a leader", () => {
  const election = { lease: "l", identity: "b", holder: "cp-1", isLeading: false };
  const unknown = "why";
  expect(String(StandbyBanner({ election, unknown }))).toContain("banner calm");
  const alone = String(StandbyBanner({ election: { ...election, holder: "" }, unknown }));
  expect(alone).toContain("there is none now");
  expect(alone).not.toContain("calm");
  expect(StandbyBanner({ election: { ...election, isLeading: true }, unknown })).toBeNull();
});
