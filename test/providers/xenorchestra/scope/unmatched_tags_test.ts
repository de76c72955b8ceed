import { expect, test } from "bun:test";
import { listUnmatchedTagFindings } from "../../../../lib/providers/xenorchestra/scope/unmatched_tags.ts";
import type { XenOrchestraSettings } from "../../../../lib/providers/xenorchestra/settings/config.ts";

type Settings = Pick<XenOrchestraSettings, "instanceTypeTag" | "zoneLabelFrom">;

const BOTH: Settings = {
  zoneLabelFrom: { kind: "hostTag", prefix: "zone=" },
  instanceTypeTag: "type=",
};
const NEITHER: Settings = { zoneLabelFrom: { kind: "host" } };
const NO_ZONE = 'zoneLabelFrom: no host has a tag that begins with "zone="';
const NO_TYPE = 'instanceTypeTag: no VM has a tag that begins with "type="';

test.each<[string, Settings, readonly string[] | null, readonly string[]]>([
  ["no tag has", BOTH, ["rack=1"], [NO_ZONE, NO_TYPE]],
  ["are not reported", BOTH, null, [NO_ZONE, NO_TYPE]],
  ["only tags without a value have", BOTH, ["zone=", "type="], [NO_ZONE, NO_TYPE]],
  ["some tags have", BOTH, ["zone=a", "type=b"], []],
  ["are not in the settings", NEITHER, ["rack=1"], []],
])("listUnmatchedTagFindings() judges prefixes that %s", (_title, settings, tags, messages) => {
  const objects = { hosts: [{ tags: [] }, { tags }], vms: [{ tags: [] }, { tags }] };
  const findings = listUnmatchedTagFindings(objects, settings);
  expect(findings.map(({ message }) => message)).toEqual([...messages]);
  for (const { level, code, advice } of findings) {
    expect([level, code]).toEqual(["warning", "unmatchedTag"]);
    expect(advice).toContain("without such a tag Landfall");
  }
});

test("listUnmatchedTagFindings() says nothing if there is no host and no VM", () => {
  expect(listUnmatchedTagFindings({ hosts: [], vms: [] }, BOTH)).toEqual([]);
});
