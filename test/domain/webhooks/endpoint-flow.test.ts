import { describe, expect, test } from "vitest";
import {
  decideEndpoint,
  type EndpointEffect,
  type EndpointInput,
  type EndpointState,
  isDelivering,
} from "../../../src/domain/webhooks/endpoint-flow.ts";

describe("an endpoint", () => {
  test.each<[EndpointState, EndpointInput, EndpointState, EndpointEffect[]]>([
    ["idle", "wake", "working", ["begin_round"]],
    ["idle", "enable", "working", ["begin_round"]],
    ["idle", "disable", "disabled", []],
    ["working", "wake", "woken", []],
    ["working", "enable", "woken", []],
    ["working", "finish", "idle", []],
    ["working", "postpone", "idle", ["wake_later"]],
    ["working", "disable", "pausing", []],
    ["woken", "wake", "woken", []],
    ["woken", "finish", "working", ["begin_round"]],
    ["woken", "postpone", "idle", ["wake_later"]],
    ["woken", "disable", "pausing", []],
    ["disabled", "wake", "disabled", []],
    ["disabled", "enable", "working", ["begin_round"]],
  ])("that is %s, on %s, is %s with the effects %j", (state, input, next, effects) => {
    expect(decideEndpoint(state, input)).toEqual({ state: next, effects });
  });

  test("has one round at a time, even if its webhook is enabled again during a round", () => {
    expect(decideEndpoint("pausing", "enable")).toEqual({ state: "woken", effects: [] });
    expect(decideEndpoint("pausing", "wake")).toEqual({ state: "pausing", effects: [] });
    for (const input of ["finish", "postpone"] as const)
      expect(decideEndpoint("pausing", input)).toEqual({ state: "disabled", effects: [] });
  });

  test("ends once, from every state, and then has no effects", () => {
    for (const state of ["idle", "working", "woken", "pausing", "disabled"] as const)
      expect(decideEndpoint(state, "stop")).toEqual({ state: "stopped", effects: ["end"] });
    for (const input of ["wake", "finish", "postpone", "enable", "disable", "stop"] as const)
      expect(decideEndpoint("stopped", input)).toEqual({ state: "stopped", effects: [] });
  });

  test("delivers unless its webhook is disabled or the server stops", () => {
    const states: readonly EndpointState[] = ["idle", "working", "woken", "pausing", "disabled", "stopped"];
    expect(states.filter(isDelivering)).toEqual(["idle", "working", "woken"]);
  });
});
