/**
 * Nodes as the pages show them, for tests.
 * @module
 */
import type { InventoryView, NodeView } from "../../../lib/http/views.ts";

/** When the pages of tests are shown. */
export const PAGE_NOW: number = Date.parse("2026-01-01T00:10:00Z");

/** A Node that is well, on host `h1` in pool `p1`. */
export function toNodeView(name: string, over: Partial<NodeView> = {}): NodeView {
  return {
    name,
    providerId: `test://${name}`,
    wantedProviderId: `test://${name}`,
    isUninitialized: false,
    ready: "True",
    matchedBy: "providerId",
    places: [
      { kind: "pool", id: "p1", name: "Paris" },
      { kind: "host", id: "h1", name: "xcp-1" },
    ],
    presence: { kind: "present" },
    instance: {
      id: name,
      name: `vm-${name}`,
      state: "running",
      details: { powerState: "Running" },
    },
    labels: { wanted: { a: "1" }, actual: { a: "1" } },
    addresses: {
      wanted: [{ type: "InternalIP", address: "10.0.0.1" }],
      actual: [{ type: "InternalIP", address: "10.0.0.1" }],
    },
    lastReconcile: { at: "2026-01-01T00:09:30Z", outcome: "ok" },
    ...over,
  };
}

/** A Node of which the cloud tells nothing, for a reason. */
export function toLostView(name: string, reason: string, over: Partial<NodeView> = {}): NodeView {
  return toNodeView(name, {
    presence: { kind: "unknown", reason, message: `because ${reason}` },
    instance: null,
    labels: { actual: {} },
    addresses: { actual: [] },
    ...over,
  });
}

/** An inventory with two pools, of which all or one answered. */
export function toInventoryView(over: Partial<InventoryView> = {}): InventoryView {
  return {
    ageSeconds: 3,
    coverage: [
      { id: "p1", name: "Paris", complete: true },
      { id: "p2", name: "Lyon", complete: true },
    ],
    counts: { instances: 2, undecodable: 0 },
    lastRefreshDurationMs: 12,
    ...over,
  };
}

/** What a page is made of, as a browser would see it. */
interface PageParts {
  /** Names of all elements, in order. */
  readonly elements: readonly string[];
  /** Every attribute as `name=value`, as it stands in the source. */
  readonly attributes: readonly string[];
}

/** Takes a page apart. */
export function takeApart(html: string): PageParts {
  const elements: string[] = [];
  const attributes: string[] = [];
  new HTMLRewriter()
    .on("*", {
      element(element) {
        elements.push(element.tagName);
        for (const [name = "", value = ""] of element.attributes) {
          attributes.push(`${name}=${value}`);
        }
      },
    })
    .transform(html);
  return { elements, attributes };
}
