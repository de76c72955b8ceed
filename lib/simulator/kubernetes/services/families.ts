/**
 * Which IP families a Service gets, by its policy and by those that the cluster has.
 * @module
 */
import { parseIp } from "../../../core/net/ip.ts";
import type { FieldProblem } from "../api_error.ts";
import { stringAt, type JsonObject } from "../patches/json.ts";
import { invalidValue } from "../schema/validation.ts";
import type { IpFamily } from "./allocation.ts";
import { specOf, textsAt } from "./service.ts";

/** The families, in order, and what is wrong with those that the Service names. */
interface Families {
  readonly families: readonly IpFamily[];
  readonly policy: string;
  readonly problems: readonly FieldProblem[];
}

/** Decides the families of a Service. Pure. */
export function chooseFamilies(service: JsonObject, cluster: readonly IpFamily[]): Families {
  const spec = specOf(service);
  const named = textsAt(spec, "ipFamilies").filter(isFamily);
  const addressed = textsAt(spec, "clusterIPs").flatMap(toFamily);
  const given = named.length > 0 ? named : addressed;
  const wish = stringAt(spec, "ipFamilyPolicy");
  const policy = wish || (given.length > 1 ? "RequireDualStack" : "SingleStack");
  const problems: FieldProblem[] = [];
  for (const [index, family] of named.entries()) {
    if (cluster.includes(family)) continue;
    const rule = `not configured on this cluster`;
    problems.push(invalidValue(`spec.ipFamilies[${index}]`, family, rule));
  }
  if (policy === "RequireDualStack" && cluster.length < 2) {
    const rule = "this cluster is not configured for dual-stack services";
    problems.push(invalidValue("spec.ipFamilyPolicy", policy, rule));
  }
  if (policy === "SingleStack" && given.length > 1) {
    const rule = "may only hold one value when the policy is SingleStack";
    problems.push(invalidValue("spec.ipFamilies", given, rule));
  }
  const first = given.length > 0 ? given : cluster.slice(0, 1);
  const rest = policy === "SingleStack" ? [] : cluster.filter((family) => !first.includes(family));
  return { families: [...first, ...rest], policy, problems };
}

function isFamily(text: string): text is IpFamily {
  return text === "IPv4" || text === "IPv6";
}

function toFamily(address: string): readonly IpFamily[] {
  const ip = parseIp(address);
  return ip === undefined ? [] : [ip.family === 4 ? "IPv4" : "IPv6"];
}
