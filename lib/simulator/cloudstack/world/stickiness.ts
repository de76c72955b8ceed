/**
 * Stickiness of load balancers: how a network's router keeps a client at one backend.
 * @module
 */
/** A parameter of a method. */
export interface StickinessParameter {
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

/** What the HAProxy of a virtual router knows. Newer ones cannot do `AppCookie`, and the server offers it still. */
export const HAPROXY_METHODS: readonly StickinessMethod[] = [
  toMethod("LbCookie", ["cookie-name", "mode", "domain"], ["nocache", "indirect", "postonly"]),
  toMethod("AppCookie", ["cookie-name", "length", "holdtime", "mode"], ["request-learn", "prefix"]),
  toMethod("SourceBased", ["tablesize", "expire"], []),
];

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
