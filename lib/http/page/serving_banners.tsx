/**
 * What prevents this process from working on the objects of a page.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ServingView } from "../views.ts";

/** Says which CustomResourceDefinitions are missing; nothing if none are. */
export function MissingBanner({ missing }: Pick<ServingView, "missing">): JSX.Element | null {
  if (missing.length === 0) return null;
  return (
    <div class="banner" role="note">
      <b>A CustomResourceDefinition is missing.</b> Landfall waits until you install{" "}
      {missing.join(" and ")}.
    </div>
  );
}

/**
 * Says that another process works on the objects; nothing if this one does.
 *
 * @param props.unknown What a standby does not know, as the end of a sentence
 */
export function StandbyBanner({
  election,
  unknown,
}: Pick<ServingView, "election"> & { readonly unknown: string }): JSX.Element | null {
  if (election === undefined || election.isLeading) return null;
  return (
    <div class={`banner${election.holder === "" ? "" : " calm"}`} role="note">
      <b>This process is a standby.</b> It changes nothing, and does not know {unknown}. The holder
      of the Lease {election.lease} does: {election.holder || "there is none now"}.
    </div>
  );
}
