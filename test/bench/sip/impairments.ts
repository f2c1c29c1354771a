import { impairedCall } from "../../sip-stack/media/impaired-call.ts";
import { eModel, IMPAIRMENTS } from "../../sip-stack/media/impairments.ts";
import type { Benchmark } from "../benchmark.ts";

/** Listening quality of a call over a bad network. */
export const IMPAIRED_CALLS: Benchmark = {
  title: "Audio through a bad network",
  method: `G.711 in packets of 20 ms, sent through a network that loses, delays, doubles and overtakes (\`test/support/sip/network-impairment.ts\`), into a whole RTP
session on a clock of its own: no socket and no machine are in it, and the same seed gives the same figures. The sender says noise, which is like itself nowhere else; what of it is
found in what was heard was heard, the rest was made up. Per minute: ms made up, and stretches of them longer than 40 ms. The delay is from the sending of a
packet to its being heard, without the network's shortest way, the median. MOS as the session reports it, beside the E-model (ITU-T G.107) of what the network did and what was waited.`,
  remarks: `A loss costs more than its packet: the fades at both ends take 5 ms each. While audio stalls nothing is lost, so that neither MOS knows of the silence.`,
  options: { seconds: { meaning: "length of each call", value: 600, quick: 60 } },
  async run({ seconds = 60 }) {
    return IMPAIRMENTS.map(({ title, conditions, ppm = 0, ...most }) => {
      const call = impairedCall({ conditions, ppm, seconds });
      const model = eModel(call);
      const { concealedMs, gaps, delayMs, mos } = call;
      return {
        what: title,
        measured: `${concealedMs.toFixed(0)} ms made up, ${gaps.toFixed(1)} gaps, ${delayMs.toFixed(0)} ms later, MOS ${mos.toFixed(2)} (E-model ${model.toFixed(2)})`,
        wanted: `≤ ${most.concealedMs.toFixed(0)} ms, ≤ ${most.gaps.toFixed(1)} gaps, ≤ ${most.delayMs} ms`,
        reached: concealedMs <= most.concealedMs && gaps <= most.gaps && delayMs <= most.delayMs,
      };
    });
  },
};
