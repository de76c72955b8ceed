import { expect, test } from "bun:test";
import { createParts } from "../../../lib/app/parts.ts";
import { formatDefinition, toProcessView } from "../../../lib/app/serving/process_view.ts";
import type { LoadedController } from "../../../lib/controllers/load.ts";
import { ScriptedKubeClient } from "../../support/kube/scripted_kube_client.ts";
import { galleryController } from "../../support/galleries/definition.ts";
import { CONFIG_MAPS, GALLERIES } from "../../support/galleries/kinds.ts";
import { TWIN_LEASE, TWIN_NAME, twinController } from "../../support/galleries/twin.ts";
import { NAME } from "../../support/galleries/words.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { toBareApp } from "../../support/process/bare_app.ts";

const controllers = [galleryController, twinController].map((definition): LoadedController => {
  const create: LoadedController["module"]["create"] = ({ caches }) => {
    caches.reader(GALLERIES);
    caches.reader(CONFIG_MAPS, { namespace: "n", labelSelector: "a" });
    return { run: async () => {} };
  };
  return { definition, module: { create } };
});
const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

test("toProcessView() tells which Lease each controller waits for, and what it reads", () => {
  const client = new ScriptedKubeClient(new ManualClock());
  const election = { client, namespace: "n", name: "ccm", ...times };
  const options = toBareApp({ controllers, election });
  const view = toProcessView(options, createParts(options));
  expect(view.elections.map(({ lease, isLeading }) => [lease, isLeading])).toEqual([
    ["ccm", false],
    [TWIN_LEASE, false],
  ]);
  expect(view.controllers).toEqual([
    { name: NAME, lease: "ccm", isRunning: false },
    { name: TWIN_NAME, lease: TWIN_LEASE, isRunning: false },
  ]);
  expect(view.kinds).toContainEqual({ kind: "galleries.example.org/v1", state: "waiting" });
  expect(view.kinds).toContainEqual({
    kind: "configmaps/v1",
    selection: "namespace=n labelSelector=a",
    state: "waiting",
  });
});

test("toProcessView() without election says that all controllers run", () => {
  const options = toBareApp({ controllers });
  const view = toProcessView(options, createParts(options));
  expect(view.elections).toEqual([]);
  expect(view.controllers.every(({ isRunning }) => isRunning)).toBe(true);
});

test.each([
  ["nodes", "v1", "nodes/v1"],
  ["galleries", "example.org/v1", "galleries.example.org/v1"],
])("formatDefinition() of %s in %s", (resource, apiVersion, expected) => {
  expect(formatDefinition({ resource, apiVersion })).toBe(expected);
});
