import { expect, test } from "bun:test";
import type { BareMetalHost } from "../../../../lib/kube/kinds/bare_metal_host.ts";
import { FirstLook } from "../../../../lib/controllers/sipcluster/hosts/first_look.ts";
import type { KubeClient } from "../../../../lib/kube/api/client.ts";
import { toClaimLabels, toHost } from "../../../support/sipcluster/hosts.ts";

const { signal } = new AbortController();
const CLUSTER = "tenant/a";
const LABELS = { labels: toClaimLabels("a") };

interface Asked {
  readonly queries: object[];
  readonly noted: string[];
  readonly look: FirstLook;
}

/** A first look at pages of hosts, when the watch shows these. */
function start(shown: readonly BareMetalHost[], pages: readonly BareMetalHost[][]): Asked {
  const queries: object[] = [];
  const noted: string[] = [];
  const client: Pick<KubeClient, "list"> = {
    list: async (_resource, query) => {
      queries.push(query);
      const at = Number(query.continue ?? 0);
      const items = JSON.parse(JSON.stringify(pages[at] ?? []));
      const more = at + 1 < pages.length ? { continue: String(at + 1) } : {};
      return { items, resourceVersion: "1", ...more };
    },
  };
  const index = {
    find: (key: string) => shown.find(({ metadata: { name } }) => key.endsWith(`/${name}`)),
    note: (_before: BareMetalHost, after: BareMetalHost) => void noted.push(after.metadata.name),
  };
  return { queries, noted, look: new FirstLook({ client, index }) };
}

test("take() notes hosts that have other labels than the watch shows, on all pages", async () => {
  const shown = [toHost("h-1", LABELS), toHost("h-2"), toHost("h-3")];
  const pages = [[toHost("h-1", LABELS), toHost("h-2", LABELS)], [toHost("h-3", LABELS)]];
  const { look, noted, queries } = start(shown, pages);
  expect(await look.take(CLUSTER, signal)).toBe(true);
  expect(noted).toEqual(["h-2", "h-3"]);
  expect(queries).toHaveLength(2);
  expect(queries[0]).toMatchObject({
    labelSelector: "sip.airshipit.org/cluster-namespace=tenant,sip.airshipit.org/cluster-name=a",
  });
});

test("take() asks once for each cluster, until it is forgotten", async () => {
  const { look, queries } = start([toHost("h-1", LABELS)], [[toHost("h-1", LABELS)]]);
  expect(await look.take(CLUSTER, signal)).toBe(false);
  expect(await look.take(CLUSTER, signal)).toBe(false);
  expect(queries).toHaveLength(1);
  look.forget(CLUSTER);
  await look.take(CLUSTER, signal);
  expect(queries).toHaveLength(2);
});

test("take() leaves a host that the watch does not show at all", async () => {
  const { look, noted } = start([], [[toHost("h-1", LABELS)]]);
  expect(await look.take(CLUSTER, signal)).toBe(false);
  expect(noted).toEqual([]);
});
