/**
 * `landfall nodes`: shows every Node with its machine, from a running process or by looking itself. Writes nothing.
 * @module
 */
import { listSections } from "../../controllers/definition.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import { systemClock } from "../../core/clock.ts";
import { escapeInvisible } from "../../core/text/printable.ts";
import { ConfigError } from "../../core/errors.ts";
import { requireProvider } from "../../providers/mod.ts";
import { formatListenAddress } from "../../core/net/listen_address.ts";
import { NODE_COLUMNS } from "../../http/node_columns.ts";
import { formatTable } from "../../http/text_table.ts";
import type { NodeView } from "../../http/views.ts";
import type { CommandContext } from "../command.ts";
import { findDebugAddress } from "../debug_process.ts";
import type { GivenFlags } from "../flags/given.ts";
import type { ParsedFlags } from "../flags/mod.ts";
import { fitLines, look, sayOwnLook, sayProcess, toJson, toUnknownName } from "../look.ts";
import { findWidth } from "../terminal.ts";
import { formatNode } from "./detail.ts";
import { lookAtNodes } from "./own_look.ts";
import { readCloudSilence, readFromProcess } from "./process.ts";

/** Flags that say where to look, so that no process needs to be asked. */
const OWN_SOURCES = ["kubeconfig", "master", "cloud-config"] as const;

/**
 * Shows Nodes.
 *
 * @returns Exit code 0
 * @throws {ConfigError} when flags or settings cannot be used
 * @throws {Error} when there is no such Node, or the Nodes cannot be read
 */
export function nodes(argv: readonly string[], context: CommandContext): Promise<number> {
  return look("nodes", argv, context, {
    read: async (parsed, quiet, signal) => {
      const { given, args } = parsed;
      const [name] = args;
      const views = await findNodes(parsed, quiet, signal);
      if (name === undefined) return formatAll(views, given, context);
      const found = views.find((node) => node.name === name);
      if (found !== undefined) return formatOne(found, given, context);
      throw toUnknownName(
        "Node",
        name,
        views.map((node) => node.name),
      );
    },
  });
}

async function findNodes(
  { settings, given, args: [name] }: ParsedFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<NodeView[]> {
  const { env, complain, providers } = context;
  const debugAddress = findDebugAddress({ settings, given }, env);
  const isOwn = !given.has("debug-address") && OWN_SOURCES.some((flag) => given.has(flag));
  let where: string | undefined;
  if (debugAddress !== undefined && !isOwn) {
    const found = await readFromProcess(debugAddress, signal);
    if (found !== undefined) {
      sayProcess(context, debugAddress);
      const silence = await readCloudSilence(debugAddress, signal);
      if (silence !== undefined) {
        const what = silence.hasAnswered
          ? "this is older, because the machines could not be read again"
          : "the machines are unknown, because they could not be read yet";
        complain(`landfall: ${what}: ${escapeInvisible(silence.problem)}\n`);
      }
      return found;
    }
    where = formatListenAddress(debugAddress);
    sayOwnLook(context, `, because no process answers at ${where}`);
  } else sayOwnLook(context);
  const sections = listSections(context.controllers ?? CONTROLLERS);
  try {
    return await lookAtNodes({ settings, name, env, providers, sections }, signal);
  } catch (error) {
    if (!(error instanceof ConfigError) || (await namesCloud({ given, settings }, context))) {
      throw error;
    }
    throw toUnnamedCloud(where);
  }
}

/** @param where No process answers there */
function toUnnamedCloud(where: string | undefined): Error {
  const process = where === undefined ? "" : `no Landfall process runs at ${where}, and `;
  return new Error(
    `${process}no flag says which cloud has the machines: start the process, give --debug-address of another ` +
      "one, or give the flags --cloud-provider and --cloud-config that landfall run has",
  );
}

/** Whether flags or the environment say which cloud to ask. */
async function namesCloud(
  { given, settings }: Pick<ParsedFlags, "given" | "settings">,
  { env, providers }: CommandContext,
): Promise<boolean> {
  if (given.has("cloud-provider") || given.has("cloud-config")) return true;
  const definition = await requireProvider(settings.cloudProvider, providers);
  return definition.settings.some(({ variable = "" }) => Boolean(env[variable]));
}

function formatAll(views: readonly NodeView[], given: GivenFlags, context: CommandContext): string {
  const output = given.text("output");
  if (output === "json") return toJson({ nodes: views });
  return views.length === 0 ? "There are no Nodes.\n" : toTable(views, output, context);
}

function formatOne(node: NodeView, given: GivenFlags, context: CommandContext): string {
  const output = given.text("output");
  if (output === "json") return toJson(node);
  if (output === "wide") return toTable([node], output, context);
  return formatNode(node, { nowMs: systemClock.now(), width: findWidth(context) });
}

/** As wide as it is with `-o wide` and in a pipe; else lines end where the terminal does. */
function toTable(views: readonly NodeView[], output: string, context: CommandContext): string {
  const isWide = output === "wide";
  const columns = NODE_COLUMNS.filter((column) => isWide || column.isWide !== true);
  const nowMs = systemClock.now();
  const table = formatTable(
    columns.map(({ title }) => title),
    views.map((node) => columns.map(({ format }) => format(node, nowMs))),
  );
  const width = isWide ? Infinity : findWidth(context);
  return fitLines(table, width);
}
