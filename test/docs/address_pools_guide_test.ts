/**
 * The guide to address pools: its settings, its Services and its words, against what Landfall does with them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { LOAD_BALANCERS } from "../../lib/cloud/pools/settings.ts";
import { ADDRESS_POOLS } from "../../lib/cli/demo/clouds/xenorchestra/address_pools.ts";
import { POOL_PROBLEMS } from "../../lib/cloud/pools/problems.ts";
import { POOL_ANNOTATIONS } from "../../lib/cloud/pools/words.ts";
import { listRights } from "../../lib/controllers/service/definition.ts";
import { listCodeBlocks } from "../support/markdown_links.ts";
import { PooledServices, toSpec } from "../support/pools/services.ts";
import { readSource } from "../support/sources.ts";

const PAGE = await readSource("docs/guides/address-pools.md");
const BLOCKS = listCodeBlocks(PAGE, "yaml");

/** The fields of a Service that the guide may use. */
interface GuideService {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly ports: readonly { readonly port: number; readonly protocol?: "TCP" | "UDP" }[];
  };
}

const DOCUMENTS: readonly unknown[] = BLOCKS.flatMap((text) =>
  parseAllDocuments(text).map((one): unknown => one.toJS()),
);

const { settings, issues } = LOAD_BALANCERS.parse(
  DOCUMENTS.flatMap((one) =>
    typeof one === "object" && one !== null && "loadBalancers" in one ? [one.loadBalancers] : [],
  )[0],
);

/** All Services of the guide, in its order. */
const SERVICES = DOCUMENTS.filter(
  (one): one is GuideService =>
    typeof one === "object" && one !== null && "kind" in one && one.kind === "Service",
);

/** The fields of a role that the guide may use. */
interface GuideRole {
  readonly kind: string;
  readonly rules: readonly {
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

function isRole(one: unknown): one is GuideRole {
  return typeof one === "object" && one !== null && "kind" in one && one.kind === "ClusterRole";
}

async function serve(): Promise<Map<string, string[]>> {
  const services = new PooledServices(settings);
  const shown = new Map<string, string[]>();
  for (const { metadata, spec } of SERVICES) {
    const { name, namespace, annotations = {} } = metadata;
    const ports = spec.ports.map(({ port, protocol = "TCP" }) => ({ port, protocol }));
    const one = services.put(toSpec(name, { namespace, annotations, ports }));
    expect((await services.settle(one)).problems).toEqual([]);
    shown.set(name, services.shown(one));
  }
  return shown;
}

describe("docs/guides/address-pools.md", () => {
  test("has settings that can be used", () => {
    expect(issues).toEqual([]);
    expect(settings.pools.length).toBeGreaterThan(2);
  });

  test("has the settings of the demo, so that its Services can be tried there", () => {
    expect(ADDRESS_POOLS).toEqual(settings);
  });

  test("has Services that get what the guide says", async () => {
    const shown = await serve();
    expect([...shown.keys()]).toEqual(["shop", "gateway", "dns-tcp", "dns-udp"]);
    expect(shown.get("gateway")).toEqual(["192.0.2.46"]);
    expect(shown.get("dns-tcp")?.[0]).toStartWith("198.51.100.1");
    expect(shown.get("dns-udp")).toEqual(shown.get("dns-tcp") ?? []);
  });

  test("counts the addresses of a subnet as Landfall does", () => {
    const [range] = settings.pools[0]?.ranges ?? [];
    expect(PAGE).toContain("`192.0.2.16/28` gives 14\n  addresses, from .17 to .30");
    expect(range && range.last - range.first + 1n).toBe(14n);
  });

  test("has every annotation", () => {
    for (const { name } of POOL_ANNOTATIONS) expect(PAGE).toContain(`\`${name}\``);
  });

  test("has the rights that the controller needs", () => {
    const roles = DOCUMENTS.filter((one) => isRole(one)).flatMap(({ rules }) => rules);
    const granted = roles.flatMap(({ resources, resourceNames = [""], verbs }) =>
      resources.flatMap((resource) =>
        resourceNames.flatMap((name) => verbs.map((verb) => `${verb} ${resource} ${name}`)),
      ),
    );
    const needed = listRights().map(({ access: { verb, resource, subresource, name = "" } }) => {
      const what = subresource === undefined ? resource : `${resource}/${subresource}`;
      return `${verb} ${what} ${name}`;
    });
    // What it watches.
    needed.push("list services ", "watch services ");
    expect(granted.toSorted()).toEqual(needed.toSorted());
  });

  test("says of every Event what to do", () => {
    const rows = [...PAGE.matchAll(/^\| `(\w+)` +\| \S.* \|$/gm)].map(([, reason]) => reason);
    expect(rows.toSorted()).toEqual(Object.keys(POOL_PROBLEMS).toSorted());
  });
});
