import type { BatchTarget } from "../../../../../src/client/index.ts";
import { targetFaultPlace, targetFaultText } from "./target-fault-texts.ts";

/** A target's faults, each with its place. */
export function TargetFaults({ faults }: Pick<BatchTarget, "faults">) {
  return (
    <>
      {faults.map((fault) => {
        const place = targetFaultPlace(fault);
        return (
          <p key={fault.column + fault.detail} class="small">
            {place !== "" && <code>{place}: </code>}
            {targetFaultText(fault)}
          </p>
        );
      })}
    </>
  );
}
