import { progress } from "../benchmark.ts";
import type { Measurable } from "../under-runtime.ts";
import { BareLoop } from "./bare-loop.ts";
import { CallsLoad } from "./calls-load.ts";
import { maxHeld } from "./load.ts";
import { perPacket, rowsOf } from "./rows.ts";

const WANTED = 0.8;

/** Maximum calls with G.711, and maximum flows of the bare loop. */
export const measure: Measurable["measure"] = async ({ from = 0, seconds = 0, echo: port = 0 }) => {
  progress("the bare loop");
  const bare = await maxHeld(() => new BareLoop(port), from, seconds);
  progress("calls");
  const calls = await maxHeld(() => new CallsLoad({ port, codec: "PCMU" }), from, seconds);
  const ratio = calls.good ? calls.count / bare.count : 0;
  return [
    {
      what: "calls at once, against the bare loop",
      measured: `${ratio.toFixed(2)} (${calls.count} against ${bare.count})`,
      wanted: `≥ ${WANTED}`,
      reached: ratio >= WANTED,
    },
    ...rowsOf(calls),
    { what: "processor of the bare loop", measured: perPacket(bare) },
  ];
};
