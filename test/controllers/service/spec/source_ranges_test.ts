import { expect, test } from "bun:test";
import { readSourceRanges } from "../../../../lib/controllers/service/spec/source_ranges.ts";
import { toService } from "../../../support/services/service.ts";

const KEY = "service.beta.kubernetes.io/load-balancer-source-ranges";

function read(
  loadBalancerSourceRanges: readonly string[] | undefined,
  annotation?: string,
  families: readonly ("IPv4" | "IPv6")[] = ["IPv4"],
): unknown {
  const metadata = annotation === undefined ? {} : { annotations: { [KEY]: annotation } };
  const spec = loadBalancerSourceRanges ? { loadBalancerSourceRanges } : {};
  return readSourceRanges(toService({ metadata, spec }), families);
}

test.each<[string, readonly string[] | undefined, string | undefined, unknown]>([
  ["nothing", undefined, undefined, {}],
  ["an empty list and an empty annotation", [], " ", {}],
  ["everything", ["0.0.0.0/0"], undefined, {}],
  ["everything and more", ["10.0.0.0/8", "0.0.0.0/0"], undefined, {}],
  ["the spec before the annotation", ["10.0.0.0/8"], "192.0.2.0/24", { ranges: ["10.0.0.0/8"] }],
  [
    "the annotation",
    undefined,
    " 192.0.2.0/24 , 10.0.0.0/8",
    { ranges: ["10.0.0.0/8", "192.0.2.0/24"] },
  ],
  [
    "each once, without host bits",
    ["10.1.2.3/8", "10.0.0.0/8"],
    undefined,
    { ranges: ["10.0.0.0/8"] },
  ],
  [
    "IPv6 after IPv4",
    ["2001:DB8:0::/32", "10.0.0.0/8"],
    undefined,
    { ranges: ["10.0.0.0/8", "2001:db8::/32"] },
  ],
])("S-17 readSourceRanges() takes %s", (_what, spec, annotation, expected) => {
  expect(read(spec, annotation)).toEqual(expected);
});

test.each<[string, readonly string[] | undefined, string | undefined, string]>([
  [
    "a word",
    ["10.0.0.0/8", "all"],
    undefined,
    'spec.loadBalancerSourceRanges: "all" is not a CIDR',
  ],
  [
    "an address",
    ["10.0.0.1"],
    undefined,
    'spec.loadBalancerSourceRanges: "10.0.0.1" is not a CIDR',
  ],
  ["too long a prefix", ["10.0.0.0/33"], undefined, '"10.0.0.0/33" is not a CIDR'],
  ["an empty item", undefined, "10.0.0.0/8,", `annotation ${KEY}: "" is not a CIDR`],
])("S-17 readSourceRanges() refuses %s, and names the field", (_what, spec, annotation, text) => {
  expect(read(spec, annotation)).toEqual({ problem: expect.stringContaining(text) });
});

test("readSourceRanges() opens no family that the ranges do not open", () => {
  expect(read(["0.0.0.0/0"], undefined, ["IPv6"])).toEqual({ ranges: ["0.0.0.0/0"] });
  expect(read(["0.0.0.0/0"], undefined, ["IPv4", "IPv6"])).toEqual({ ranges: ["0.0.0.0/0"] });
  expect(read(["0.0.0.0/0", "::/0"], undefined, ["IPv4", "IPv6"])).toEqual({});
});
