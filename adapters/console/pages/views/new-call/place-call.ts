import type { CreatedCall } from "../../../../../src/client/index.ts";
import { client } from "../../shell/client.ts";
import { HEADSET_RATE, openHeadset } from "../calls/browser-headset.ts";
import { MicrophoneCall } from "../calls/microphone-call.ts";
import { asInput, callRequest } from "./call-form.ts";
import { audioBase64 } from "./chosen-audio.ts";
import type { FormState } from "./form-state.ts";

/** Result of sending a form. */
export interface Placed {
  readonly call: CreatedCall;
  /** False: the instance was on this call already, and no other was placed. */
  readonly isNew: boolean;
  /** The call through the microphone, if it is one. */
  readonly talking?: MicrophoneCall;
}

/** Places the call of a form without faults. @throws {RingportError} */
export async function placeCall(state: FormState): Promise<Placed> {
  const form = state.form.value;
  const file = form.type === "FIXED_AUDIO" && form.audio ? audioBase64(form.audio) : undefined;
  const { body } = callRequest(form, file);
  const placed = await client.calls.place(asInput(body), { idempotencyKey: state.idempotencyKey });
  state.sent();
  return placed;
}

/**
 * Places a call with the microphone, which is requested first: without it no phone rings.
 * @throws {RingportError}
 * @throws {NoMicrophone}
 */
export async function placeStreamCall(state: FormState): Promise<Placed> {
  const headset = await openHeadset();
  try {
    const placed = await placeCall(state);
    if (!placed.isNew) {
      headset.release();
      return placed;
    }
    const { id, target_phone: number } = placed.call;
    const stream = () => client.stream(id, { sampleRate: HEADSET_RATE, audio: "callee" });
    const talking = new MicrophoneCall({ id, number, stream, hangUp: () => client.calls.hangUp(id) }, headset);
    void talking.run();
    return { ...placed, talking };
  } catch (error) {
    headset.release();
    throw error;
  }
}
