/**
 * A real Helm and a real kubectl, at work on deploy/.
 * @module
 */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { IMAGE } from "../../../deploy/names.ts";
import { ROOT } from "../sources.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 60_000;
const BUFFER = 16 * 1024 * 1024;
/** Where tools put what they keep: not into the folder that the tests run in. */
const HOME = join(tmpdir(), "landfall-tools-home");

/** The chart's folder. */
export const CHART: string = join(ROOT, "deploy/chart");

/** As the manifests name and place everything. */
export const RELEASE = { name: "landfall", namespace: "kube-system" } as const;

/** An object of Kubernetes, as far as any of them is alike. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** How a tool ended. */
export interface ToolResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a tool to its end, whatever that is. */
export async function runTool(tool: string, args: readonly string[]): Promise<ToolResult> {
  try {
    const options = {
      timeout: TIMEOUT_MS,
      maxBuffer: BUFFER,
      env: { PATH: process.env["PATH"], HOME },
    };
    return { code: 0, ...(await run(tool, [...args], options)) };
  } catch (error) {
    const { code, stdout, stderr } = error as Partial<ToolResult>;
    return { code: Number(code) || 1, stdout: stdout ?? "", stderr: stderr ?? String(error) };
  }
}

/** Runs a tool that must succeed. @throws Error with what it said */
export async function requireTool(tool: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runTool(tool, args);
  if (code !== 0) throw new Error(`${tool} ${args.join(" ")}:\n${stdout}${stderr}`);
  return stdout;
}

/**
 * Renders what a chart installs, without its hooks.
 *
 * @param values As in a values file
 */
export async function renderChart(
  helm: string,
  values: object = {},
  release: { readonly name: string; readonly namespace: string } = RELEASE,
  chart: string = CHART,
  more: readonly string[] = [],
): Promise<ToolResult> {
  return await renderAll(helm, values, ["--no-hooks", ...more], release, chart);
}

/** Renders the objects of the chart's hook, and nothing else. */
export async function renderHook(helm: string, values: object = {}): Promise<Manifest[]> {
  const { stdout } = await renderAll(helm, values, []);
  return readManifests(stdout).filter(
    ({ metadata }) => metadata.annotations?.["helm.sh/hook"] !== undefined,
  );
}

async function renderAll(
  helm: string,
  values: object,
  more: readonly string[],
  { name, namespace }: { readonly name: string; readonly namespace: string } = RELEASE,
  chart: string = CHART,
): Promise<ToolResult> {
  return await withFile(JSON.stringify(withImage(values)), (file) => {
    const place = ["--namespace", namespace, "--kube-version", "1.35.0"];
    return runTool(helm, ["template", name, chart, ...place, "--values", file, ...more]);
  });
}

/** Values with the image of the manifests, unless they name one. */
function withImage(values: { readonly image?: object }): object {
  return { ...values, image: { repository: IMAGE.repository, ...values.image } };
}

/** Renders what Helm says after an installation. */
export async function renderNotes(helm: string, values: object): Promise<string> {
  const text = await withFile(JSON.stringify(withImage(values)), (file) => {
    const { name, namespace } = RELEASE;
    const more = ["--dry-run=client", "--namespace", namespace, "--values", file];
    return requireTool(helm, ["install", name, CHART, ...more]);
  });
  return text.split("\nNOTES:\n")[1] ?? "";
}

/** The objects in a text of YAML documents. */
export function readManifests(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((one): Manifest | null => one.toJS())
    .filter((one) => one !== null);
}

/** Writes a text into a file for as long as `use` runs. */
export async function withFile<T>(text: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-deploy-"));
  try {
    const file = join(folder, "file.yaml");
    await writeFile(file, text);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Copies the chart for as long as `use` runs. @param files What is different in it, by its path below deploy/ */
export async function withChart(
  files: ReadonlyMap<string, string>,
  use: (chart: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-chart-"));
  try {
    const chart = join(folder, "chart");
    await cp(CHART, chart, { recursive: true });
    for (const [path, text] of files) {
      if (!path.startsWith("chart/")) continue;
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    await use(chart);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
