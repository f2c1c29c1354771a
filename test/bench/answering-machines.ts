import { answerSet } from "../support/answers/answer-set.ts";
import { recognitionOf, verdictsOn } from "../support/answers/verdicts.ts";
import { processorMs } from "../support/processor-time.ts";
import { atMost, benchmark, inRounds, progress, quantile, type Row, ratioOf, row } from "./harness/benchmark.ts";

/** Precision, speed and cost of the verdict whether a person or a machine has answered. */
export const ANSWERING_MACHINES = benchmark({
  options: {
    answers: { meaning: "generated answers", value: 600, quick: 100 },
    rounds: { meaning: "rounds of the cost, each both with and without the verdict", value: 9, quick: 3 },
  },
  async run({ answers, rounds }) {
    progress(`speaking ${answers} answers`);
    const generatedAnswers = await answerSet("measuring", answers);
    const results = generatedAnswers.map((answer) => ({ answer, verdicts: verdictsOn(answer) }));
    const rows: Row[] = [];
    for (const party of ["machine", "human"] as const)
      for (const [name, share] of Object.entries(recognitionOf(party, results)))
        rows.push(row(`${party}: ${name}`, share.toFixed(3), "≥ 0.95", share >= 0.95));
    const people = results.flatMap(({ answer: { answerer, kind, greetingEndMs }, verdicts }) => {
      const atMs = verdicts.find(({ answeredBy }) => answeredBy === "human")?.atMs;
      return answerer !== "human" || atMs === undefined || greetingEndMs === undefined
        ? []
        : [{ kind, atMs, greetingEndMs }];
    });
    const delaysMs = people.map(({ atMs, greetingEndMs }) => atMs - greetingEndMs);
    rows.push(verdictRow("a person, from the end of the greeting to the verdict: p95", delaysMs));
    const shortGreetingMs = people.filter(({ kind }) => kind === "person, short greeting").map(({ atMs }) => atMs);
    rows.push(verdictRow("a person with a short greeting, from the answer to the verdict: p95", shortGreetingMs));
    for (const kind of new Set(generatedAnswers.map((answer) => answer.kind))) {
      const finalVerdicts = results
        .filter(({ answer }) => answer.kind === kind)
        .map(({ verdicts }) => verdicts.at(-1)?.answeredBy ?? "unknown");
      const counts = ["human", "machine", "unknown"].map(
        (verdictName) => `${verdictName} ${finalVerdicts.filter((verdict) => verdict === verdictName).length}`,
      );
      rows.push(row(kind, counts.join(", ")));
    }
    const measureSide = (withVerdict: boolean) => () => {
      const startMs = processorMs();
      for (const answer of generatedAnswers) verdictsOn(answer, withVerdict);
      return processorMs() - startMs;
    };
    const costs = await inRounds(
      rounds,
      { with: measureSide(true), without: measureSide(false) },
      { label: "the cost" },
    );
    const ratio = `${ratioOf(costs.with, costs.without).toFixed(2)} ×`;
    rows.push(row("processor time of a call's detectors, against those without the verdict", ratio));
    return rows;
  },
});

function verdictRow(figure: string, times: readonly number[]): Row {
  const p95 = quantile(times, 0.95);
  return atMost(figure, p95, 2_500, "ms", `${p95} ms (p50 ${quantile(times, 0.5)} ms)`);
}
