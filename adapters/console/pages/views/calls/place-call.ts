import type { CreatedCall } from "../../../../../src/client/index.ts";
import { client } from "../../shell/client.ts";
import { askForMicrophone, stopMicrophone } from "../phone/microphone.ts";
import { asInput, callRequest } from "./call-body.ts";
import { audioBase64 } from "./chosen-audio.ts";
import type { FormState } from "./form-state.ts";
import { MicrophoneCall } from "./microphone-call.ts";

/** What came of a form. */
export interface Placed {
  readonly call: CreatedCall;
  /** False: the instance was on this call already, and no other was placed. */
  readonly isNew: boolean;
  /** The call through the microphone, if it is one. */
  readonly talking?: MicrophoneCall;
}

/** Why there is no microphone. */
export type MicrophoneFault = Extract<Awaited<ReturnType<typeof askForMicrophone>>, string>;

/** A call through the microphone was not placed, because there is none. */
export class NoMicrophone extends Error {
  override readonly name = "NoMicrophone";
  readonly fault: MicrophoneFault;

  constructor(fault: MicrophoneFault) {
    super(`there is no microphone: ${fault}`);
    this.fault = fault;
  }
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
 * Places a call through the microphone, which is asked for first: without it nobody's phone rings.
 * @throws {RingportError}
 * @throws {NoMicrophone}
 */
export async function placeStreamCall(state: FormState): Promise<Placed> {
  // Made within the click, so that the browser lets it play.
  const context = new AudioContext();
  let microphone: MediaStream | undefined;
  let talking: MicrophoneCall | undefined;
  try {
    const answer = await askForMicrophone();
    if (!(answer instanceof MediaStream)) throw new NoMicrophone(answer);
    microphone = answer;
    const placed = await placeCall(state);
    if (!placed.isNew) return placed;
    talking = new MicrophoneCall(placed.call, microphone, context);
    void talking.run();
    return { ...placed, talking };
  } finally {
    if (talking === undefined) {
      if (microphone) stopMicrophone(microphone);
      void context.close();
    }
  }
}
