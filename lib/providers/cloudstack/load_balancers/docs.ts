/**
 * What the documents say about load balancers of CloudStack.
 * @module
 */
import type { LoadBalancerDocs } from "../../../cloud/provider_definition.ts";
import { ANNOTATIONS, PROBLEM_REASONS } from "./words.ts";

/** See {@linkcode LoadBalancerDocs}. */
export const LOAD_BALANCER_DOCS: LoadBalancerDocs = {
  annotations: [
    {
      name: ANNOTATIONS.hostname,
      values: "a DNS name in lower case",
      meaning:
        "The status shows this name instead of the IP address. Pods then reach the Service through the load balancer.",
    },
    {
      name: ANNOTATIONS.proxyProtocol,
      values: "`true` or `false`",
      meaning:
        "`true`: TCP ports use the PROXY protocol, and the status says so with `ipMode: Proxy`. Your Pods must " +
        "understand it. Anything else counts as `false`.",
    },
    {
      name: ANNOTATIONS.sourceCidrs,
      values: "CIDR blocks, separated by commas",
      meaning:
        "Only these clients may connect. If the Service has source ranges, too, a client must be in both. An empty " +
        "value is refused.",
    },
    {
      name: ANNOTATIONS.stickinessMethod,
      values: "`LbCookie` or `SourceBased`",
      meaning:
        "`LbCookie`: a cookie keeps a client on one Node, for ports with `appProtocol: http`. `SourceBased`: the IP " +
        "address of the client does, for all TCP ports.",
    },
    {
      name: ANNOTATIONS.stickinessParams,
      values: "`name=value` pairs, separated by commas",
      meaning:
        "`LbCookie`: `cookie-name`, `mode` (`insert`, `rewrite`, `prefix`), `domain`, and the flags `nocache`, " +
        "`indirect`, `postonly`. `SourceBased`: `tablesize` such as `200k`, `expire` such as `30m`.",
    },
    {
      name: ANNOTATIONS.keepAddress,
      values: "`true` or `false`",
      meaning:
        "`true`: Landfall does not release the address when the Service goes, or moves to another address. It " +
        "[keeps the address](../guides/load-balancers.md#keep-an-address) for the next Service of the namespace that " +
        "names it.",
    },
    {
      name: ANNOTATIONS.keepIp,
      values: "`true` or `false`",
      meaning: "The same, as Leaseweb's provider has it.",
    },
    {
      name: ANNOTATIONS.address,
      values: "an IPv4 address",
      meaning:
        "The address of the Service. It counts before `spec.loadBalancerIP`, and means the same. Leaseweb's provider " +
        "reads it, too, and writes there the address that it took.",
    },
    {
      name: ANNOTATIONS.isAssociated,
      values: "`true`",
      meaning:
        "Says that the address of `spec.loadBalancerIP` was taken for the Service. Landfall writes it as version 1.2 " +
        "of the Apache provider does, so that this provider releases the address if you go back to it. Landfall " +
        "itself believes it only beside rules that version 1.x made.",
    },
  ],
  problems: PROBLEM_REASONS,
};
