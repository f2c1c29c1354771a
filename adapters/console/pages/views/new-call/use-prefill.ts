import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { client } from "../../shell/client.ts";
import { query } from "../../shell/place.ts";
import { formOfCall, keptForm } from "./earlier-forms.ts";
import type { FormState } from "./form-state.ts";

/** Result of "call again": the whole form, the part that the server has, or nothing. */
export type Prefilled = "kept" | "partly" | "failed";

/**
 * Fills in the form from the address: `?from=CALL_ID` is that call again, `?to=` a number, `?instance=` an instance.
 */
export function usePrefill(state: FormState): ReadonlySignal<Prefilled | undefined> {
  const prefilled = useSignal<Prefilled | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    const text = (name: string): string => query.peek().get(name) ?? "";
    const number = text("to");
    const instanceId = text("instance");
    state.edit({ ...(number && { phoneNumber: number }), ...(instanceId && { instanceId }) });
    const earlier = text("from");
    if (earlier === "") return;
    const form = keptForm(earlier);
    if (form) {
      state.edit(form);
      prefilled.value = "kept";
      return;
    }
    client.calls.get(earlier, { expand: ["reference", "media"], signal: stop.signal }).then(
      (call) => {
        state.edit(formOfCall(call));
        prefilled.value = call.type === "DYNAMIC_STREAM" ? "kept" : "partly";
      },
      () => {
        if (!stop.signal.aborted) prefilled.value = "failed";
      },
    );
    return () => stop.abort();
  }, []);
  return prefilled;
}
