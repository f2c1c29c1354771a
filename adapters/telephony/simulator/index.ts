export { ANY_NUMBER, type CalleeScript, type CalleeStep, NUMBER_PLAN } from "./number-plan.ts";
export { type Simulator, type SimulatorOptions, simulator } from "./simulator.ts";
export type { Say } from "./voice.ts";
