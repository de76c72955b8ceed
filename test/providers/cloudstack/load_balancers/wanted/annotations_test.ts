import { expect, test } from "bun:test";
import {
  isAssociatedBy1x,
  readAnnotations,
} from "../../../../../lib/providers/cloudstack/load_balancers/wanted/annotations.ts";
import { annotate } from "../cloud/services.ts";

function read(values: Readonly<Record<string, string>>): ReturnType<typeof readAnnotations> {
  return readAnnotations(annotate(values));
}

test("readAnnotations() asks for nothing without annotations", () => {
  expect(readAnnotations({})).toEqual({ wishes: { isProxy: false }, problems: [] });
});

test("readAnnotations() reads each annotation", () => {
  const values = {
    "proxy-protocol": "true",
    hostname: "web.example.org",
    "source-cidrs": " 192.0.2.7/24 ,10.0.0.0/8",
    "stickiness-method-name": "SourceBased",
    "stickiness-method-param": "expire=30m",
  };
  expect(read(values)).toEqual({
    wishes: {
      isProxy: true,
      hostname: "web.example.org",
      sourceCidrs: ["10.0.0.0/8", "192.0.2.0/24"],
      stickiness: { method: "SourceBased", params: new Map([["expire", "30m"]]) },
    },
    problems: [],
  });
});

for (const value of ["TRUE", "1", "", "yes", "\u202etrue"]) {
  test(`the PROXY protocol is off for ${JSON.stringify(value)}, and the Service is told`, () => {
    const { wishes, problems } = read({ "proxy-protocol": value });
    expect(wishes.isProxy).toBe(false);
    expect(problems).toMatchObject([{ reason: "InvalidAnnotation", isWaiting: false }]);
    expect(problems[0]?.message).not.toContain("\u202e");
  });
}

const BAD_CIDRS = [
  "",
  " ",
  ",",
  "10.0.0.0/8,",
  "192.0.2.1",
  "10.0.0.0/33",
  "10.0.0.0/-1",
  "all",
  "0.0.0.0/0 10.0.0.0/8",
];
for (const value of BAD_CIDRS) {
  test(`source CIDRs ${JSON.stringify(value)} are a problem, and never mean everyone`, () => {
    const { wishes, problems } = read({ "source-cidrs": value });
    expect(wishes.sourceCidrs).toBe("refused");
    expect(problems).toMatchObject([{ reason: "InvalidAnnotation", isWaiting: true }]);
  });
}

for (const value of ["Web.example.org", "a b", "192.0.2.1", "-x", "x".repeat(300), "x\n"]) {
  test(`the hostname ${JSON.stringify(value.slice(0, 20))} is a problem`, () => {
    const { wishes, problems } = read({ hostname: value });
    expect(wishes.hostname).toBeUndefined();
    expect(problems).toMatchObject([{ reason: "InvalidAnnotation", isWaiting: true }]);
  });
}

test("an empty hostname is none, and a host may have any name", () => {
  expect(read({ hostname: "" })).toEqual({ wishes: { isProxy: false }, problems: [] });
  expect(read({ hostname: "refused" }).wishes.hostname).toBe("refused");
});

test("isAssociatedBy1x() believes only the word that version 1.x wrote", () => {
  expect(isAssociatedBy1x(annotate({ "ip-associated-by-controller": "true" }))).toBe(true);
  expect(isAssociatedBy1x(annotate({ "ip-associated-by-controller": "True" }))).toBe(false);
  expect(isAssociatedBy1x({})).toBe(false);
});
