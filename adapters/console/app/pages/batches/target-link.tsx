import type { BatchTarget } from "../../../../../src/client/index.ts";
import { href } from "../../shell/place.ts";
import { spacedNumber } from "../calls/typed-number.ts";

/** A target's number, as a link to its call. */
export function TargetLink({ target: { phone_number, call_id } }: { readonly target: BatchTarget }) {
  const number = spacedNumber(phone_number);
  if (call_id === null) return <span class="number">{number}</span>;
  return (
    <a class="number" href={href(`/calls/${call_id}`)}>
      {number}
    </a>
  );
}
