import { describe, expect, test } from "bun:test";
import { FilterError, parseFilter } from "../../../lib/simulator/xenorchestra/filter.ts";

const vm = {
  id: "0b1d2e3f-0000-4000-8000-000000000001",
  name_label: 'k8s-worker-1 "odd" \\',
  tags: ["k8s", "role=worker"],
  CPUs: { number: 4 },
  empty: [],
};

describe("parseFilter()", () => {
  test.each([
    ["", true],
    ["name_label:WORKER", true],
    ["name_label:worker-2", false],
    ["id:0B1D2E3F", true],
    ["id:|(nope 0b1d2e3f-0000-4000-8000-000000000001)", true],
    ["id:|(nope neither)", false],
    ["name_label:/^k8s/", true],
    ["name_label:/^worker/", false],
    ["name_label:/^K8S/i", true],
    ['name_label:"1 \\"odd\\" \\\\"', true],
    ["name_label:k8s-*-1", true],
    ["tags:k8s", true],
    ["tags:/^k8$/", false],
    ["CPUs:number:4", true],
    ["CPUs:number:>4", false],
    ["CPUs:number:>=4", true],
    ["CPUs:number:<5", true],
    ["CPUs:number:<=3", false],
    ["CPUs?", true],
    ["empty?", false],
    ["missing?", false],
    ["!tags:k8s", false],
    ["tags:k8s name_label:worker", true],
    [" tags:k8s  !name_label:worker ", false],
    ["|(tags:nope (tags:k8s name_label:worker))", true],
    ["worker", true],
    ["nobody", false],
    ['name_label:"unclosed', false],
  ])("%p fits: %p", (filter, fits) => {
    expect(parseFilter(filter)(vm)).toBe(fits);
  });

  test.each([
    ["(a b", "parse error: expected end of input at position 0"],
    ["a )", "parse error: expected end of input at position 1"],
    ["a:", "parse error: expected end of input at position 0"],
    ["name_label:/(/", "Invalid regular expression: /(/: "],
  ])("refuses %p", (filter, message) => {
    expect(() => parseFilter(filter)).toThrow(FilterError);
    expect(() => parseFilter(filter)).toThrow(message);
  });
});
