import type { CreatedCall } from "../../../../../src/client/index.ts";
import { client } from "../../shell/client.ts";
import { asInput, callRequest } from "./call-body.ts";
import { audioBase64 } from "./chosen-audio.ts";
import type { FormState } from "./form-state.ts";

/** What came of a form. */
export interface Placed {
  readonly call: CreatedCall;
  /** False: the instance was on this call already, and no other was placed. */
  readonly isNew: boolean;
}

/** Places the call of a form without faults. @throws {RingportError} */
export async function placeCall(state: FormState): Promise<Placed> {
  const form = state.form.value;
  const file = form.type === "FIXED_AUDIO" && form.audio ? audioBase64(form.audio) : undefined;
  const { body } = callRequest(form, file);
  const placed = await client.calls.place(asInput(body), { idempotencyKey: state.idempotencyKey });
  if (placed.isNew) state.sent();
  return placed;
}
