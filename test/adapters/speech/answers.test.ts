import { expect, test } from "vitest";
import { answerSet } from "../../support/answers/answer-set.ts";
import { recognitionOf, verdictsOn } from "../../support/answers/verdicts.ts";

test("people and machines are told apart", async () => {
  const set = await answerSet("measuring", 40, 3);
  const results = set.map((answer) => ({ answer, verdicts: verdictsOn(answer) }));
  for (const who of ["machine", "human"] as const) {
    const { precision, recall } = recognitionOf(who, results);
    // In a sample this small, one or two may be wrong; the benchmark has figures for many.
    expect(precision, `precision of ${who}`).toBeGreaterThanOrEqual(0.9);
    expect(recall, `recall of ${who}`).toBeGreaterThanOrEqual(0.9);
  }
}, 240_000);
