import { expect, test } from "bun:test";
import { FlowNetwork } from "../../../../../lib/controllers/sipcluster/schedule/matching/flow.ts";

/** What flows through each edge `[from, to, capacity]`; node 0 is the source, node 1 the sink. */
function maximize(
  nodes: number,
  edges: readonly (readonly [number, number, number])[],
): readonly number[] {
  const network = new FlowNetwork();
  for (let node = 2; node < nodes; node += 1) network.addNode();
  const numbers = edges.map(([from, to]) => network.addEdge(from, to));
  edges.forEach(([, , capacity], at) => network.setCapacity(numbers[at] ?? 0, capacity));
  network.maximize();
  return numbers.map((edge) => network.flowOf(edge));
}

test("maximize() sends back what stands in the way of more", () => {
  // Two hosts, 2 and 3, and two racks, 4 and 5: host 2 may stand in both, host 3 only in the first.
  const flows = maximize(6, [
    [0, 2, 1],
    [0, 3, 1],
    [2, 4, 1],
    [2, 5, 1],
    [3, 4, 1],
    [4, 1, 1],
    [5, 1, 1],
  ]);
  expect(flows).toEqual([1, 1, 0, 1, 1, 1, 1]);
});

test("maximize() fills capacities above one, and no more", () => {
  expect(
    maximize(4, [
      [0, 2, 5],
      [0, 3, 2],
      [2, 3, 9],
      [2, 1, 1],
      [3, 1, 4],
    ]),
  ).toEqual([3, 2, 2, 1, 4]);
});

test("maximize() sends nothing where no path leads to the sink", () => {
  expect(maximize(3, [[0, 2, 3]])).toEqual([0]);
});

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
