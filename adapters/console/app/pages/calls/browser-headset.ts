import { CodedError } from "../../../../../src/base/error.ts";
import { type BrowserCallAudio, loadProcessor, startCallAudio } from "../../audio/browser-call-audio.ts";
import processorUrl from "../../audio/call-processor.ts?worklet";
import { askForMicrophone, stopMicrophone } from "../../audio/microphone.ts";
import { keepScreenOn } from "../../audio/wake-lock.ts";
import type { Headset } from "./microphone-call.ts";

/** Sample rate in both directions, Hz: the rate of networks with wideband voice. */
export const HEADSET_RATE = 16_000;

/** Reason why there is no microphone. */
export type MicrophoneFault = Extract<Awaited<ReturnType<typeof askForMicrophone>>, string>;

/** Thrown if the microphone cannot be used. */
export class NoMicrophone extends CodedError {
  override readonly name = "NoMicrophone";
  readonly code = "no_microphone";
  readonly fault: MicrophoneFault;

  constructor(fault: MicrophoneFault) {
    super(`there is no microphone: ${fault}`);
    this.fault = fault;
  }
}

/**
 * Asks for the microphone and prepares the audio thread. Call this in a click handler, so that the browser allows
 * sound.
 * @throws {NoMicrophone}
 */
export async function openHeadset(): Promise<Headset> {
  if (!isSecureContext) throw new NoMicrophone("insecure");
  const context = new AudioContext();
  let microphone: MediaStream | undefined;
  try {
    const stream = await askForMicrophone();
    if (!(stream instanceof MediaStream)) throw new NoMicrophone(stream);
    microphone = stream;
    await loadProcessor(context, processorUrl);
    return headset(context, microphone);
  } catch (error) {
    if (microphone) stopMicrophone(microphone);
    void context.close();
    throw error;
  }
}

function headset(context: AudioContext, microphone: MediaStream): Headset {
  const releaseScreen = keepScreenOn();
  let audio: BrowserCallAudio | undefined;
  return {
    start(onFrame, onLevels) {
      audio = startCallAudio({ context, callRate: HEADSET_RATE, onFrame, onLevels });
      audio.connect?.(microphone);
      return audio;
    },
    mute(muted) {
      for (const track of microphone.getAudioTracks()) track.enabled = !muted;
    },
    release() {
      audio?.stop();
      stopMicrophone(microphone);
      releaseScreen();
      void context.close();
    },
  };
}
