import { expect, test } from "bun:test";
import type { Attached } from "../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import { listAttachedDisks } from "../../../../../lib/providers/xenorchestra/machines/plan/attached_disks.ts";
import { toDisk, toLink, toOwnLinks, toSeedLink, toVm } from "../scene.ts";

const GIB = 1024 ** 3;
const CD: Attached = { linkId: "cd", position: "3", isCd: true };

function list(
  links: readonly Attached[],
  linkIds?: readonly string[],
): readonly string[] | undefined {
  const vm = { ...toVm(), linkIds: linkIds ?? links.map(({ linkId }) => linkId) };
  const disks = listAttachedDisks({ attached: new Map([[vm.id, links]]) }, vm);
  return disks?.map(({ name, sizeBytes }) => `${name} ${sizeBytes / GIB}`);
}

const [ROOT, DATA] = toOwnLinks("vm-1");

test("listAttachedDisks() lists disks by position, without drives and the disk of the first start", () => {
  const late = toLink("vm-1", 10, toDisk({ name: "", id: "late", sizeBytes: 7 * GIB }));
  const links = [late, DATA, toSeedLink("vm-1"), CD, ROOT].flatMap((one) => one ?? []);
  expect(list(links)).toEqual([
    "vino-1b4e28ba-worker-0.root 20",
    "vino-1b4e28ba-worker-0.data 5",
    "late 7",
  ]);
  expect(list([])).toEqual([]);
});

test("listAttachedDisks() does not know them if one cannot be seen", () => {
  const links = toOwnLinks("vm-1");
  expect(list(links, [...links.map(({ linkId }) => linkId), "hidden"])).toBeUndefined();
  const { disk: _hidden, ...link } = toLink("vm-1", 2, toDisk());
  expect(list([...links, link])).toBeUndefined();
});
