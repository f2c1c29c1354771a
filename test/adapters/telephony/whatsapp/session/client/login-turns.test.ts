import { expect, test } from "vitest";
import { LoginTurns } from "../../../../../../adapters/telephony/whatsapp/session/client/login-turns.ts";
import { ManualSystem } from "../../../../../../src/testing/manual-system.ts";

test("waiting numbers get no turn after a stop, and the next request is first", async () => {
  const system = new ManualSystem();
  const turns = new LoginTurns(system);
  const grantedPlaces: number[] = [];
  const request = (place: number) => void turns.next(place, () => true).then(() => grantedPlaces.push(place));
  request(1);
  request(2);
  await system.settle();
  turns.stop();
  await system.advance(1_000);
  expect([grantedPlaces, system.waiting]).toEqual([[1], 0]);
  request(3);
  await system.advance(1_000);
  expect(grantedPlaces).toEqual([1, 3]);
});
