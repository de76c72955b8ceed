import { expect, test } from "bun:test";
import { listNotices } from "../../../../lib/controllers/vino/addresses/notices.ts";
import { PoolSet } from "../../../../lib/controllers/vino/addresses/pools/pool_set.ts";
import { MANAGEMENT, toNames } from "../../../support/vino/address_requests.ts";

test("listNotices() names a few machines of this Vino, and counts the others", () => {
  const allocatedIPs = toNames(6).map((name, at) => ({
    ip: `192.168.9.${at}`,
    mac: `02:00:00:00:00:0${at}`,
    allocatedTo: at === 5 ? `metal/other/${name}/eth0` : `metal/tenant/${name}/eth0`,
  }));
  const pools = new Map([["pool", { subnet: "192.168.0.0/20", allocatedIPs }]]);
  const set = new PoolSet({ pools, networks: [{ vino: "metal/tenant", network: MANAGEMENT }] });
  set.open(MANAGEMENT);
  const notices = listNotices("metal/tenant", [MANAGEMENT], set.listOpen());
  expect(notices).toHaveLength(1);
  expect(notices[0]?.message).toContain("192.168.9.0 of vino-1b4e28ba-worker-0, ");
  expect(notices[0]?.message).toContain(" and 2 more, which stay in use");
});
