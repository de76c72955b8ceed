/**
 * Of which hosts a cluster hears that it lost them.
 * @module
 */
import { expect, test } from "bun:test";
import { Departures } from "../../../../lib/controllers/sipcluster/hosts/departures.ts";
import type { SipCluster } from "../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { BareMetalHost } from "../../../../lib/kube/kinds/bare_metal_host.ts";
import { toClaimLabels, toHost } from "../../../support/sipcluster/hosts.ts";

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
}

function start(host: BareMetalHost | undefined): Stage {
  const told: string[] = [];
  const departures = new Departures({
    index: { find: (key) => (key === HOST ? host : undefined) },
    events: { record: (_object, { reason }) => void told.push(reason) },
  });
  return { departures, take: () => told.splice(0) };
}

const OURS = toHost("h", { labels: toClaimLabels("a") });
const HALF = toHost("h", { labels: { "sip.airshipit.org/cluster-name": "a" } });

test.each<[string, BareMetalHost | undefined, readonly string[]]>([
  ["nothing of a host that it has", OURS, []],
  ["of one that was deleted", undefined, ["HostGone"]],
  ["of one without labels", toHost("h"), ["HostUnlabelled"]],
  ["of one with half of them", HALF, ["HostUnlabelled"]],
  ["of one of another cluster", toHost("h", { labels: toClaimLabels("b") }), ["HostUnlabelled"]],
])("a cluster hears %s", (_what, host, expected) => {
  const { departures, take } = start(host);
  departures.tell(toCluster("h"));
  expect(take()).toEqual(expected);
});

test("a cluster hears nothing of hosts that Landfall gave back, until it has them again", () => {
  const { departures, take } = start(toHost("h"));
  departures.noteReleased("tenant/a", HOST);
  departures.tell(toCluster("h"));
  expect(take()).toEqual([]);
  // The next status lacks it, and a later one has it again.
  departures.tell(toCluster());
  departures.tell(toCluster("h"));
  expect(take()).toEqual(["HostUnlabelled"]);
});

test("forget() forgets what was given back", () => {
  const { departures, take } = start(toHost("h"));
  departures.noteReleased("tenant/a", HOST);
  departures.forget("tenant/a");
  departures.tell(toCluster("h"));
  expect(take()).toEqual(["HostUnlabelled"]);
});
