import { expect, test } from "vitest";
import { LoginTurns } from "../../../../../adapters/telephony/whatsapp/session/client/login-turns.ts";
import { ManualSystem } from "../../../../../src/testing/manual-system.ts";

test("stopped turns are final: waiting numbers get none, and a later one is first", async () => {
  const system = new ManualSystem();
  const turns = new LoginTurns(system);
  const granted: number[] = [];
  const ask = (place: number) => void turns.next(place, () => true).then(() => granted.push(place));
  ask(1);
  ask(2);
  await system.settle();
  turns.stop();
  await system.advance(1_000);
  expect([granted, system.waiting]).toEqual([[1], 0]);
  ask(3);
  await system.advance(1_000);
  expect(granted).toEqual([1, 3]);
});
