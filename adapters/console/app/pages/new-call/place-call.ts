import type { CreatedCall } from "../../../../../src/client/index.ts";
import { client } from "../../shell/client.ts";
import { HEADSET_RATE, openHeadset } from "../calls/browser-headset.ts";
import { MicrophoneCall } from "../calls/microphone-call.ts";
import { asInput, callRequest } from "./call-form.ts";
import { audioBase64 } from "./chosen-audio.ts";
import type { FormState } from "./form-state.ts";

/** Result of sending a form. */
export interface StartedCall {
  readonly call: CreatedCall;
  /** False if the instance was already on this call, and no new call was placed. */
  readonly isNew: boolean;
  /** Set for a call through the microphone. */
  readonly microphoneCall?: MicrophoneCall;
}

/** Places the call of a form without faults. @throws {RingportError} */
export async function placeCall(state: FormState): Promise<StartedCall> {
  const form = state.form.value;
  const file = form.type === "FIXED_AUDIO" && form.audio ? audioBase64(form.audio) : undefined;
  const { body } = callRequest(form, file);
  const result = await client.calls.place(asInput(body), { idempotencyKey: state.idempotencyKey });
  state.renewKey();
  return result;
}

/**
 * Places a call through the microphone. Requests the microphone first: without it, no phone rings.
 * @throws {RingportError}
 * @throws {NoMicrophone}
 */
export async function placeStreamCall(state: FormState): Promise<StartedCall> {
  const headset = await openHeadset();
  try {
    const result = await placeCall(state);
    if (!result.isNew) {
      headset.release();
      return result;
    }
    const { id, target_phone: number } = result.call;
    const stream = () => client.stream(id, { sampleRate: HEADSET_RATE, audio: "callee" });
    const microphoneCall = new MicrophoneCall({ id, number, stream, hangUp: () => client.calls.hangUp(id) }, headset);
    void microphoneCall.run();
    return { ...result, microphoneCall };
  } catch (error) {
    headset.release();
    throw error;
  }
}
