import type { ContractRunner } from "../contract-runner.ts";

/** Expects the events in a legal order, with `ended` once and last; `noted` may occur anywhere before it. */
export function expectInOrder(expect: ContractRunner["expect"], allTypes: readonly string[]): void {
  const types = allTypes.filter((type) => type !== "noted");
  const order = ["placed", "alerting", "early_media", "answered", "connected", "ended"];
  const ranks = types.filter((type) => order.includes(type)).map((type) => Math.min(order.indexOf(type), 5));
  const comparableRanks = ranks.map((rank) => (rank === 2 ? 1 : rank)); // early media may precede alerting
  expect(comparableRanks).toEqual([...comparableRanks].sort((a, b) => a - b));
  expect(types[0] === "placed" || types[0] === "ended").toBe(true);
  for (const uniqueType of ["placed", "answered", "connected", "ended"])
    expect(types.filter((type) => type === uniqueType).length).toBeLessThanOrEqual(1);
  expect(allTypes.at(-1)).toBe("ended");
}
