import { impairedCall } from "../../sip-stack/media/impaired-call.ts";
import { eModel, IMPAIRMENTS } from "../../sip-stack/media/impairments.ts";
import { benchmark, row } from "../harness/benchmark.ts";

/** Audio of a call through a bad network. */
export const IMPAIRED_CALLS = benchmark({
  options: { seconds: { meaning: "length of each call", value: 600, quick: 60 } },
  async run({ seconds }) {
    return IMPAIRMENTS.map(({ title, conditions, ppm = 0, ...limits }) => {
      const call = impairedCall({ conditions, ppm, seconds });
      const { concealedMs, gaps, delayMs, mos } = call;
      return row(
        title,
        `${concealedMs.toFixed(0)} ms concealed, ${gaps.toFixed(1)} gaps, ${delayMs.toFixed(0)} ms delay, MOS ${mos.toFixed(2)} (E-model ${eModel(call).toFixed(2)})`,
        `≤ ${limits.concealedMs.toFixed(0)} ms, ≤ ${limits.gaps.toFixed(1)} gaps, ≤ ${limits.delayMs} ms`,
        concealedMs <= limits.concealedMs && gaps <= limits.gaps && delayMs <= limits.delayMs,
      );
    });
  },
});
