/** State of the microphone during a call: not requested, requested, connected, or the reason why it is unavailable. */
export type MicrophoneState = "off" | "asking" | "on" | "denied" | "missing" | "insecure";

/** Asks for the microphone. Never rejects. */
export async function askForMicrophone(): Promise<MediaStream | Exclude<MicrophoneState, "off" | "asking" | "on">> {
  if (!isSecureContext || !navigator.mediaDevices) return "insecure";
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
    });
  } catch (fault) {
    return fault instanceof DOMException && fault.name === "NotAllowedError" ? "denied" : "missing";
  }
}

/** Releases the microphone: the browser no longer shows it as in use. */
export function stopMicrophone(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}
