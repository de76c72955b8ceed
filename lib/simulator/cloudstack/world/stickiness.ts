/**
 * Stickiness of load balancers: how a network's router keeps a client at one backend, and the policies of rules.
 * @module
 */
import { toUuid } from "../../uuid.ts";

/** A parameter of a method. */
interface StickinessParameter {
  readonly name: string;
  /** Whether it stands for itself, without a value. */
  readonly isFlag: boolean;
  readonly isRequired: boolean;
}

/** A way to keep a client at one backend. */
export interface StickinessMethod {
  readonly name: string;
  readonly parameters: readonly StickinessParameter[];
}

/** A policy of a rule. */
export interface StickinessPolicy {
  readonly id: string;
  /** The load-balancer rule. A new policy replaces the one before. */
  readonly ruleId: string;
  readonly name: string;
  readonly methodName: string;
  readonly description?: string;
  /** As the server stores them: `name=value&` one after the other, with `null` for a value that was not sent. */
  readonly parameters: string;
  /** Whether a job that runs takes it away. */
  isRevoked: boolean;
}

/** What {@linkcode toStickinessPolicy} takes. */
interface StickinessPolicyOptions {
  readonly ruleId: string;
  readonly name: string;
  /** @default {"SourceBased"} */
  readonly methodName?: string;
  readonly description?: string;
  /** Values by name. @default {none} */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** What the HAProxy of a virtual router knows. Newer ones cannot do `AppCookie`, and the server offers it still. */
export const HAPROXY_METHODS: readonly StickinessMethod[] = [
  toMethod("LbCookie", ["cookie-name", "mode", "domain"], ["nocache", "indirect", "postonly"]),
  toMethod("AppCookie", ["cookie-name", "length", "holdtime", "mode"], ["request-learn", "prefix"]),
  toMethod("SourceBased", ["tablesize", "expire"], []),
];

/** A policy in force: by the client's address, unless something else is asked for. */
export function toStickinessPolicy(options: StickinessPolicyOptions): StickinessPolicy {
  const { ruleId, name, methodName = "SourceBased", description, parameters = {} } = options;
  return {
    id: toUuid(`stickiness/${ruleId}/${name}`),
    ruleId,
    name,
    methodName,
    ...(description !== undefined && { description }),
    parameters: toStoredParameters(Object.entries(parameters)),
    isRevoked: false,
  };
}

/** Parameters as the server stores them. */
export function toStoredParameters(
  entries: readonly (readonly [name: string, value: string | undefined])[],
): string {
  return entries.map(([name, value]) => `${name}=${value ?? null}&`).join("");
}

/**
 * Parameters as the server shows them. It cuts its text at every `=` and `&`, so that a value with one of them breaks
 * the rest, and empty values at the end are lost. Of a name that is there twice, it shows both values, the last first.
 */
export function readStoredParameters(text: string): Record<string, string> {
  const parts = text.replace(/[=&]+$/, "").split(/[=&]/);
  const values: Record<string, string> = {};
  for (let index = 0; index < parts.length - 1; index += 2) {
    const [name = "", value = ""] = parts.slice(index);
    const before = values[name];
    values[name] = before === undefined ? value : `${value}:${before}`;
  }
  return values;
}

/** The value of the capability `SupportedStickinessMethods`: JSON as text. */
export function toCapabilityText(methods: readonly StickinessMethod[]): string {
  const shown = methods.map((method) => ({
    methodname: method.name,
    paramlist: method.parameters.map(({ name, isFlag, isRequired }) => ({
      paramname: name,
      required: isRequired,
      isflag: isFlag,
      description: `Parameter ${name} of ${method.name}.`,
    })),
    description: `Method ${method.name}.`,
  }));
  return JSON.stringify(shown);
}

function toMethod(
  name: string,
  values: readonly string[],
  flags: readonly string[],
): StickinessMethod {
  const toParameter = (isFlag: boolean) => (parameter: string) => ({
    name: parameter,
    isFlag,
    isRequired: false,
  });
  return { name, parameters: [...values.map(toParameter(false)), ...flags.map(toParameter(true))] };
}
