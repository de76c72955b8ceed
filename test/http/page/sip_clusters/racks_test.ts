import { expect, test } from "bun:test";
import { countHosts, listKeys, toRacks } from "../../../../lib/http/page/sip_clusters/racks.ts";
import { HOSTS, RACK, SERVER, SHORT } from "../../../support/page/sip_cluster_views.ts";

test("listKeys() has the label with the fewest values first", () => {
  expect(listKeys([SHORT, { ...SHORT, topologyKeys: [SERVER] }], HOSTS)).toEqual([RACK, SERVER]);
  expect(listKeys([], HOSTS)).toEqual([]);
});

test("toRacks() groups hosts by a label, those without it last", () => {
  const racks = toRacks(HOSTS, RACK).map(({ name, hosts }) => [name, hosts.map((h) => h.name)]);
  expect(racks).toEqual([
    ["r1", ["h-1", "h-3", "h-4", "h-6"]],
    ["r2", ["h-2"]],
    [undefined, ["h-5"]],
  ]);
});

test("countHosts() counts each state that occurs, the worst first", () => {
  expect(countHosts(HOSTS.slice(0, 4))).toEqual([
    ["refused", 1],
    ["given", 1],
    ["used", 1],
    ["standby", 1],
  ]);
});
