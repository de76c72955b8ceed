/**
 * The configuration of a load balancer: Landfall's own, or that of a template.
 * @module
 */
import { CONDITION_WORDS, SERVICE_FAILURE } from "../../resource/words.ts";
import type { ServicePlan } from "../types.ts";
import { formatConfig, formatHealthFrontend, type Port } from "./haproxy_config.ts";
import type { Server } from "./servers.ts";
import { renderTemplate, TemplateProblem, type Value } from "./template.ts";
import type { LoadBalancerWords } from "./words.ts";

/** `data` of a ConfigMap. */
export type TemplateData = Readonly<Record<string, string>>;

/** What a configuration is made from. */
export interface ConfigurationInput {
  readonly words: LoadBalancerWords;
  readonly ports: readonly Port[];
  readonly servers: readonly Server[];
  readonly healthPort: number;
  /** Absent: Landfall's own configuration. */
  readonly template: TemplateData | undefined;
}

type Problem = NonNullable<ServicePlan["problem"]>;

/** A configuration, or why there is none. */
export type Configuration =
  | { readonly config: string; readonly problem?: undefined }
  | { readonly config?: undefined; readonly problem: Problem };

/** A ConfigMap has at most 1 MiB; its metadata needs some of it. */
const BYTES_MAX = 1_000_000;

/**
 * Makes the configuration. The frontend for probes stands at its end, also after a template.
 *
 * A template that has an error in it gives a problem, and so nothing is changed. What Landfall accepts and HAProxy does
 * not, the init container of the Pods refuses: then the Pods that serve go on, and the Deployment makes no progress.
 */
export function configure(input: ConfigurationInput): Configuration {
  const { words, ports, servers, healthPort } = input;
  const text = renderOwn(input) ?? formatConfig({ kind: words.kind, ports, servers });
  if (typeof text !== "string") return { problem: text };
  const config = text + formatHealthFrontend(healthPort);
  const bytes = Buffer.byteLength(config);
  if (bytes <= BYTES_MAX) return { config };
  const counts = `${ports.length} ports and ${servers.length} servers`;
  const message = `The configuration of HAProxy for ${counts} has ${bytes} bytes, and may have ${BYTES_MAX}`;
  return { problem: { reason: SERVICE_FAILURE, message } };
}

/** What the template gives, with a line feed at its end; `undefined` if there is no template. */
function renderOwn({
  words,
  ports,
  servers,
  template,
}: ConfigurationInput): string | Problem | undefined {
  if (template === undefined) return undefined;
  const { configMap, key } = words.template;
  const refuse = (message: string, reason: string = SERVICE_FAILURE): Problem => ({
    reason,
    message: `ConfigMap ${configMap}: ${message}`,
  });
  const source = Object.hasOwn(template, key) ? template[key] : undefined;
  if (source === undefined || source.trim() === "") return refuse(`key ${key} has no text`);
  try {
    const text = renderTemplate(source, toData(ports, servers), EXAMPLE);
    return text.endsWith("\n") ? text : `${text}\n`;
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error;
    const { isTooLarge, line, message } = error;
    const reason = isTooLarge ? CONDITION_WORDS.ServicesReady.template.reason : SERVICE_FAILURE;
    return refuse(`${key}, line ${line}: ${message}`, reason);
  }
}

const EXAMPLE = toData([{ name: "a", port: 1 }], [{ name: "a", address: "192.0.2.1" }]);

/** The names are those of the original operator. */
function toData(ports: readonly Port[], servers: readonly Server[]): Value {
  return {
    ContainerPorts: ports.map(({ name, port }) => ({ Name: name, ContainerPort: port })),
    Servers: servers.map(({ name, address }) => ({ Name: name, IP: address })),
  };
}
