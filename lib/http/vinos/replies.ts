/**
 * Which machines Vinos have in the cloud, for programs, and for operators with a terminal.
 * @module
 */
import type { Context } from "hono";
import { formatConditions, formatPools, formatTable } from "../text_table.ts";
import { inPieces, showList, showView } from "../replies.ts";
import { formatSpan, toMs } from "../span.ts";
import type { ServingView } from "../views.ts";
import { toVinoKey } from "./keys.ts";
import type {
  CloudMachineView,
  CloudView,
  VinoMachineView,
  VinoSource,
  VinoView,
} from "./views.ts";

const TITLES = ["NAMESPACE", "NAME", "STATE", "READY", "WANTED", "LAST", "AGO", "REASON"];
const HOST_TITLES = ["POOL", "HOST", "ENABLED", "MACHINES"];
const STRAY_TITLES = ["MACHINE-WITHOUT-VINO", "ID", "HOST", "POWER"];
const MACHINE_TITLES = [
  "MACHINE",
  "STATE",
  "HOST",
  "POWER",
  "ADDRESS",
  "BMH",
  "USED-BY",
  "DIFFERS",
  "WAITS-FOR",
];
const PART_TITLES = ["MACHINE", "PART", "WANTED", "ACTUAL"];

/** Before the first inventory. */
const EMPTY: CloudView = { pools: [], hosts: [], machines: [] };

/** Replies with all Vinos, hosts, and machines without a Vino. */
export async function showVinos(
  context: Context,
  vinos: VinoSource,
  nowMs: number,
): Promise<Response> {
  const pieces = inPieces(vinos.list());
  const cloud = (await vinos.readCloud(context.req.raw.signal)) ?? EMPTY;
  const pools = vinos.listPools();
  const strays = listStrays(cloud);
  const toText = async (): Promise<string> => {
    const rows: string[][] = [];
    const machines: string[][] = [];
    for await (const piece of pieces) {
      rows.push(...piece.map((view) => toRow(view, nowMs)));
      machines.push(...piece.flatMap((view) => toMachineRows(view, cloud)));
    }
    const tables = [formatTable(TITLES, rows), formatTable(MACHINE_TITLES, machines)];
    return formatNotes(vinos.readServing()) + [...tables, ...formatCloud(cloud, pools)].join("\n");
  };
  const more = { hosts: cloud.hosts, machinesWithoutVino: strays, pools };
  return await showList(context, { name: "vinos", pieces, more, toText });
}

/** Replies with one Vino, and what the cloud shows of its machines. */
export async function showVino(
  context: Context,
  vinos: VinoSource,
  vino: VinoView,
  nowMs: number,
): Promise<Response> {
  const cloud = (await vinos.readCloud(context.req.raw.signal)) ?? EMPTY;
  const shown = cloud.machines.filter((one) => one.vino === toVinoKey(vino));
  return await showView(context, { ...vino, shown }, () => formatOne(vino, cloud, nowMs));
}

/** Machines that no Vino of this cluster has: of Vinos that were deleted, or of another cluster. */
export function listStrays({ machines }: CloudView): readonly CloudMachineView[] {
  return machines.filter(({ vino }) => vino === undefined);
}

/** Why a Vino is not ready, in one line; empty if it is or nothing is known. */
export function describeVino({ state, conditions, lastReconcile }: VinoView): string {
  if (state === "ready") return "";
  if (state === "failing" && lastReconcile?.error !== undefined) return lastReconcile.error;
  const wrong = conditions.find(({ type, status }) => type === "Ready" && status !== "True");
  return wrong === undefined ? "" : wrong.message || wrong.reason;
}

/** What uses a machine: the consumer of its BareMetalHost, and its SIPCluster. Empty: nothing does. */
export function describeUse({ consumer = "", cluster = "" }: VinoMachineView): string {
  const claim = cluster === "" ? "" : `SIPCluster ${cluster}`;
  return [consumer, claim].filter(Boolean).join(", ");
}

/** How far the BareMetalHost of a machine is, by Landfall and by metal3. Empty: there is none. */
export function describeHost({ bareMetalHost = "", provisioning = "" }: VinoMachineView): string {
  return [bareMetalHost, provisioning].filter(Boolean).join(", ");
}

function toRow(view: VinoView, nowMs: number): string[] {
  const { namespace, name, state, ready, wanted, lastReconcile } = view;
  return [
    namespace,
    name,
    state,
    String(ready),
    String(wanted),
    lastReconcile?.outcome ?? "",
    formatSpan(nowMs - toMs(lastReconcile?.at)),
    describeVino(view),
  ];
}

function formatNotes({ missing }: ServingView): string {
  return missing.map((kind) => `waiting for CustomResourceDefinition ${kind}\n`).join("");
}

function formatCloud(cloud: CloudView, usage: ReturnType<VinoSource["listPools"]>): string[] {
  const { pools, hosts, machines } = cloud;
  const names = new Map(pools.map(({ id, name }) => [id, name]));
  const here = Map.groupBy(machines, ({ hostId }) => hostId);
  const rows = hosts.map(({ id, name, poolId, isEnabled }) => [
    names.get(poolId) ?? poolId,
    name,
    isEnabled ? "yes" : "no",
    String(here.get(id)?.length ?? 0),
  ]);
  const strays = listStrays(cloud).map(({ name, id, hostId = "", power }) => [
    name,
    id,
    hostId,
    power,
  ]);
  return [
    formatTable(HOST_TITLES, rows),
    ...(strays.length > 0 ? [formatTable(STRAY_TITLES, strays)] : []),
    ...(usage.length > 0 ? [formatPools(usage)] : []),
  ];
}

function formatOne(view: VinoView, cloud: CloudView, nowMs: number): string {
  const parts = view.machines.flatMap(({ name, parts: all }) =>
    all.map((part) => [name, part.name, part.wanted ?? "", part.actual ?? ""]),
  );
  const shortages = view.shortages.map(({ role, missing, why }) => [role, String(missing), why]);
  return [
    formatTable(TITLES, [toRow(view, nowMs)]),
    formatTable(MACHINE_TITLES, toMachineRows(view, cloud)),
    ...(shortages.length > 0 ? [formatTable(["ROLE", "MISSING", "WHY"], shortages)] : []),
    ...(parts.length > 0 ? [formatTable(PART_TITLES, parts)] : []),
    formatConditions(view.conditions),
  ].join("\n");
}

function toMachineRows({ machines }: VinoView, cloud: CloudView): string[][] {
  const hosts = new Map(cloud.hosts.map(({ id, name }) => [id, name]));
  const shown = new Map(cloud.machines.map((one) => [one.name, one]));
  return machines.map((machine) => {
    const { name, host = "", address = "", message = "" } = machine;
    const actual = shown.get(name);
    const hostId = actual?.hostId ?? host;
    return [
      name,
      machine.isWanted ? machine.state : `${machine.state}, not wanted`,
      hosts.get(hostId) ?? hostId,
      actual?.power ?? "",
      address,
      describeHost(machine),
      describeUse(machine),
      describeDifferences(machine),
      message,
    ];
  });
}

/** `CPUs 2, not 4`: what a machine has, and what it should have. */
function describeDifferences({ parts }: VinoMachineView): string {
  return parts
    .filter(({ wanted, actual }) => wanted !== actual)
    .map(({ name, wanted = "none", actual = "none" }) => `${name} ${actual}, not ${wanted}`)
    .join("; ");
}
