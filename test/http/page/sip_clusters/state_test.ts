import { expect, test } from "bun:test";
import {
  isTroubled,
  judgeHost,
  SIP_HOST_STATE_NAMES,
  toClusterWords,
} from "../../../../lib/http/page/sip_clusters/state.ts";
import { HOSTS, toSipCluster } from "../../../support/page/sip_cluster_views.ts";

test("judgeHost() tells every state apart", () => {
  const states = HOSTS.map(judgeHost);
  expect(states).toEqual(["used", "given", "standby", "refused", "free", "broken"]);
  expect(new Set(states)).toEqual(new Set(SIP_HOST_STATE_NAMES));
});

test("isTroubled() of a cluster that cannot go on by itself, or that has notes", () => {
  const states = ["ready", "working", "waiting", "failing"] as const;
  const clusters = states.map((state) => toSipCluster("a", { state }));
  expect(clusters.map(isTroubled)).toEqual([false, false, true, true]);
  expect(isTroubled(toSipCluster("a", { notes: ["two hosts in a rack"] }))).toBe(true);
});

test("toClusterWords() of a ready cluster with notes does not look well", () => {
  expect(toClusterWords(toSipCluster("a"))).toMatchObject({ word: "ready", looksLike: "well" });
  const noted = toSipCluster("a", { notes: ["two hosts in a rack"] });
  expect(toClusterWords(noted)).toMatchObject({ word: "ready", looksLike: "differs" });
});
