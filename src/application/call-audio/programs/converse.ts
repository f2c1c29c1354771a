import { type Program, ProgramFailed } from "./program.ts";

/** DYNAMIC_AGENT: accepted and stored; no agent is built in yet, and nobody's phone rings for nothing. */
export const converse: Program = {
  check() {
    throw new ProgramFailed("agent_unavailable", "no AI agent is configured on this server");
  },
};
