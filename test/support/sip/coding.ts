import type { Codec } from "../../../adapters/sip-stack/media/codecs/codec.ts";
import { createG711 } from "../../../adapters/sip-stack/media/codecs/g711.ts";
import { createG722 } from "../../../adapters/sip-stack/media/codecs/g722.ts";

/** A remote end's codec for whole packets in order; each direction of a stream has its own. */
export interface Coding {
  /** Number of samples per byte; a byte is a timestamp unit for each of these codecs. */
  readonly samplesPerByte: number;
  encode(samples: Int16Array): Buffer;
  decode(payload: Uint8Array): Int16Array;
}

export function codingOf(name: "PCMU" | "PCMA" | "G722"): Coding {
  const codec: Codec = name === "G722" ? createG722() : createG711(name);
  const samplesPerByte = codec.sampleRate / codec.clockRate;
  return {
    samplesPerByte,
    encode(samples) {
      const payload = Buffer.alloc(samples.length / samplesPerByte);
      codec.encode(samples, payload, 0);
      return payload;
    },
    decode(payload) {
      const samples = new Int16Array(payload.length * samplesPerByte);
      return samples.subarray(0, codec.decode(payload, 0, payload.length, samples, 0));
    },
  };
}
