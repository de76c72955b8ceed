/**
 * Fields of Services with values that an API server refuses. Another one, or an older one, may let them through.
 * @module
 */
import { describe, expect } from "bun:test";
import fc from "fast-check";
import type { Service } from "../../../lib/kube/kinds/service.ts";
import { SERVICES } from "../../../lib/kube/kinds/service.ts";
import { findDamage } from "../../../lib/kube/kinds/resource.ts";
import type { JsonObject } from "../../../lib/simulator/kubernetes/patches/json.ts";
import { tries } from "../../support/extent.ts";
import { anyText, HOSTILE_TEXTS, isPolluted } from "../../support/net/hostile.ts";
import { type ServiceRig, startServices } from "../../support/services/service_rig.ts";
import { checkMessage, pickValues } from "./stage.ts";
import { longTest } from "../../support/long_tests.ts";

const KEY = "web/odd";
const PORT = { port: 80, protocol: "TCP", nodePort: 30_080 };
const LONG = "x".repeat(200_000);
const TEXTS = [...HOSTILE_TEXTS, ...pickValues(0)];

type Spec = NonNullable<Service["spec"]>;

/** A field, its values, and whether they are refused; else they do nothing. */
interface Case {
  readonly field: string;
  readonly specs: readonly Partial<Spec>[];
  readonly isRefused: boolean;
}

const toPorts = (change: Partial<typeof PORT> & JsonObject): Partial<Spec> => ({
  ports: [{ ...PORT, ...change }],
});
const BAD_NUMBERS = [-1, 65_536, 0.5, 1e308, -1e308, Number.MAX_SAFE_INTEGER];

const CASES: readonly Case[] = [
  {
    field: "spec.loadBalancerSourceRanges",
    specs: TEXTS.map((text) => ({ loadBalancerSourceRanges: ["10.0.0.0/8", text] })),
    isRefused: true,
  },
  { field: "spec.ports", specs: [{ ports: [] }], isRefused: true },
  {
    field: "spec.ports[0].port",
    specs: [0, ...BAD_NUMBERS].map((port) => toPorts({ port })),
    isRefused: true,
  },
  {
    field: "spec.ports[0].nodePort",
    specs: BAD_NUMBERS.map((nodePort) => toPorts({ nodePort })),
    isRefused: true,
  },
  {
    field: "spec.ports[0].protocol",
    specs: TEXTS.map((protocol) => toPorts({ protocol })),
    isRefused: true,
  },
  { field: "spec.ports[1]", specs: [{ ports: [PORT, PORT] }], isRefused: true },
  {
    field: "spec.ipFamilies",
    specs: TEXTS.map((text) => ({ ipFamilies: ["IPv4", text] })),
    isRefused: true,
  },
  {
    field: "spec.ports[0].name and appProtocol",
    specs: [LONG, "", "__proto__", "\ud800"].map((text) =>
      toPorts({ name: text, appProtocol: text }),
    ),
    isRefused: false,
  },
  {
    field: "spec.sessionAffinity",
    specs: ["__proto__", LONG].map((sessionAffinity) => ({ sessionAffinity })),
    isRefused: false,
  },
  {
    field: "spec.sessionAffinityConfig",
    specs: BAD_NUMBERS.map((timeoutSeconds) => ({
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds } },
    })),
    isRefused: false,
  },
  {
    field: "spec.externalTrafficPolicy",
    specs: ["__proto__", LONG].map((externalTrafficPolicy) => ({ externalTrafficPolicy })),
    isRefused: false,
  },
  {
    field: "spec.healthCheckNodePort",
    specs: BAD_NUMBERS.map((healthCheckNodePort) => ({
      externalTrafficPolicy: "Local",
      healthCheckNodePort,
    })),
    isRefused: false,
  },
  {
    field: "spec.ipFamilyPolicy",
    specs: ["__proto__", LONG].map((ipFamilyPolicy) => ({ ipFamilyPolicy })),
    isRefused: false,
  },
];

/** Messages about the Service, none of them long. */
function listSaid({ events }: ServiceRig): string[] {
  return events.map(({ message }) => {
    checkMessage(message);
    return message;
  });
}

async function tryOne(rig: ServiceRig, spec: Partial<Spec>, { field, isRefused }: Case) {
  rig.events.length = 0;
  rig.server.add("odd", { spec });
  rig.server.add("beside");
  await rig.clock.advance(1_000);
  expect(rig.readAddress("web/beside")).toBeDefined();
  const shown = `${field} ${JSON.stringify(spec).slice(0, 80)}`;
  expect({ shown, isRefused: rig.readAddress(KEY) === undefined }).toEqual({ shown, isRefused });
  if (isRefused) expect(listSaid(rig).join("\n")).toContain(`${field}:`);
  rig.server.change(KEY, {
    spec: { ports: [PORT], ipFamilies: null, loadBalancerSourceRanges: null },
  });
  await rig.clock.advance(1_000);
  expect(rig.readAddress(KEY)).toBeDefined();
  rig.server.change(KEY, { spec: spec as JsonObject });
  await rig.clock.advance(1_000);
  expect(rig.readAddress(KEY)).toBeDefined();
  rig.server.remove(KEY);
  rig.server.remove("web/beside");
  await rig.clock.advance(1_000);
  expect(rig.server.find(KEY)).toBeUndefined();
  expect(rig.cloud.addresses.size).toBe(0);
}

describe("a Service with values that an API server refuses", () => {
  longTest.each(CASES)("in $field is told by name, and comes right", async (one) => {
    await using rig = await startServices();
    for (const spec of one.specs) await tryOne(rig, spec, one);
    expect(rig.isEnded).toBe(false);
    expect(isPolluted()).toBe(false);
  });

  const anyOf = (value: fc.Arbitrary<unknown>) => fc.option(value, { nil: undefined });
  const anyNumber = fc.oneof(
    fc.constantFrom(0, 80, ...BAD_NUMBERS),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  const anySpec = fc.record({
    type: fc.constantFrom("LoadBalancer", "LoadBalancer", "ClusterIP", "\u0000"),
    loadBalancerIP: anyOf(anyText),
    loadBalancerSourceRanges: anyOf(fc.array(anyText, { maxLength: 3 })),
    ports: anyOf(
      fc.array(
        fc.record({
          port: anyNumber,
          nodePort: anyOf(anyNumber),
          protocol: anyOf(anyText),
          name: anyOf(anyText),
          appProtocol: anyOf(anyText),
        }),
        { maxLength: 3 },
      ),
    ),
    sessionAffinity: anyOf(anyText),
    sessionAffinityConfig: anyOf(fc.record({ clientIP: fc.record({ timeoutSeconds: anyNumber }) })),
    externalTrafficPolicy: anyOf(fc.oneof(fc.constant("Local"), anyText)),
    healthCheckNodePort: anyOf(anyNumber),
    ipFamilies: anyOf(fc.array(anyText, { maxLength: 3 })),
    ipFamilyPolicy: anyOf(anyText),
  });
  const anyStatus = anyOf(
    fc.record({
      loadBalancer: fc.record({
        ingress: fc.array(
          fc.record({ ip: anyOf(anyText), hostname: anyOf(anyText), ipMode: anyOf(anyText) }),
          { maxLength: 3 },
        ),
      }),
    }),
  );

  longTest("leaves the one beside it alone, whatever it asks for, and can be deleted", async () => {
    await using rig = await startServices();
    await fc.assert(
      fc.asyncProperty(
        anySpec,
        anyStatus,
        fc.dictionary(anyText, anyText, { maxKeys: 3 }),
        async (spec, status, annotations) => {
          const input = JSON.parse(
            JSON.stringify({ spec, status, metadata: { annotations } }),
          ) as object;
          expect(findDamage(SERVICES, { ...input, metadata: { name: "odd" } })).toBeUndefined();
          rig.events.length = 0;
          rig.server.add("odd", input);
          rig.server.add("beside");
          await rig.clock.advance(1_000);
          expect(rig.readAddress("web/beside")).toBeDefined();
          listSaid(rig);
          rig.server.remove(KEY);
          rig.server.remove("web/beside");
          await rig.clock.advance(1_000);
          expect(rig.server.find(KEY)).toBeUndefined();
          expect(rig.cloud.addresses.size).toBe(0);
        },
      ),
      tries(60),
    );
    expect(isPolluted()).toBe(false);
  });
});
