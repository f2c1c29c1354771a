import { describe, expect, test } from "vitest";
import { decideServer, type ServerInput, type ServerState } from "../../src/domain/server-flow.ts";

describe("a server", () => {
  test.each<[ServerState, ServerInput, ServerState]>([
    ["new", "start", "starting"],
    ["starting", "own", "owner"],
    ["starting", "fail", "new"],
    ["standby", "own", "owner"],
    ["standby", "fail", "new"],
    ["lost", "own", "owner"],
    ["new", "stop", "stopping"],
    ["starting", "stop", "stopping"],
    ["standby", "stop", "stopping"],
    ["owner", "stop", "stopping"],
    ["lost", "stop", "stopping"],
    ["stopping", "close", "stopped"],
  ])("that is %s, on %s, is %s, without an effect", (state, input, next) => {
    expect(decideServer(state, input, "restart")).toEqual({ state: next, effects: [] });
  });

  test("that finds another owner refuses the callers that wait", () => {
    expect(decideServer("starting", "wait", "exit")).toEqual({ state: "standby", effects: ["refuse_callers"] });
  });

  test("that loses its lease restarts or exits, according to its option", () => {
    for (const option of ["restart", "exit"] as const)
      expect(decideServer("owner", "lose", option)).toEqual({ state: "lost", effects: ["refuse_callers", option] });
  });

  test("that stops neither restarts nor waits for another owner", () => {
    for (const state of ["stopping", "stopped"] as const)
      for (const input of ["start", "wait", "own", "fail", "lose", "stop"] as const)
        expect(decideServer(state, input, "restart")).toEqual({ state, effects: [] });
  });
});
