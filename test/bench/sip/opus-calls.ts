import type { Measurable } from "../under-runtime.ts";
import { CallsLoad } from "./calls-load.ts";
import { maxHeld } from "./load.ts";
import { callsRow, rowsOf } from "./rows.ts";

const WANTED = 60;

/** Maximum calls with Opus. */
export const measure: Measurable["measure"] = async ({ from = 0, seconds = 0, echo: port = 0 }) => {
  const calls = await maxHeld(() => new CallsLoad({ port, codec: "opus" }), from, seconds);
  return [callsRow(calls, WANTED), ...rowsOf(calls)];
};
