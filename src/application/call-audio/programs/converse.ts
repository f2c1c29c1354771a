import { type LiveProgram, ProgramFailed } from "./program.ts";

/** DYNAMIC_AGENT: such calls are stored, but fail before anybody is dialled, because no agent is built in yet. */
export const converse: LiveProgram = {
  kind: "live",
  streamed: false,
  check() {
    throw new ProgramFailed("agent_unavailable", "no AI agent is configured on this server");
  },
  connect: () => [],
};
