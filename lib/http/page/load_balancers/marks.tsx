/**
 * Small pieces that both pages about load balancers show.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { LoadBalancerState, LoadBalancerView } from "../../load_balancers/views.ts";
import { KindMark } from "../marks.tsx";
import { LOAD_BALANCER_STATES } from "./state.ts";

/** A state, by shape, colour and word. */
export function LoadBalancerMark({
  state,
  isLeaving,
}: {
  readonly state: LoadBalancerState;
  readonly isLeaving: boolean;
}): JSX.Element {
  const { word, looksLike } = LOAD_BALANCER_STATES[state];
  return <KindMark word={isLeaving ? `${word}, being removed` : word} looksLike={looksLike} />;
}

/**
 * Path of the page of a load balancer.
 *
 * @param base Path to `/debug/` from the page that links
 */
export function toLoadBalancerPath(
  base: string,
  { namespace, name }: Pick<LoadBalancerView, "namespace" | "name">,
): string {
  const [first, second] = [namespace, name].map((text) => encodeURIComponent(text.toWellFormed()));
  return `${base}load-balancers/${first}/${second}`;
}
