import { type ReadonlySignal, signal } from "@preact/signals";
import { DEFAULT_LIMITS, type Limits } from "../../../../../src/domain/limits.ts";
import { CONSOLE } from "../../shell/place.ts";
import { limitsIn } from "./limits-in.ts";

const limits = signal(DEFAULT_LIMITS);
let isRequested = false;

/** This server's limits, from its OpenAPI document; the defaults until the document has arrived. */
export const serverLimits: ReadonlySignal<Limits> = limits;

/** Loads the server's limits, once per tab. */
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
