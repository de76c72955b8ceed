import { expect, test } from "bun:test";
import { FlowNetwork } from "../../../../../lib/controllers/sipcluster/schedule/matching/flow.ts";

test("setCapacity() begins a new question, and steps are counted", () => {
  const network = new FlowNetwork();
  const edge = network.addEdge(network.source, network.sink);
  for (const capacity of [3, 0, 1]) {
    const before = network.steps;
    network.setCapacity(edge, capacity);
    network.maximize();
    expect(network.flowOf(edge)).toBe(capacity);
    expect(network.steps).toBeGreaterThan(before);
  }
});
