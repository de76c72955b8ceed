/**
 * `landfall services`, `landfall sipclusters`, `landfall vinos`: what a running process knows about the objects of a
 * kind. Writes nothing.
 * @module
 */
import * as v from "valibot";
import type { ControllerDefinition } from "../controllers/definition.ts";
import { CONTROLLERS } from "../controllers/mod.ts";
import { formatListenAddress, type ListenAddress } from "../core/net/listen_address.ts";
import { escapeInvisible, quote } from "../core/text/printable.ts";
import { parseJson } from "../core/text/values.ts";
import type { CommandContext } from "./command.ts";
import { askProcess, findDebugAddress } from "./debug_process.ts";
import { fitLines, look, sayProcess, toUnknownName } from "./look.ts";
import { findWidth } from "./terminal.ts";

/** A kind that a command shows. */
interface ShownKind {
  /** The command. */
  readonly command: string;
  /** Of its pages, below `/debug/`. */
  readonly path: string;
  /** Name of the list in JSON. */
  readonly list: string;
  /** What one is called. */
  readonly noun: string;
  /** The controller that must run. */
  readonly controller: string;
  /** What kubectl calls them. */
  readonly resource: string;
}

const KINDS: readonly ShownKind[] = [
  {
    command: "services",
    path: "load-balancers",
    list: "loadBalancers",
    noun: "Service with a load balancer of Landfall",
    controller: "service",
    resource: "services",
  },
  {
    command: "sipclusters",
    path: "sipclusters",
    list: "sipclusters",
    noun: "SIPCluster",
    controller: "sipcluster",
    resource: "sipclusters",
  },
  {
    command: "vinos",
    path: "vinos",
    list: "vinos",
    noun: "Vino",
    controller: "vino",
    resource: "vinoes",
  },
];

const NAMES = v.array(v.looseObject({ namespace: v.string(), name: v.string() }));

/**
 * Shows the objects of a kind, or one of them.
 *
 * @returns Exit code 0
 * @throws {ConfigError} when the flags cannot be used
 * @throws {Error} when no process answers, or there is no such object
 */
export async function showObjects(
  command: string,
  argv: readonly string[],
  context: CommandContext,
): Promise<number> {
  const kind = KINDS.find((one) => one.command === command);
  if (kind === undefined) throw new Error(`there is no kind for ${quote(command)}`);
  return await look(command, argv, context, {
    read: async ({ settings, given, args: [name] }, quiet, signal) => {
      const address = findDebugAddress({ settings, given }, context.env);
      if (address === undefined) {
        throw new Error("--debug-address is empty, and only a running process knows this");
      }
      const format = given.text("output");
      const below = name === undefined ? "" : `/${await findKey(kind, address, name, signal)}`;
      const path = `/debug/${kind.path}${below}?format=${format === "json" ? "json" : "text"}`;
      const text = await ask(kind, { address, path }, signal);
      sayProcess(quiet, address);
      // It comes from another process: no character of it may move the cursor.
      if (format === "json") return escapeInvisible(text);
      return fitLines(text, format === "wide" ? Infinity : findWidth(context)).replaceAll(
        /[^\n\P{C}]/gu,
        "?",
      );
    },
  });
}

async function ask(
  { noun, resource, controller }: ShownKind,
  { address, path }: { readonly address: ListenAddress; readonly path: string },
  signal: AbortSignal,
): Promise<string> {
  const where = formatListenAddress(address);
  const answer = await askProcess(address, { path, what: `each ${noun}` }, signal);
  if (answer === undefined) {
    throw new Error(
      `no Landfall process answers at ${where}. Give --debug-address, or run ` +
        `kubectl -n kube-system port-forward ${findWorkload(controller)} 10260. ` +
        `kubectl get -A ${resource} shows the status without Landfall`,
    );
  }
  if (answer.status === 404) {
    const standIn = findController(controller)?.standIn;
    const advice =
      standIn === undefined
        ? "see its --controllers"
        : `${standIn.advice}, and restart Landfall; if --controllers is not the default, name ` +
          `${controller} in it first`;
    throw new Error(`the process at ${where} does not run the controller ${controller}: ${advice}`);
  }
  if (answer.status !== 200) {
    throw new Error(`cannot read each ${noun} from ${where}: status ${answer.status}`);
  }
  return answer.body;
}

/** What its guide installs. */
function findWorkload(controller: string): string {
  const folder = findController(controller)?.folder;
  return folder === undefined ? "daemonset/landfall" : `deployment/landfall-${folder}`;
}

function findController(controller: string): ControllerDefinition | undefined {
  return CONTROLLERS.find(({ name }) => name === controller);
}

/** The namespace and name of an object, as a path. @param name `name` or `namespace/name` */
async function findKey(
  kind: ShownKind,
  address: ListenAddress,
  name: string,
  signal: AbortSignal,
): Promise<string> {
  const body = await ask(kind, { address, path: `/debug/${kind.path}` }, signal);
  const parsed = v.safeParse(v.looseObject({ [kind.list]: NAMES }), parseJson(body));
  if (!parsed.success) {
    throw new Error(`${formatListenAddress(address)} is not Landfall, or another version of it`);
  }
  const keys = (parsed.output[kind.list] ?? []).map((one) => `${one.namespace}/${one.name}`);
  const found = keys.filter((key) => key === name || key.endsWith(`/${name}`));
  const [key, ...others] = found;
  if (key !== undefined && others.length === 0) {
    return key.split("/").map(encodeURIComponent).join("/");
  }
  if (key !== undefined) {
    throw new Error(`several have the name ${quote(name)}: ${found.join(", ")}`);
  }
  throw toUnknownName(kind.noun, name, name.includes("/") ? keys : keys.map(toName));
}

function toName(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}
