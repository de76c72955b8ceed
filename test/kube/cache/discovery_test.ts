import { expect, test } from "bun:test";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { findServing } from "../../../lib/kube/cache/caches.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { ScriptedKubeClient } from "../../support/kube/scripted_kube_client.ts";
import { GALLERIES } from "../../support/galleries/gallery.ts";
import { toDiscovery } from "../../support/kube/discovery.ts";

const { signal } = new AbortController();

function setUp(answers: Readonly<Record<string, unknown>>): ScriptedKubeClient {
  const client = new ScriptedKubeClient(new ManualClock());
  client.onGet = (path) => {
    if (path in answers) return answers[path];
    throw new KubeError("unavailable", `Cannot get "${path}": 404`, { code: 404 });
  };
  return client;
}

test.each([
  ["missing", "without its group", toDiscovery({ apps: { v1: ["deployments"] } })],
  ["missing", "with its group alone", toDiscovery({ "example.org": { v1: ["museums"] } })],
  ["served", "in its version", toDiscovery({ "example.org": { v2: [], v1: ["galleries"] } })],
  ["otherVersion", "in another", toDiscovery({ "example.org": { v2: ["galleries"], v1: [] } })],
  ["missing", "as another's subresource", toDiscovery({ "example.org": { v1: ["galleries/x"] } })],
] as const)("findServing() says %s of a kind %s", async (serving, _title, answers) => {
  expect(await findServing(setUp(answers), GALLERIES, signal)).toBe(serving);
});

test.each<[string, Readonly<Record<string, unknown>>]>([
  ["nothing can be read", {}],
  ["the list of groups is text", { "/apis": "404 page not found" }],
  ["the list of groups has none", { "/apis": { kind: "APIGroupList" } }],
  ["a group is no object", { "/apis": { groups: ["example.org"] } }],
  ["a group has no versions", { "/apis": { groups: [{ name: "example.org" }] } }],
  [
    "a version of the group cannot be read",
    { "/apis": toDiscovery({ "example.org": { v1: [] } })["/apis"] },
  ],
])("findServing() concludes nothing when %s", async (_title, answers) => {
  await expect(findServing(setUp(answers), GALLERIES, signal)).rejects.toThrow(KubeError);
});

test("findServing() does not ask about kinds of the core group", async () => {
  const client = setUp({});
  expect(await findServing(client, NODES, signal)).toBe("served");
  expect(client.requests).toEqual([]);
});
