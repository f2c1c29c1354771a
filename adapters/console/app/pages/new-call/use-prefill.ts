import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { client } from "../../shell/client.ts";
import { query } from "../../shell/place.ts";
import { formOfCall, savedForm } from "./earlier-forms.ts";
import type { FormState } from "./form-state.ts";

/** Result of "call again": the whole form was filled in, or only the fields that the server has, or none. */
export type PrefillResult = "kept" | "partly" | "failed";

/** Fills in the form from the query: `?from=CALL_ID` repeats a call, `?to=` is a number, `?instance=` an instance. */
export function usePrefill(state: FormState): ReadonlySignal<PrefillResult | undefined> {
  const prefill = useSignal<PrefillResult | undefined>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    const text = (name: string): string => query.peek().get(name) ?? "";
    const number = text("to");
    const instanceId = text("instance");
    state.edit({ ...(number && { phoneNumber: number }), ...(instanceId && { instanceId }) });
    const callId = text("from");
    if (callId === "") return;
    const form = savedForm(callId);
    if (form) {
      state.edit(form);
      prefill.value = "kept";
      return;
    }
    client.calls.get(callId, { expand: ["reference", "media"], signal: controller.signal }).then(
      (call) => {
        state.edit(formOfCall(call));
        prefill.value = call.type === "DYNAMIC_STREAM" ? "kept" : "partly";
      },
      () => {
        if (!controller.signal.aborted) prefill.value = "failed";
      },
    );
    return () => controller.abort();
  }, []);
  return prefill;
}
