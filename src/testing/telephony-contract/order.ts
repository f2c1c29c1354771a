import type { ContractRunner } from "../contract-runner.ts";

/** Only legal orders: asked, ringing, accepted, media, over; `ended` once and last. What is only noted may come between. */
export function expectInOrder(expect: ContractRunner["expect"], all: readonly string[]): void {
  const types = all.filter((type) => type !== "noted");
  const order = ["placed", "alerting", "early_media", "answered", "connected", "ended"];
  const ranks = types.filter((type) => order.includes(type)).map((type) => Math.min(order.indexOf(type), 5));
  const settled = ranks.map((rank) => (rank === 2 ? 1 : rank)); // early media may come before alerting
  expect(settled).toEqual([...settled].sort((a, b) => a - b));
  expect(types[0] === "placed" || types[0] === "ended").toBe(true);
  for (const once of ["placed", "answered", "connected", "ended"])
    expect(types.filter((type) => type === once).length).toBeLessThanOrEqual(1);
  expect(all.at(-1)).toBe("ended");
}
