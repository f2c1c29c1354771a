import type { Reporter, TestCase } from "vitest/node";

/**
 * Lists the tests that passed only at their second attempt, each with the error of the first: the gate gives tests in real
 * time one more attempt, because its machine may stall, and prints this list at its end.
 */
export default class SecondAttempts implements Reporter {
  readonly #secondAttempts: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky !== true) return;
    const [error] = test.result().errors ?? [];
    const name = `${test.module.relativeModuleId} > ${test.fullName}`;
    this.#secondAttempts.push(
      ` SECOND ATTEMPT  |${test.project.name}| ${name}: ${error?.message.split("\n", 1)[0] ?? ""}`,
    );
  }

  onTestRunEnd(): void {
    for (const line of this.#secondAttempts) console.log(line);
  }
}
