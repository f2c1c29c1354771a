import { type ReadonlySignal, signal } from "@preact/signals";
import { DEFAULT_LIMITS, type Limits } from "../../../../../src/domain/limits.ts";
import { CONSOLE } from "../../shell/place.ts";
import { limitsIn } from "./limits-in.ts";

const limits = signal(DEFAULT_LIMITS);
let isRequested = false;

/** The limits of this server, from its OpenAPI document; the defaults until that has arrived. */
export const serverLimits: ReadonlySignal<Limits> = limits;

/** Loads the limits of the server, once per tab. */
export async function readServerLimits(): Promise<void> {
  if (isRequested) return;
  isRequested = true;
  try {
    const response = await fetch(CONSOLE.replace(/\/console$/, "/openapi.json"));
    limits.value = limitsIn(await response.json());
  } catch {
    isRequested = false; // the defaults stay; the server checks all fields again
  }
}
