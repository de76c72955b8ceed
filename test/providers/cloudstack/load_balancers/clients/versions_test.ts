import { expect, test } from "bun:test";
import {
  canUpdateRuleLists,
  hasRuleLists,
  isSince,
} from "../../../../../lib/providers/cloudstack/load_balancers/clients/versions.ts";
import { createCloud } from "../cloud/services.ts";

test("a server whose version is not known can do nothing that is new", () => {
  const version = (
    major: number,
    minor: number,
  ): { major: number; minor: number; patch: number } => ({
    major,
    minor,
    patch: 0,
  });
  expect([version(4, 17), version(4, 18), version(5, 0)].map((one) => isSince(one, 4, 18))).toEqual(
    [false, true, true],
  );
  const view = createCloud().view();
  const { version: _, ...unknown } = view;
  expect([hasRuleLists(unknown), canUpdateRuleLists(unknown)]).toEqual([false, false]);
  expect([hasRuleLists(view), canUpdateRuleLists(view)]).toEqual([true, true]);
  const old = { ...view, version: version(4, 21) };
  expect([hasRuleLists(old), canUpdateRuleLists(old)]).toEqual([true, false]);
});
