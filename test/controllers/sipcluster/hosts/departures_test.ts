/**
 * Of which hosts a cluster hears that it lost them.
 * @module
 */
import { expect, test } from "bun:test";
import { Departures } from "../../../../lib/controllers/sipcluster/hosts/departures.ts";
import type { SipCluster } from "../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { BareMetalHost } from "../../../../lib/kube/kinds/bare_metal_host.ts";
import { toClaimLabels, toHost } from "../../../support/sipcluster/hosts.ts";

const signal = AbortSignal.timeout(5_000);
const HOST = "metal3/h";

/** A cluster whose status has these hosts. */
function toCluster(...names: readonly string[]): SipCluster {
  const fields = { namespace: "metal3", role: "Worker", standby: false, addresses: [] } as const;
  const hosts = names.map((name) => ({ ...fields, name }));
  return { metadata: { name: "a", namespace: "tenant" }, status: { hosts } };
}

interface Stage {
  readonly departures: Departures;
  /** What was told since the last call: the reason. */
  take(): readonly string[];
  readonly looks: readonly string[];
}

/** @param later The host after a look at the API server */
function start(host: BareMetalHost | undefined, later: BareMetalHost | undefined = host): Stage {
  const told: string[] = [];
  const looks: string[] = [];
  let now = host;
  const departures = new Departures({
    index: { find: (key) => (key === HOST ? now : undefined) },
    events: { record: (_object, { reason }) => void told.push(reason) },
    firstLook: {
      take: (key) => {
        looks.push(key);
        now = later;
        return Promise.resolve(true);
      },
    },
  });
  return { departures, looks, take: () => told.splice(0) };
}

const OURS = toHost("h", { labels: toClaimLabels("a") });
const HALF = toHost("h", { labels: { "sip.airshipit.org/cluster-name": "a" } });

test.each<[string, BareMetalHost | undefined, readonly string[]]>([
  ["nothing of a host that it has", OURS, []],
  ["of one that was deleted", undefined, ["HostGone"]],
  ["of one without labels", toHost("h"), ["HostUnlabelled"]],
  ["of one with half of them", HALF, ["HostUnlabelled"]],
  ["of one of another cluster", toHost("h", { labels: toClaimLabels("b") }), ["HostUnlabelled"]],
])("a cluster hears %s", async (_what, host, expected) => {
  const { departures, take, looks } = start(host);
  await departures.tell(toCluster("h"), signal);
  expect(take()).toEqual(expected);
  expect(looks).toEqual(expected.length > 0 ? ["tenant/a"] : []);
});

test("a cluster hears nothing if only the watch is late", async () => {
  const { departures, take, looks } = start(toHost("h"), OURS);
  await departures.tell(toCluster("h"), signal);
  expect([take(), looks]).toEqual([[], ["tenant/a"]]);
});

test("a cluster hears nothing of hosts that Landfall gave back, until it has them again", async () => {
  const { departures, take } = start(toHost("h"));
  departures.noteReleased("tenant/a", HOST);
  await departures.tell(toCluster("h"), signal);
  expect(take()).toEqual([]);
  // The next status lacks it, and a later one has it again.
  await departures.tell(toCluster(), signal);
  await departures.tell(toCluster("h"), signal);
  expect(take()).toEqual(["HostUnlabelled"]);
});

test("forget() forgets what was given back", async () => {
  const { departures, take } = start(toHost("h"));
  departures.noteReleased("tenant/a", HOST);
  departures.forget("tenant/a");
  await departures.tell(toCluster("h"), signal);
  expect(take()).toEqual(["HostUnlabelled"]);
});
