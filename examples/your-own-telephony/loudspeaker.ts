import type { Network } from "ringport";
import { loudspeakerLine } from "./line.ts";

/** Called with each frame that a callee hears, 20 ms at 16 kHz; the array is only valid until it returns. */
export type Play = (callId: string, frame: Int16Array) => void;

/** A custom telephone network: whatever number is called, the loudspeaker answers. */
export function loudspeaker(play: Play): Network {
  const lines = new Map<string, ReturnType<typeof loudspeakerLine>>();
  return {
    name: "loudspeaker",
    capabilities: { dtmf: "event", inboundAudioCertain: false },
    async open({ id }, host) {
      const line = loudspeakerLine(host, () => `${host.publicUrl()}/loudspeaker/${id}`, play);
      lines.set(id, line);
      return line;
    },
    pages: {
      prefix: "loudspeaker",
      // The page behind the address in the QR code: opening it links the number.
      async page(path) {
        const line = lines.get(path.slice(1));
        await line?.accept();
        return line && { status: 200, headers: { "content-type": "text/plain" }, body: "The number is linked.\n" };
      },
      artefact: async () => undefined,
    },
    close: async () => lines.clear(),
  };
}
