import { expect, test } from "bun:test";
import {
  isTroubled,
  judgeHost,
  SIP_HOST_STATE_NAMES,
} from "../../../../lib/http/page/sip_clusters/state.ts";
import { HOSTS } from "../../../support/page/sip_cluster_views.ts";

test("judgeHost() tells every state apart", () => {
  const states = HOSTS.map(judgeHost);
  expect(states).toEqual(["used", "given", "standby", "refused", "free", "broken"]);
  expect(new Set(states)).toEqual(new Set(SIP_HOST_STATE_NAMES));
});

test("isTroubled() of a cluster that cannot go on by itself", () => {
  const states = ["ready", "working", "waiting", "failing"] as const;
  expect(states.map(isTroubled)).toEqual([false, false, true, true]);
});
