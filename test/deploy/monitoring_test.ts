import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { listMetrics } from "../../docs/generator/metrics_page.ts";
import { ALERT_CASES, type Series } from "../support/deploy/alert_cases.ts";
import { readExtent } from "../support/extent.ts";
import { listAnchors } from "../support/markdown_links.ts";
import {
  fillVariables,
  readDashboard,
  readPrometheusRule,
  readRules,
  RULES_PATH,
  skipsWithout,
  readPromql,
} from "../support/deploy/monitoring.ts";
import { readSource, ROOT } from "../support/sources.ts";

const run = promisify(execFile);
const isSkipped = skipsWithout("promtool");
const rules = await readRules();
const alerts = rules.groups.flatMap((group) => group.rules);
const dashboard = await readDashboard();
const expressions = dashboard.panels.flatMap((panel) => panel.targets ?? []).map((one) => one.expr);

/** Names of series: those of metrics, and what histograms make of theirs. */
const known = new Set(
  listMetrics().flatMap(({ name, type }) =>
    type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => `${name}${end}`) : [name],
  ),
);

describe("readPromql()", () => {
  test.each([
    ["up", ["up"], []],
    ['sum by (a) (rate(x_total{b="c{d}",e!~"f"}[5m])) > 1e3', ["x_total"], ["b", "e", "a"]],
    ["x and on (job, i) y unless ignoring(z) w offset 5m", ["x", "y", "w"], ["job", "i", "z"]],
    ["histogram_quantile(0.99, x_bucket) - time()", ["x_bucket"], []],
  ])("reads %s", (expression, metrics, labels) => {
    const words = readPromql(expression);
    expect(words.metrics).toEqual(metrics);
    expect([...words.labels].sort()).toEqual([...labels].sort());
  });
});

describe("deploy/monitoring alerts", () => {
  test("use only metrics that there are", () => {
    const used = alerts.flatMap(({ expr }) => readPromql(expr).metrics);
    expect(used.length).toBeGreaterThan(10);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });

  test("say what is wrong, what to do, and where to read on", async () => {
    const anchors = new Set(listAnchors(await readSource("docs/guides/troubleshooting.md")));
    for (const { alert, labels, annotations } of alerts) {
      expect(labels["severity"], alert).toMatch(/^(critical|warning)$/);
      expect(annotations["summary"]?.length, alert).toBeGreaterThan(20);
      expect(annotations["description"]?.length, alert).toBeGreaterThan(60);
      const [page, anchor = ""] = annotations["runbook_url"]?.split("#") ?? [];
      expect(page, alert).toBe("https://landfall.invalid/docs/guides/troubleshooting.md");
      expect(anchors.has(anchor), `${alert}: #${anchor}`).toBe(true);
    }
  });

  test("are the same for Prometheus and for its operator", async () => {
    expect((await readPrometheusRule()).spec).toEqual(rules);
  });

  test("each have a case here, and each a line in docs/guides/metrics-and-alerts.md", async () => {
    const cases = new Set(ALERT_CASES.map(({ alert }) => alert));
    const names = alerts.map(({ alert }) => alert);
    expect(names.toSorted()).toEqual([...cases].toSorted());
    const guide = await readSource("docs/guides/metrics-and-alerts.md");
    expect(names.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
  });
});

describe.skipIf(isSkipped)("deploy/monitoring under promtool", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-monitoring-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("rules are right", async () => {
    const { stdout } = await run("promtool", ["check", "rules", join(ROOT, RULES_PATH)]);
    expect(stdout).toContain(`${alerts.length} rules found`);
  });

  test("expressions of the dashboard are right", async () => {
    const path = join(folder, "dashboard.json");
    const recorded = expressions.map((expr, at) => ({
      record: `panel_${at}`,
      expr: fillVariables(expr),
    }));
    await writeFile(path, JSON.stringify({ groups: [{ name: "dashboard", rules: recorded }] }));
    const { stdout } = await run("promtool", ["check", "rules", path]);
    expect(stdout).toContain(`${expressions.length} rules found`);
  });

  // It takes as long as the rest of this folder, and only a change of the rules can break it.
  test.skipIf(readExtent() !== "all")(
    "alerts fire when they should, and only then",
    async () => {
      const tests = ALERT_CASES.flatMap((one) => [
        toPromtoolTest(one, one.fires, one.count ?? 1),
        ...one.quiet.map((series) => toPromtoolTest(one, series, 0)),
      ]);
      const path = join(folder, "alerts_test.json");
      await writeFile(path, JSON.stringify({ rule_files: [join(ROOT, RULES_PATH)], tests }));
      const said = await run("promtool", ["test", "rules", path]).then(
        () => "",
        (error: { readonly stderr?: string; readonly stdout?: string }) =>
          `${error.stdout ?? ""}${error.stderr ?? ""}`,
      );
      expect(said).toBe("");
    },
    60_000,
  );
});

describe("deploy/monitoring/grafana-dashboard.json", () => {
  test("uses only metrics that there are", () => {
    const used = expressions.flatMap((expr) => readPromql(expr).metrics);
    expect(used.length).toBeGreaterThan(20);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });

  test("asks the chosen source and job only", () => {
    const names = dashboard.templating.list.map(({ name }) => name);
    expect(names).toEqual(["datasource", "job"]);
    for (const { title, type, datasource } of dashboard.panels) {
      if (type !== "row") expect(datasource?.uid, title).toBe("${datasource}");
    }
    expect(expressions.filter((expr) => !expr.includes('job=~"$job"'))).toEqual([]);
  });

  test("has panels that do not overlap, each with an ID of its own", () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });

  test("names in a legend only labels that the expression leaves", () => {
    const targets = dashboard.panels.flatMap((panel) => panel.targets ?? []);
    for (const { expr, legendFormat } of targets) {
      const wanted = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
      const kept = /^(?:sum|max|min)\b/.test(expr)
        ? readPromql(expr).labels
        : ["instance", ...wanted];
      expect(
        wanted.filter((label) => !kept.includes(label)),
        expr,
      ).toEqual([]);
    }
  });
});

function toPromtoolTest(
  { alert, minutes }: { readonly alert: string; readonly minutes: number },
  series: Series,
  count: number,
): object {
  return {
    name: `${alert}: ${count}`,
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
        eval_time: `${minutes}m`,
        exp_samples: count === 0 ? [] : [{ labels: "{}", value: count }],
      },
    ],
  };
}
