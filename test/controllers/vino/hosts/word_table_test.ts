import { expect, test } from "bun:test";
import { HOST_WORDS } from "../../../../lib/controllers/vino/hosts/word_table.ts";
import * as words from "../../../../lib/controllers/vino/hosts/words.ts";
import { VINO_UID } from "../../../../lib/kube/kinds/bare_metal_host.ts";

test("the reference page has every word on hosts, and the words never change", () => {
  const all = [VINO_UID, ...Object.values(words)];
  expect(HOST_WORDS.map(({ word }) => word.replace("<name>", "")).toSorted()).toEqual(
    all.toSorted(),
  );
  expect(HOST_WORDS.map(({ word }) => word)).toEqual([
    "landfall.dev/vino-uid",
    "vino.airshipit.org/vino",
    "vino.airshipit.org/role",
    "vino.airshipit.org/flavor",
    "vino.airshipit.org/host",
    "vino.airshipit.org/network.<name>",
    "infrastructure.cluster.x-k8s.io/failure-domain",
    "landfall.dev/machine",
    "landfall.dev/machine-id",
    "landfall.dev/labels-from-vino",
    "landfall.dev/publish-moved-hosts",
  ]);
});
