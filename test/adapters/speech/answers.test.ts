import { expect, test } from "vitest";
import { answerSet } from "../../support/answers/answer-set.ts";
import { recognitionOf, verdictsOn } from "../../support/answers/verdicts.ts";

test("people and machines are distinguished", async () => {
  const answers = await answerSet("measuring", 40, 3);
  const results = answers.map((answer) => ({ answer, verdicts: verdictsOn(answer) }));
  for (const kind of ["machine", "human"] as const) {
    const { precision, recall } = recognitionOf(kind, results);
    // One or two verdicts may be wrong in a sample this small; the benchmark measures a large one.
    expect(precision, `precision of ${kind}`).toBeGreaterThanOrEqual(0.9);
    expect(recall, `recall of ${kind}`).toBeGreaterThanOrEqual(0.9);
  }
}, 240_000);
