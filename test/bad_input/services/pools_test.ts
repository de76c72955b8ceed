/**
 * Services with hostile values that ask for addresses of pools.
 * @module
 */
import { describe, expect } from "bun:test";
import fc from "fast-check";
import {
  ADDRESS_POOL,
  KUBE_VIP_IGNORE,
  KUBE_VIP_IPS,
  LOAD_BALANCER_IPS,
  SHARED_ADDRESS,
} from "../../../lib/cloud/pools/words.ts";
import { LOAD_BALANCERS, type LoadBalancerSettings } from "../../../lib/cloud/pools/settings.ts";
import type { JsonObject } from "../../../lib/simulator/kubernetes/patches/json.ts";
import { tries } from "../../support/extent.ts";
import { anyText, HOSTILE_TEXTS, isPolluted } from "../../support/net/hostile.ts";
import { type ServiceRig, startServices } from "../../support/services/service_rig.ts";
import { checkMessage, pickValues } from "./stage.ts";
import { longTest } from "../../support/long_tests.ts";

const RECORD = "landfall.dev/load-balancer";
const KEY = "web/odd";
const FIRST = "web/first";
const POOL = { name: "a", addresses: ["192.0.2.10-192.0.2.13"], shareable: true };
const ADDRESS = /^192\.0\.2\.1[0-3]$/;

function toSettings(announce?: string): LoadBalancerSettings {
  const { settings, issues } = LOAD_BALANCERS.parse({
    pools: [POOL],
    ...(announce && { announce }),
  });
  if (issues.length > 0) throw new Error(issues.map(({ message }) => message).join("; "));
  return settings;
}

interface Case {
  readonly annotation: string;
  readonly announce?: string;
  /** Whether the value keeps the Service from an address, and a warning names the annotation or the value. */
  readonly isRefused: boolean;
  readonly told?: RegExp;
}
const CASES: readonly Case[] = [
  { annotation: ADDRESS_POOL, isRefused: true, told: /pool/ },
  { annotation: LOAD_BALANCER_IPS, isRefused: true, told: /landfall\.dev\/load-balancer-ips/ },
  { annotation: SHARED_ADDRESS, isRefused: true, told: /landfall\.dev\/shared-address/ },
  { annotation: KUBE_VIP_IPS, announce: "kubeVip", isRefused: true, told: /kube-vip\.io/ },
  { annotation: RECORD, isRefused: false },
];
/** Keys that a Service may have. */
const isKey = (text: string): boolean =>
  /^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/.test(text.trim());

function listSaid({ events }: ServiceRig): string {
  for (const { message } of events) {
    checkMessage(message);
  }
  return events.map(({ message }) => message).join("\n");
}

/** What others have stays, and no address is given twice. */
function checkOthers(rig: ServiceRig, first: string): void {
  expect(rig.readAddress(FIRST)).toBe(first);
  const shown = [FIRST, KEY, "web/beside"].flatMap((key) => rig.readAddress(key) ?? []);
  expect(new Set(shown).size).toBe(shown.length);
}

async function tryOdd(rig: ServiceRig, first: string, input: object): Promise<void> {
  rig.events.length = 0;
  rig.server.add("odd", input);
  rig.server.add("beside");
  await rig.clock.advance(10_000);
  expect(rig.readAddress("web/beside")).toMatch(ADDRESS);
  checkOthers(rig, first);
  listSaid(rig);
}

async function endOdd(rig: ServiceRig): Promise<void> {
  rig.server.remove(KEY);
  rig.server.remove("web/beside");
  await rig.clock.advance(10_000);
  expect(rig.server.find(KEY)).toBeUndefined();
  expect(rig.server.find("web/beside")).toBeUndefined();
}

/** Adds a Service that has its address before. @returns the address */
async function addFirst(rig: ServiceRig): Promise<string> {
  rig.server.add("first");
  await rig.clock.advance(1_000);
  const first = rig.readAddress(FIRST);
  if (first === undefined) throw new Error("the first Service has no address");
  return first;
}

describe("a Service with hostile values and address pools", () => {
  longTest.each(CASES)("in $annotation is told by name, and comes right", async (one) => {
    const { annotation, announce, isRefused, told } = one;
    await using rig = await startServices({ pools: toSettings(announce) });
    const first = await addFirst(rig);
    for (const value of [...HOSTILE_TEXTS, ...pickValues(1), first]) {
      await tryOdd(rig, first, { metadata: { annotations: { [annotation]: value } } });
      const isIgnored = value.trim() === "" || (annotation === SHARED_ADDRESS && isKey(value));
      const shown = value.slice(0, 80);
      const refused = isRefused && !isIgnored;
      // Landfall takes an address of another Service out of this annotation, and gives one of its own.
      const waits = refused && !(annotation === KUBE_VIP_IPS && value === first);
      const isWaiting = rig.readAddress(KEY) === undefined;
      expect({ shown, waits: isWaiting }).toEqual({ shown, waits });
      // It asks kube-vip for an address of a DHCP server.
      const isDhcp = annotation === KUBE_VIP_IPS && value === "0.0.0.0";
      if (refused && told && !isDhcp) expect(listSaid(rig)).toMatch(told);
      rig.server.change(KEY, { metadata: { annotations: { [annotation]: null } } });
      await rig.clock.advance(1_000);
      expect(rig.readAddress(KEY)).toMatch(ADDRESS);
      await endOdd(rig);
    }
    expect(isPolluted()).toBe(false);
  });

  longTest("in spec.loadBalancerIP is told by name, and comes right", async () => {
    await using rig = await startServices({ pools: toSettings() });
    const first = await addFirst(rig);
    for (const loadBalancerIP of [...HOSTILE_TEXTS, ...pickValues(1), first]) {
      await tryOdd(rig, first, { spec: { loadBalancerIP } });
      const refused = loadBalancerIP.trim() !== "";
      const shown = loadBalancerIP.slice(0, 80);
      expect({ shown, refused: rig.readAddress(KEY) === undefined }).toEqual({ shown, refused });
      if (refused) expect(listSaid(rig)).toMatch(/spec\.loadBalancerIP/);
      rig.server.change(KEY, { spec: { loadBalancerIP: null } });
      await rig.clock.advance(1_000);
      expect(rig.readAddress(KEY)).toMatch(ADDRESS);
      await endOdd(rig);
    }
  });

  longTest("in several places takes nothing from others, and can be deleted", async () => {
    await using rig = await startServices({ pools: toSettings("kubeVip") });
    const first = await addFirst(rig);
    const anyAddress = fc.oneof(anyText, fc.constantFrom(first, "192.0.2.12", `${first},::1`));
    const forged = anyAddress.map((text) => JSON.stringify({ v: 1, addresses: [text], pool: "a" }));
    const annotations = fc.record(
      {
        [ADDRESS_POOL]: fc.oneof(anyText, fc.constant("a")),
        [LOAD_BALANCER_IPS]: anyAddress,
        [SHARED_ADDRESS]: anyText,
        [KUBE_VIP_IPS]: anyAddress,
        [KUBE_VIP_IGNORE]: fc.constantFrom("true", "false"),
        "metallb.io/loadBalancerIPs": anyAddress,
        "metallb.io/address-pool": fc.oneof(anyText, fc.constant("a")),
        "metallb.universe.tf/allow-shared-ip": anyText,
        [RECORD]: fc.oneof(anyText, forged),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(annotations, fc.option(anyAddress), async (all, loadBalancerIP) => {
        const spec = loadBalancerIP === null ? {} : { loadBalancerIP };
        await tryOdd(rig, first, { metadata: { annotations: all }, spec });
        const clean = Object.fromEntries(Object.keys(all).map((key) => [key, null]));
        const good: JsonObject = {
          metadata: { annotations: clean },
          spec: { loadBalancerIP: null },
        };
        rig.server.change(KEY, good);
        await rig.clock.advance(10_000);
        expect(rig.readAddress(KEY)).toMatch(ADDRESS);
        checkOthers(rig, first);
        await endOdd(rig);
      }),
      tries(60),
    );
    expect(isPolluted()).toBe(false);
  });
});
