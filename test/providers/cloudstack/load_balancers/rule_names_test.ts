import { describe, expect, test } from "bun:test";
import { assert, constantFrom, integer, property, uuid } from "fast-check";
import {
  formatRuleName,
  parseRuleName,
  toLbName,
} from "../../../../lib/providers/cloudstack/load_balancers/rule_names.ts";

const UID = "01234567-89ab-cdef-0123-456789abcdef";
const LB_NAME = "a0123456789abcdef0123456789abcde";

test("toLbName() is Kubernetes' default, cut to 32 characters", () => {
  expect(toLbName(UID)).toBe(LB_NAME);
  expect(toLbName("short-uid")).toBe("ashortuid");
});

describe("parseRuleName()", () => {
  test.each([
    [`${LB_NAME}-tcp-80`, { lbName: LB_NAME, protocol: "tcp", port: 80 }],
    [`${LB_NAME}-udp-65535`, { lbName: LB_NAME, protocol: "udp", port: 65_535 }],
    [`${LB_NAME}-tcp-proxy-443`, { lbName: LB_NAME, protocol: "tcp-proxy", port: 443 }],
    [`${LB_NAME}-443`, { lbName: LB_NAME, port: 443 }],
  ])("reads %s", (name, expected) => {
    expect(parseRuleName(name)).toEqual(expected as ReturnType<typeof parseRuleName>);
  });

  test.each([
    "",
    LB_NAME,
    `${LB_NAME}-`,
    `${LB_NAME}-tcp`,
    `${LB_NAME}-tcp-0`,
    `${LB_NAME}-tcp-080`,
    `${LB_NAME}-tcp-65536`,
    `${LB_NAME}-tcp-80-x`,
    `${LB_NAME}-TCP-80`,
    `${LB_NAME}-sctp-80`,
    `x${LB_NAME}-tcp-80`,
    `${LB_NAME}f-tcp-80`,
    `a-tcp-80`,
    `${LB_NAME}-tcp-80\n`,
  ])("reads no foreign name: %j", (name) => {
    expect(parseRuleName(name)).toBeUndefined();
  });

  test("reads what formatRuleName() writes", () => {
    const protocols = constantFrom("tcp", "udp", "tcp-proxy");
    assert(
      property(uuid(), protocols, integer({ min: 1, max: 65_535 }), (uid, protocol, port) => {
        const lbName = toLbName(uid);
        const name = formatRuleName(lbName, protocol, port);
        expect(parseRuleName(name)).toEqual({ lbName, protocol, port });
      }),
    );
  });
});
