import { describe, expect, test } from "vitest";
import { isFinal, nextState, stateDiagram, type Transitions } from "../../src/base/state-machine.ts";
import { AGENT_TURN_STATES, AGENT_TURN_TRANSITIONS } from "../../src/domain/agents/agent-turn.ts";
import { CALL_STATUSES, CALL_TRANSITIONS, isActive } from "../../src/domain/calls/call.ts";
import { CALL_PHASES, PHASE_TRANSITIONS } from "../../src/domain/calls/call-flow.ts";
import { INSTANCE_STATUSES, INSTANCE_TRANSITIONS } from "../../src/domain/instances/instance.ts";
import { LINE_STATES, LINE_TRANSITIONS } from "../../src/domain/instances/line-flow.ts";
import { QUEUE_TRANSITIONS } from "../../src/domain/instances/queue-flow.ts";
import { SERVER_TRANSITIONS } from "../../src/domain/server-flow.ts";
import { ENDPOINT_TRANSITIONS } from "../../src/domain/webhooks/endpoint-flow.ts";

const MACHINES: [string, Transitions<string, string>, readonly string[], string][] = [
  ["calls", CALL_TRANSITIONS, CALL_STATUSES, "QUEUED"],
  ["instances", INSTANCE_TRANSITIONS, INSTANCE_STATUSES, "CREATED"],
  ["live calls", PHASE_TRANSITIONS, CALL_PHASES, "dialing"],
  ["lines", LINE_TRANSITIONS, LINE_STATES, "unlinked"],
  ["queues", QUEUE_TRANSITIONS, Object.keys(QUEUE_TRANSITIONS), "idle"],
  ["agents' turns", AGENT_TURN_TRANSITIONS, AGENT_TURN_STATES, "open"],
  ["endpoints", ENDPOINT_TRANSITIONS, Object.keys(ENDPOINT_TRANSITIONS), "idle"],
  ["servers", SERVER_TRANSITIONS, Object.keys(SERVER_TRANSITIONS), "new"],
];

describe.each(MACHINES)("the states of %s", (_, table, states, initialState) => {
  test("are the keys of the table, and every move ends in one of them", () => {
    expect(Object.keys(table)).toEqual(states);
    for (const moves of Object.values(table)) for (const to of Object.values(moves)) expect(states).toContain(to);
  });

  test("are all reachable from the first one", () => {
    const reachedStates = new Set([initialState]);
    for (const state of reachedStates)
      for (const to of Object.values(table[state] ?? {})) if (to) reachedStates.add(to);
    expect([...reachedStates].sort()).toEqual([...states].sort());
  });

  test("are drawn with every move", () => {
    const diagram = stateDiagram(table, initialState);
    expect(diagram).toMatch(/^stateDiagram-v2\n {2}\[\*\] --> /);
    for (const [from, moves] of Object.entries(table)) {
      for (const [input, to] of Object.entries(moves))
        expect(diagram).toMatch(new RegExp(`^  ${from} --> ${to}: .*\\b${input}\\b`, "m"));
      expect(diagram.includes(`  ${from} --> [*]`)).toBe(isFinal(table, from));
    }
  });
});

test("a final call has no moves, and every other call can fail", () => {
  for (const status of CALL_STATUSES) {
    expect(isFinal(CALL_TRANSITIONS, status)).toBe(!isActive(status));
    expect(nextState(CALL_TRANSITIONS, status, "fail")).toBe(isActive(status) ? "FAILED" : undefined);
  }
  expect(CALL_STATUSES.filter(isActive)).toEqual(["QUEUED", "RINGING", "IN_PROGRESS"]);
});

test("a call completes only from IN_PROGRESS", () => {
  for (const status of CALL_STATUSES)
    expect(nextState(CALL_TRANSITIONS, status, "complete")).toBe(status === "IN_PROGRESS" ? "COMPLETED" : undefined);
});

test("a deleted instance stays deleted, and every other one can be deleted", () => {
  for (const status of INSTANCE_STATUSES)
    expect(nextState(INSTANCE_TRANSITIONS, status, "delete")).toBe(status === "DELETED" ? undefined : "DELETED");
});
