import { expect, test } from "bun:test";
import {
  nameHost,
  nameNetwork,
  namePool,
  nameStorage,
  nameTemplate,
  nameThing,
} from "../../../../../lib/providers/xenorchestra/machines/plan/names.ts";
import { toTemplate, toView } from "../scene.ts";

const view = toView({ templates: [toTemplate({ id: "t-2", uuid: "u-2", name: "old" })] });
const { stock } = view;

test.each([
  ["a pool", namePool(view, "pool-1"), 'pool "paris" (pool-1)'],
  ["a pool that is not shown", namePool(view, "pool-9"), "pool pool-9"],
  ["a network", nameNetwork(stock, "net-1"), 'network "oam" (net-1)'],
  ["a storage", nameStorage(stock, "sr-2"), 'storage repository "fast" (sr-2)'],
  ["a template by its UUID", nameTemplate(stock, "u-2"), 'template "old" (u-2)'],
  ["a template that is gone", nameTemplate(stock, "u-9"), "template u-9"],
  ["a host", nameHost(view, "host-1"), 'host "xcp-1" (host-1)'],
  ["what has no name", nameThing("disk", { id: "d", name: "" }), "disk d"],
  [
    "what has a name with a break",
    nameThing("disk", { id: "d", name: "a\nb" }),
    'disk "a\\nb" (d)',
  ],
])("names %s", (_what, found, expected) => {
  expect(found).toBe(expected);
});
