import { type ReadonlySignal, signal } from "@preact/signals";
import { DEFAULT_LIMITS, type Limits } from "../../../../../src/domain/limits.ts";
import { CONSOLE } from "../../shell/place.ts";
import { limitsIn } from "./limits-in.ts";

const limits = signal(DEFAULT_LIMITS);
let asked = false;

/** The limits of this server, from the description of its interface; the default ones until that has arrived. */
export const serverLimits: ReadonlySignal<Limits> = limits;

/** Asks the server for its limits, once for each tab. */
export async function readServerLimits(): Promise<void> {
  if (asked) return;
  asked = true;
  try {
    const response = await fetch(CONSOLE.replace(/\/console$/, "/openapi.json"));
    limits.value = limitsIn(await response.json());
  } catch {
    asked = false; // the defaults stay; the server checks everything once more
  }
}
