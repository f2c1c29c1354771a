import { describe, expect, test } from "vitest";
import {
  AGENT_TURN_STATES,
  AGENT_TURN_TRANSITIONS,
  type AgentTurnEffect,
  type AgentTurnInput,
  type AgentTurnState,
  decideAgentTurn,
  isMachineTurn,
  isOpenTurn,
} from "../../../src/domain/agents/agent-turn.ts";

type Row = [given: AgentTurnState, when: AgentTurnInput, then: AgentTurnState, effects: AgentTurnEffect[]];

const ROWS: Row[] = [
  ["open", "hold", "held", ["hold"]],
  ["held", "release", "open", ["release"]],
  ["open", "interrupt", "open", ["hold", "cut"]],
  ["held", "interrupt", "open", ["cut"]],
  ["open", "replace", "open", ["hold", "cut"]],
  ["held", "replace", "open", ["cut"]],
  ["open", "transfer", "transferring", []],
  ["held", "transfer", "transferring", ["release"]],
  ["transferring", "transfer_failed", "open", []],
  ["open", "end", "ending", []],
  ["held", "end", "ending", ["release"]],
  ["transferring", "end", "ending", []],
  ["open", "greet", "machine_greets", ["hold", "cut"]],
  ["held", "greet", "machine_greets", ["cut"]],
  ["ending", "greet", "machine_greets", ["hold", "cut"]],
  ["machine_greets", "record", "machine_records", []],
  ["machine_records", "end", "message_left", []],
  ["open", "stop", "over", ["hold", "finish"]],
  ["held", "stop", "over", ["finish"]],
];

describe("an agent's turn", () => {
  test.each(ROWS)("given %s, when %s, then %s with effects %j", (given, when, then, effects) => {
    expect(decideAgentTurn(given, when)).toEqual({ state: then, effects });
  });

  test("ignores every input that its table lacks", () => {
    for (const state of AGENT_TURN_STATES)
      for (const input of ["hold", "release", "interrupt", "replace", "transfer", "record", "stop"] as const)
        expect(decideAgentTurn(state, input)?.state).toBe(AGENT_TURN_TRANSITIONS[state][input]);
  });

  test("is never interrupted or held after the last words, during a transfer, or by a machine", () => {
    for (const state of AGENT_TURN_STATES.filter((candidate) => !isOpenTurn(candidate)))
      for (const input of ["hold", "release", "interrupt"] as const)
        expect(decideAgentTurn(state, input), `${state} ${input}`).toBeUndefined();
  });

  test("plays held words before every other transition that keeps them", () => {
    for (const input of ["release", "transfer", "end"] as const)
      expect(decideAgentTurn("held", input)?.effects).toEqual(["release"]);
  });

  test("ends once, from every other state", () => {
    for (const state of AGENT_TURN_STATES)
      expect(decideAgentTurn(state, "stop")?.state).toBe(state === "over" ? undefined : "over");
  });

  test("leaves its message only to a machine that records", () => {
    for (const state of AGENT_TURN_STATES)
      expect(decideAgentTurn(state, "record")?.state).toBe(state === "machine_greets" ? "machine_records" : undefined);
    expect(AGENT_TURN_STATES.filter(isMachineTurn)).toEqual(["machine_greets", "machine_records", "message_left"]);
  });
});
