/**
 * `landfall nodes`: shows every Node with its machine, from a running process or by looking itself. Writes nothing.
 * @module
 */
import { listSections } from "../../controllers/definition.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import { systemClock, withDeadline } from "../../core/clock.ts";
import { findClosest } from "../../core/text/edit_distance.ts";
import { escapeInvisible, quote, shorten } from "../../core/text/printable.ts";
import { watchSignals } from "../../host/signals.ts";
import { formatListenAddress } from "../../core/net/listen_address.ts";
import { NODE_COLUMNS } from "../../http/node_columns.ts";
import { formatTable } from "../../http/text_table.ts";
import type { NodeView } from "../../http/views.ts";
import type { CommandContext } from "../command.ts";
import { findDebugAddress, printOrWatch } from "../debug_process.ts";
import { NODES_FLAGS } from "../flags/command_flags.ts";
import type { GivenFlags } from "../flags/given.ts";
import { type ParsedFlags, parseFlags } from "../flags/mod.ts";
import { printHelp } from "../help.ts";
import { findWidth } from "../terminal.ts";
import { VERSION } from "../version.ts";
import { formatNode } from "./detail.ts";
import { lookAtNodes } from "./own_look.ts";
import { readCloudSilence, readFromProcess } from "./process.ts";

/** Longest time for everything, in milliseconds. Each request has a shorter limit. */
const LOOK_MS = 60_000;
/** Flags that say where to look, so that no process needs to be asked. */
const OWN_SOURCES = ["kubeconfig", "master", "cloud-config"] as const;

/**
 * Shows Nodes.
 *
 * @returns Exit code 0
 * @throws {ConfigError} when flags, settings or credentials cannot be used
 * @throws {Error} when there is no such Node, or the Nodes cannot be read
 */
export async function nodes(argv: readonly string[], context: CommandContext): Promise<number> {
  const registry = context.controllers ?? CONTROLLERS;
  const parsed = parseFlags(argv, registry, { flags: NODES_FLAGS, argsMax: 1 });
  if (parsed.settings.isHelpWanted) return await printHelp(context, "nodes");
  if (parsed.settings.isVersionWanted) {
    context.print(`landfall ${VERSION}\n`);
    return 0;
  }
  using stop = watchSignals();
  const { given, args } = parsed;
  const [name] = args;
  let isFirst = true;
  const read = async (): Promise<string> => {
    // Where the Nodes come from is said once.
    const quiet = isFirst ? context : { ...context, complain: () => undefined };
    isFirst = false;
    const views = await findNodes(parsed, quiet, withDeadline(stop.signal, LOOK_MS));
    if (name === undefined) return formatAll(views, given, context);
    return formatOne(requireNode(views, name), given, context);
  };
  await printOrWatch(context, { isWatching: given.bool("watch"), read }, stop.signal);
  return 0;
}

async function findNodes(
  { settings, given, args: [name] }: ParsedFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<NodeView[]> {
  const { env, complain, providers } = context;
  const debugAddress = findDebugAddress({ settings, given }, env);
  const isOwn = !given.has("debug-address") && OWN_SOURCES.some((flag) => given.has(flag));
  if (debugAddress !== undefined && !isOwn) {
    const found = await readFromProcess(debugAddress, signal);
    const where = formatListenAddress(debugAddress);
    if (found !== undefined) {
      complain(`landfall: from the Landfall process at ${where}\n`);
      const silence = await readCloudSilence(debugAddress, signal);
      if (silence !== undefined) {
        const what = silence.hasAnswered
          ? "the cloud does not answer; these are its last answers"
          : "the cloud has not answered this process yet, so the machines are unknown";
        complain(`landfall: ${what}: ${escapeInvisible(silence.problem)}\n`);
      }
      return found;
    }
    complain(`landfall: no process answers at ${where}; asking the cluster and the cloud\n`);
  }
  const sections = listSections(context.controllers ?? CONTROLLERS);
  return await lookAtNodes({ settings, name, env, providers, sections }, signal);
}

function requireNode(views: readonly NodeView[], name: string): NodeView {
  const found = views.find((node) => node.name === name);
  if (found !== undefined) return found;
  const closest = findClosest(
    name,
    views.map((node) => node.name),
  );
  const hint = closest === undefined ? "" : `; did you mean ${closest}?`;
  throw new Error(`there is no Node ${quote(name)}${hint}`);
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
  return table.replaceAll(/.+/g, (line) => shorten(line, width));
}

function toJson(view: object): string {
  return `${escapeInvisible(JSON.stringify(view, undefined, 2))}\n`;
}
