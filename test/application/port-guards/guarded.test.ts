import { expect, test } from "vitest";
import { guarded, type Member, type Rule, type Rules } from "../../../src/application/port-guards/guarded.ts";

interface Port {
  readonly rate: number;
  readonly codec: string;
}

test("a guard prepares each member once, when it is first used", () => {
  const preparedNames: string[] = [];
  const prepared = <Type>(): Rule<Type> => {
    return ({ port, key, name }: Member) => {
      preparedNames.push(name);
      return () => (port as Record<string, Type>)[key];
    };
  };
  const rules: Rules<Port> = { rate: prepared(), codec: prepared() };
  const parts = { system: { after: () => () => {} }, log: { warn: () => {} } };
  const port = { rate: 8_000, codec: "opus" };
  const [first, second] = ["first", "second"].map((name) => guarded<Port>(port, rules, name, parts));
  expect(preparedNames).toEqual([]);
  expect([first?.rate, first?.rate, second?.rate, second?.codec]).toEqual([8_000, 8_000, 8_000, "opus"]);
  port.rate = 16_000;
  expect(first?.rate).toBe(16_000);
  expect(preparedNames).toEqual(["first.rate", "second.rate", "second.codec"]);
});
