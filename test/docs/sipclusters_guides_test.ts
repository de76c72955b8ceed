/**
 * The guides for SIPClusters against the program: rights, the template for HAProxy, reasons and messages.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { SipCluster } from "../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { CONDITION_WORDS } from "../../lib/controllers/sipcluster/resource/words.ts";
import { planLoadBalancers } from "../../lib/controllers/sipcluster/services/load_balancer/plan.ts";
import { LOAD_BALANCERS } from "../../lib/controllers/sipcluster/services/load_balancer/words.ts";
import { listCodeBlocks, checkQuotes } from "../support/markdown_links.ts";
import { machine } from "../support/sipcluster/machines.ts";
import { readSource } from "../support/sources.ts";

const GUIDE = await readSource("docs/guides/sipclusters/guide.md");
const TROUBLE = await readSource("docs/guides/sipclusters/troubleshooting.md");

/** What other programs and other parts of Landfall say, and commands. */
const OF_OTHERS = new RegExp(
  [
    "^422 Invalid$",
    "^MountVolume.SetUp failed$",
    "^Permission denied .publickey.$",
    "^REMOTE HOST IDENTIFICATION HAS CHANGED$",
    "^(haproxy -c|host reboot|in use)$",
    "^(kubectl|curl|ssh) ",
    ": ",
  ].join("|"),
);

describe("docs/guides/sipclusters/guide.md", () => {
  test.each([0, 1, 2])("its template gives a configuration for %i hosts", (count) => {
    const template = listCodeBlocks(GUIDE, "").find((text) => text.includes("{{ range")) ?? "";
    const cluster: SipCluster = {
      metadata: { name: "tenant", namespace: "tenant" },
      spec: { services: { loadBalancerControlPlane: [{ nodePort: 0, nodeInterfaceId: "oam" }] } },
    };
    const machines = Array.from({ length: count }, (_, at) =>
      machine(`cp-${at}`, `192.0.2.${at + 1}`),
    );
    const data = { "loadBalancerControlPlane.cfg": template };
    const templates = { loadBalancerControlPlane: data };
    const [plan] = planLoadBalancers({ cluster, machines, tolerations: [] }, { templates });
    const text: string = Object(plan?.objects[0]?.body).data["haproxy.cfg"];
    expect(text.match(/^ {2}server .*:6443 check$/gm) ?? []).toHaveLength(count);
    expect(text).toContain("\nlisten http\n  bind :6443\n");
  });

  test.each(LOAD_BALANCERS.map(({ kind, template }) => [kind, template] as const))(
    "names the ConfigMap with the template of %s",
    (kind, { configMap, key }) => {
      const row = GUIDE.split("\n").find((line) => line.startsWith(`| \`${kind}\``)) ?? "";
      expect(row).toContain(`\`${configMap}\``);
      expect(row).toContain(`\`${key}\``);
    },
  );
});

describe("docs/guides/sipclusters/troubleshooting.md", () => {
  test("has every reason of services that are not ready", () => {
    const [, section = ""] = TROUBLE.split("\n## ServicesReady is False\n");
    const shown = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, reason = ""]) => reason);
    const reasons = Object.values(CONDITION_WORDS.ServicesReady).filter(
      ({ status }) => status === "False",
    );
    expect(shown.sort()).toEqual(reasons.map(({ reason }) => reason).sort());
  });

  test("has a heading for every reason why hosts are not scheduled, except what ends by itself", () => {
    const reasons = Object.values(CONDITION_WORDS.Scheduled).map(({ reason }) => reason);
    const ends = ["HostsLabelled", "Progressing"];
    const missing = reasons.filter((reason) => !TROUBLE.includes(`\n## ${reason}\n`));
    expect(missing.toSorted()).toEqual(ends);
  });

  test("quotes only messages that the program has", async () => {
    const { count, unknown } = await checkQuotes(TROUBLE, {
      folders: ["lib/controllers/sipcluster", "lib/kube/cache", "lib/app"],
      others: OF_OTHERS,
      variables:
        /…|"ID"|\bKEY\b|\[\d+\]|ControlPlane|Worker|dex\.coreos\.com|config\.yaml| on network /,
    });
    expect(count).toBeGreaterThan(20);
    expect(unknown).toEqual([]);
  });
});
